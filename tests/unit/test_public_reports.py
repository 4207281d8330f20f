"""Inputs made after public reports (`tests/fixtures/reports`): what is read in each of them, and what is refused.

Beside the inputs, `imports.yaml` has the right answers for records of one run, and `prompts.yaml` those for files of
prompts; for texts that are pasted see `test_serving_counters`.
"""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from specviz.core.errors import InputError
from specviz.measure.sweep.prompt_files import read_prompts
from specviz.measure.sweep.rows import TYPES, SweepFile, parse_rows, read_frame
from specviz.systems import import_run
from tests.support.records import FIXTURES, report
from tests.support.strategies import assert_one_sentence

PROMPTS, IMPORTED = (
    yaml.safe_load((FIXTURES / f"reports/{name}.yaml").read_text("utf-8")) for name in ("prompts", "imports")
)


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


@pytest.mark.parametrize("kind", PROMPTS)
def test_the_prompts_in_a_file(kind: str) -> None:
    expected = PROMPTS[kind]
    content = expected["text"].encode() if "text" in expected else report(f"40/{expected['file']}").read_bytes()
    if "says" in expected:
        with pytest.raises(InputError) as refused:
            read_prompts(content)
        assert expected["says"] in str(refused.value)
        assert_one_sentence(str(refused.value))
        return
    found = read_prompts(content)
    assert [prompt.text for prompt in found.prompts] == expected["prompts"]
    assert list(found.problems) == expected.get("problems", [])
    assert list(found.notes) == expected.get("notes", [])
    assert [prompt.workload for prompt in found.prompts] == expected.get("kinds", ["own"] * len(found.prompts))


@pytest.mark.parametrize("form", ["lines", "an array"])
@pytest.mark.parametrize(("length", "count", "says"), [(20, 200, "at most 200"), (15_000, 66, "Only the first 1 MB")])
def test_of_a_large_file_the_first_prompts_are_read(form: str, length: int, count: int, says: str) -> None:
    lines = [json.dumps({"prompt": "x" * length, "id": number}) for number in range(220)]
    joined = ",\n".join(lines)
    found = read_prompts(("\n".join(lines) if form == "lines" else f"[\n{joined}\n]").encode())
    assert len(found.prompts) == count
    assert says in found.problems[-1]


def test_each_prompts_file_of_the_reports_has_its_answer() -> None:
    answered = {expected["file"] for expected in PROMPTS.values() if "file" in expected}
    assert answered == {file.name for file in report("40/x").parent.iterdir()}


BASE = report("63/o.csv").read_text("utf-8")


def saved_again(change: Callable[[list[list[str]]], object], separator: str = ",", start: str = "") -> bytes:
    """The sweep of the reports after another program changed its cells in place and saved it."""
    cells = list(csv.reader(io.StringIO(BASE, newline="")))
    change(cells)
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows(cells)
    return (start + text.getvalue()).encode()


def column(name: str, change: Callable[[str], str]) -> Callable[[list[list[str]]], None]:
    def apply(cells: list[list[str]]) -> None:
        at = cells[0].index(name)
        for row in cells[1:]:
            row[at] = change(row[at])

    return apply


def with_commas(cells: list[list[str]]) -> None:
    for row in cells[1:]:
        for at, name in enumerate(cells[0]):
            row[at] = row[at].replace(".", ",") if TYPES[name] == "float64" else row[at]


SAME = {
    "semicolons and decimal commas": saved_again(with_commas, ";", "\ufeff"),
    "a spreadsheet's TRUE": saved_again(column("identical", str.upper)),
    "whole numbers with a point": saved_again(column("drafted", lambda cell: f"{cell}.0")),
    "quotation marks in the header": BASE.replace("target_dtype", '"target_dtype"', 1).encode(),
    "another order of columns": saved_again(lambda cells: [row.reverse() for row in cells]),
}


@pytest.mark.parametrize("how", SAME)
def test_a_sweep_that_another_program_saved_again_is_read_and_goes_on(how: str, tmp_path: Path) -> None:
    """What else such a program writes: `test_tables_read.py`."""
    rows = parse_rows(BASE, "o.csv")
    assert len(rows) == 10
    path = tmp_path / "o.csv"
    path.write_bytes(SAME[how])
    SweepFile(path).add(rows[0])
    assert SweepFile(path).rows == [*rows, rows[0]]
    assert len(read_frame(SAME[how], "o.csv")) == 10


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (report("63/o2.csv").read_bytes(), r"row 1, column preset: String should have at least 1 character"),
        (report("63/o3.csv").read_bytes(), r"row 1, column preset: String should have at least 1 character"),
        (saved_again(column("speedup", lambda cell: cell.replace(".", ","))), "row 1, column speedup"),
    ],
)
def test_a_sweep_that_lost_or_won_something_gets_a_sentence_that_names_it(content: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        read_frame(content, "o.csv")
    assert_one_sentence(str(refused.value))
