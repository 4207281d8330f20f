"""Inputs made after public reports (`tests/fixtures/reports`): what is read in each of them, and what is refused.

Beside the inputs, `expected.yaml` has the right answers for texts that are pasted on the Worksheet, and `imports.yaml`
those for records of one run.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.data.importers import import_run
from specviz.data.serving_counters import read_counters
from tests.unit.test_serving_counters import assert_gives

FOLDER = Path(__file__).parents[1] / "fixtures/reports"
EXPECTED: dict[str, Any] = yaml.safe_load((FOLDER / "expected.yaml").read_text("utf-8"))
IMPORTED: dict[str, Any] = yaml.safe_load((FOLDER / "imports.yaml").read_text("utf-8"))


def report(name: str) -> Path:
    """The file “NN/file” in the folder whose name begins with NN."""
    number, _, file = name.partition("/")
    [folder] = FOLDER.glob(f"{number}-*")
    return folder / file


@pytest.mark.parametrize("name", EXPECTED)
def test_the_counters_in_a_pasted_report(name: str) -> None:
    assert_gives(read_counters(report(name).read_text("utf-8")), EXPECTED[name])


@pytest.mark.parametrize("name", IMPORTED)
def test_the_run_in_a_record(name: str) -> None:
    expected, content = IMPORTED[name], report(name).read_bytes()
    if "says" in expected:
        with pytest.raises(InputError) as refused:
            import_run(content, expected["system"])
        assert str(refused.value).startswith(expected["says"])
        return
    trace = import_run(content, expected["system"])
    assert [f"{round.accepted}/{len(round.drafted)}" for round in trace.rounds] == expected["rounds"]
    assert sum(round.emits for round in trace.rounds) == expected["tokens"]
    assert trace.imported
    assert any(expected.get("note", "") in note for note in trace.imported.notes)
    if "pieces" in expected:
        shown = [[token.shown for token in round.accepted_tokens] + [round.emitted.text] for round in trace.rounds]
        assert [piece for pieces in shown for piece in pieces if piece] == expected["pieces"]
