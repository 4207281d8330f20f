"""A sweep's CSV: written and read back as it was; rubbish, older versions and impossible rows get one sentence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.measure.sweep.rows import COLUMNS, SweepFile, SweepRow, dump_rows, read_rows
from tests.support.fake_rows import a_row

ROWS = [
    a_row(),
    a_row(
        draft="prompt lookup, n-grams up to 3", draft_dtype=None, identical=None, temperature=0.7, top_k=5, top_p=0.9
    ),
    a_row(preset='a "quoted"\nname, with <b>', constrained=True, draft_schedule="heuristic", identical=False),
    a_row(drafted=0, accepted=0, rejected=0, discarded=0, acceptance_rate=None, per_judgement_rate=None),
]


def test_rows_come_back_as_they_were() -> None:
    content = dump_rows(ROWS).encode()
    assert read_rows(content, "x.csv") == ROWS
    assert read_rows(b"\xef\xbb\xbf" + content, "x.csv") == ROWS  # as a spreadsheet saves it
    assert read_rows(content.replace(b"\r\n", b"\n"), "x.csv") == ROWS


def test_the_recorded_sweep_is_of_this_version_and_of_all_workloads() -> None:
    path = Path(__file__).parents[2] / "assets" / "traces" / "sweep.csv"
    rows = read_rows(path.read_bytes(), path.name)
    assert len({row.workload for row in rows}) == 8
    assert {row.constrained for row in rows} == {True, False}
    assert {row.draft_schedule for row in rows} == {"fixed", "heuristic", "confidence"}


def test_an_older_version_is_named_as_such() -> None:
    old = [column for column in COLUMNS if column not in ("draft_schedule", "constrained")]
    with pytest.raises(InputError, match="another version: it has no column constrained; measure into a new file"):
        read_rows(",".join(old).encode() + b"\r\n", "old.csv")


def changed(**values: object) -> Callable[[], bytes]:
    def content() -> bytes:
        row = dict(zip(COLUMNS, dump_rows([a_row()]).splitlines()[1].split(","), strict=True))
        return f"{','.join(COLUMNS)}\n{','.join(str(values.get(name, row[name])) for name in COLUMNS)}\n".encode()

    return content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (changed(speedup="nan"), "row 1, column speedup"),
        (changed(speedup="-1"), "row 1, column speedup"),
        (changed(speedup="1e999"), "row 1, column speedup"),
        (changed(draft_length="17"), "row 1, column draft_length"),
        (changed(draft_schedule="wild"), "row 1, column draft_schedule"),
        (changed(acceptance_rate="1.5"), "row 1, column acceptance_rate"),
        (changed(rounds="many"), "row 1, column rounds"),
        (changed(accepted="11"), "do not add up"),
        (changed(acceptance_rate=""), "acceptance rate says otherwise"),
        (changed(preset="x" * 201), "row 1, column preset"),
        (changed(preset="a,b"), "another number of values"),
        (lambda: b"", "its columns are others"),
        (lambda: dump_rows([]).encode(), "holds no row"),
        (lambda: b"\xff\xfe", "not UTF-8"),
        (lambda: b"\x00" * 50, "its columns are others"),
        (lambda: b"a,b\n1,2\n", "its columns are others"),
        (lambda: b"x" * 10_000_001, "larger than 10 MB"),
        (lambda: dump_rows([]).encode() + b"\n" * 5 + b'"', "x.csv"),
    ],
)
def test_what_cannot_be_is_one_sentence(content: Callable[[], bytes], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        read_rows(content(), "x.csv")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"no newline", b"\xff\xfe", b"\n", b"a\x00b"])
def test_a_file_that_is_no_sweep_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sweep.csv"
    path.write_bytes(content)
    if not content:
        assert SweepFile(path).done == frozenset()
        return
    with pytest.raises(InputError, match=r"sweep\.csv"):
        SweepFile(path)
    assert path.read_bytes() == content


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be used for the sweep"):
        SweepFile(tmp_path)
    with pytest.raises(InputError, match="cannot be used for the sweep"):
        SweepFile(tmp_path / "no such folder" / "sweep.csv")


def test_a_file_grows_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    for number in (1, 2):
        file = SweepFile(path)
        file.add(replace(a_row(), seed=number))
        assert len(file.rows) == len(file.done) == number
    memory = SweepFile(None)
    memory.add(a_row())
    assert [type(row) for row in memory.rows] == [SweepRow]
