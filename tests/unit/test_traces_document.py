"""docs/traces.md: its smallest file is valid and smallest, and its commands exist."""

import json
import re
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.core.trace import SMALL_FILE, parse_trace
from specviz.data.importers import SYSTEMS

TEXT = (Path(__file__).parents[2] / "docs/traces.md").read_text(encoding="utf-8")
[SMALLEST] = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)


def test_the_smallest_file_is_valid() -> None:
    trace = parse_trace(SMALLEST)
    assert (len(trace.rounds), trace.output.text) == (1, " upon a")


@pytest.mark.parametrize("field", [name for name in json.loads(SMALLEST) if name != "schema"])
def test_no_field_of_the_smallest_file_can_be_left_out(field: str) -> None:
    less = {name: value for name, value in json.loads(SMALLEST).items() if name != field}
    with pytest.raises(InputError, match=f"not valid at {field}: Field required"):
        parse_trace(json.dumps(less))


def test_each_system_has_its_command() -> None:
    assert {name for name in SYSTEMS if f"--from {name} " in TEXT} == set(SYSTEMS)


def test_the_size_up_to_which_all_problems_are_named_is_the_real_one() -> None:
    assert f"a file up to {SMALL_FILE // 1000} KB" in TEXT
