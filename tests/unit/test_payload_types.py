"""The types that Python and JavaScript share."""

from typing import Any

import pytest

from scripts.write_payload_types import FILE, _typescript, payload_types


def test_the_javascript_types_are_those_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == payload_types(), "run python scripts/write_payload_types.py"


@pytest.mark.parametrize("kind", [Any, dict[str, Any], list[object], bytes, dict[int, str], tuple[int, ...]])
def test_a_type_that_is_not_precise_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="no type in a payload"):
        _typescript(kind)
