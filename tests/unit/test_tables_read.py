"""What is read of a sweep's CSV and what is written of any: every refusal, every kind of cell, and the way back."""

import math
import resource
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.csv_cells import csv_of, csv_text, marked, safe_cell
from specviz.core.files import ASSETS
from specviz.measure.sweep import rows as table
from specviz.measure.sweep.rows import SweepFile, dump_frame, frame_of, parse_rows, read_frame
from tests.support.fake_rows import a_row
from tests.support.fake_traces import fake_trace
from tests.support.records import report
from tests.support.strategies import refusal

ROW = a_row(top_k=5, top_p=0.9, repetition=0.25, node="a node", preset='=1, "two"\nlines')


def one(separator: str = ",", **cells: object) -> str:
    """A file of one row: a plain one, with these cells in the place of its own."""
    values = {name: "" if value is None else str(value) for name, value in asdict(a_row()).items()}
    values |= {name: str(cell) for name, cell in cells.items()}
    return f"{separator.join(values)}\n{separator.join(values.values())}\n"


REFUSED: dict[str, str | bytes] = {  # also: tests/hostile
    "a speedup whose logarithm is too low": one(speedup="1e-200"),
    "seconds too few": one(speculative_seconds="1e-200"),
    "a number of too many digits": one(seed="10" * 3000),
    "no schedule": one(draft_schedule="wild"),
    "a name that is too long": one(preset="x" * 201),
    "a needed value that is missing": one(rounds=""),
    "a draft length that is too long": one(draft_length=17),
    "a whole number too large": one(top_k=10**9 + 1),
    "an acceptance rate that is missing": one(acceptance_rate=""),
    "an acceptance rate of nothing": one(drafted=0, accepted=0, rejected=0, discarded=0),
    "more cells": one() + "x," * len(table.COLUMNS) + "x\n",
    "another table": "a,b\n1,2\n",
    "an unknown column": one(**{"own " * 20: 1}),
    "a column twice": "speedup," + one().replace("\n", "\n1.6,", 1),
    "a row too long": one(preset="x" * table.MAX_ROW),
    "a name that was lost": report("63/o2.csv").read_bytes(),
    "a name that was won": report("63/o3.csv").read_bytes(),
    "a decimal comma": one(speedup='"1,6"'),
    "counts that do not add up": one(accepted=0),
    "an open quote": one(preset='"story'),
    "no text": b"\xff",
    "more rows than an upload may have": dump_frame(frame_of([a_row()] * (table.UPLOAD.rows + 1))),
    "too large": b"x" * (table.UPLOAD_MEGABYTES * 10**6 + 1),
}


def test_what_is_refused_and_why(snapshot: SnapshotAssertion) -> None:
    sent = {name: content if isinstance(content, bytes) else content.encode() for name, content in REFUSED.items()}
    assert {name: refusal(partial(read_frame, raw, "sweep.csv")) for name, raw in sent.items()} == snapshot


@pytest.mark.parametrize("limits", [table.TableLimits(1, 9, 9), table.TableLimits(9, 1, 9), table.TableLimits(9, 9, 1)])
def test_a_table_has_as_much_as_it_may_and_not_more(limits: table.TableLimits, snapshot: SnapshotAssertion) -> None:
    rows = [a_row(workload="story", machine="one"), a_row(workload="code", machine="another")]
    assert parse_rows(dump_frame(frame_of(rows[:1])), "sweep.csv", limits) == rows[:1]
    assert refusal(lambda: parse_rows(dump_frame(frame_of(rows)), "sweep.csv", limits)) == snapshot


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("missing", ["", "NA", "NaN", "nan", "None"])
def test_a_spreadsheets_file_is_read_as_the_own_one(separator: str, missing: str, tmp_path: Path) -> None:
    row = a_row(top_k=None, identical=None)
    content = one(separator, top_k=missing, identical=missing, speedup="1.6" if separator == "," else "1,6")
    numbered = content.replace("\n", f"\n0{separator}", 1)
    headers = [f"{header}{separator}{numbered}" for header in ("", "Unnamed: 0", "index")]
    for saved in (content, *headers, content.replace("\n", "\r\n") + "\r\n\r\n"):
        assert parse_rows(saved, "sweep.csv") == [row]
    path = tmp_path / "sweep.csv"
    path.write_text(content, newline="")
    SweepFile(path).add(ROW)
    assert SweepFile(path).rows == [row, ROW]


def test_cells_and_columns_as_other_programs_write_them_are_read() -> None:
    content = one(identical="TRUE", drafted="76.0").replace("target_dtype", '"target_dtype"', 1)
    turned = "\n".join(",".join(reversed(line.split(","))) for line in content.splitlines())
    for saved in (content, turned, f"\ufeff{content}", content.ljust(table.UPLOAD_MEGABYTES * 10**6, "\n")):
        assert read_frame(saved.encode()[: table.UPLOAD_MEGABYTES * 10**6], "sweep.csv").equals(frame_of([a_row()]))


def test_what_is_read_is_what_was_written() -> None:
    rows = [ROW, a_row(seed=2**64, top_k=table.LARGEST), a_row(preset="NA", workload="None", machine="'=x")]
    rows += [a_row(preset=text) for text in ("a\r\nb", "a\nb", "a\rb")]
    written = dump_frame(frame_of(rows))
    assert parse_rows(written, "sweep.csv") == rows
    assert "'=1, " in written
    assert dump_frame(frame_of(rows), header=False) == written.split("\r\n", 1)[1]
    both = table.joined(frame_of(rows[:1]), frame_of(rows[1:]))
    assert [*both.index] == [*range(6)]
    assert [each.seed for each in table.iterate_rows(both)] == [0, 2**64, 0, 0, 0, 0]
    recorded = (ASSETS / "traces/sweep.csv").read_bytes().decode()
    frame = frame_of(parse_rows(recorded, "sweep.csv"))  # it may have more rows than an upload
    assert [frame[name].nunique() for name in ("workload", "constrained", "draft_schedule")] == [8, 2, 3]
    columns = recorded.splitlines()[0].split(",")  # it may be older than the newest setting
    assert dump_frame(frame[columns]) == recorded


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    path = tmp_path / "no folder" / "sweep.csv"
    assert refusal(lambda: SweepFile(path)).startswith(f"{path} cannot be used for the sweep: [Errno 2]")
    assert "cannot be read: Is a directory" in refusal(lambda: SweepFile(tmp_path))
    other = tmp_path / "other.csv"
    wrong = f"{one(speedup=-1)}half a ro".encode()
    for content in (b"a,b\n1,2\n", b"no newline", b"\xff\xfe", b"\n", b"a\x00b", b"a\rb\n", wrong):  # it stays as it is
        other.write_bytes(content)
        assert "other.csv" in refusal(lambda: SweepFile(other))
        assert other.read_bytes() == content
    other.write_bytes(b"")
    assert SweepFile(other).rows == []
    memory = SweepFile(None)
    memory.add(ROW)
    assert memory.rows == [ROW]


def test_a_file_goes_on_where_a_killed_sweep_stopped(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_bytes(f"{one()}half a ro".encode())
    file = SweepFile(path)
    assert file.done == [a_row().key] != [a_row(seed=1).key]
    file.add(ROW)
    assert SweepFile(path).rows == [a_row(), ROW]
    assert path.read_bytes() == dump_frame(frame_of([a_row(), ROW])).encode()
    old = [name for name in table.COLUMNS if name != "node"]
    path.write_text(dump_frame(frame_of([ROW])[old]), newline="")
    assert SweepFile(path).rows == [replace(ROW, node=None)]
    assert path.read_text().split("\n")[0].rstrip("\r").split(",") == [*table.COLUMNS]


def test_a_full_disk_takes_no_row_from_a_file(tmp_path: Path) -> None:
    path, limits = tmp_path / "sweep.csv", resource.getrlimit(resource.RLIMIT_FSIZE)
    whole = dump_frame(frame_of([a_row()])).encode()
    for content in (whole, whole + b"half a ro", one().encode()):
        path.write_bytes(content)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
        try:
            said = "" if content == whole and SweepFile(path).rows == [a_row()] else refusal(lambda: SweepFile(path))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert ("cannot be used for the sweep: [Errno 27]" in said) == (content != whole)
        assert path.read_bytes() == content


def test_two_texts_of_one_name_are_shown_apart() -> None:
    """As the first lines of two files are."""
    named = table.names_apart([("own", "aaaa"), ("own", "bbbb"), ("mine", "aaaa"), ("own", "aaaa")])
    assert named == ["own (aaaa)", "own (bbbb)", "mine", "own (aaaa)"]


def test_a_row_has_the_sums_of_its_rounds() -> None:
    trace = fake_trace()
    found = table.counted(trace)
    for name in ("accepted", "rejected", "discarded", "draft_seconds", "verify_seconds", "overhead_seconds"):
        assert found[name] == pytest.approx(sum(getattr(round, name) for round in trace.rounds))
    assert found["drafted"] == sum(len(round.drafted) for round in trace.rounds)
    assert found["rounds"] == len(trace.rounds)


FORMULAS = ["=1", "+1", "-1", "@x", "\t=1", "\r1", "  =1", "＝1", "＋1", "－1", "＠x", "'=1", "''=1", "'\tx"]
PLAIN = ["", "a=1", "1", "'a", "a", " x", "x\t=", "_-1"]


def test_a_formula_gets_one_mark() -> None:
    """And loses it again: `test_parsing_properties.py`."""
    assert [*map(marked, FORMULAS + PLAIN)] == [*(f"'{text}" for text in FORMULAS), *PLAIN]


def test_a_cell_is_one_line_and_a_table_is_a_csv() -> None:
    assert safe_cell("=a\nb\x00c\u202ed é") == "'=a b c d é"
    assert csv_text([["a,b", 1, None], ['"c"', 2.5, "d\n"]]) == '"a,b",1,\n"""c""",2.5,"d\n"\n'
    assert csv_text([["a", "b"]], end="\r\n") == "a,b\r\n"
    frame = pd.DataFrame({"=n": ["=a", None, "b\n"], "value": [1.5, math.nan, -2.0], "mixed": ["+x", 3, None]})
    assert csv_of(frame) == "=n,value,mixed\r\n'=a,1.5,'+x\r\n,,3\r\nb ,-2.0,\r\n"
    assert csv_of(frame, str.upper, header=False) == '=A,1.5,+X\r\n,,3\r\n"B\n",-2.0,\r\n'
