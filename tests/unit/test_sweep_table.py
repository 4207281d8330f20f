"""A sweep's CSV: what is written is read again as it was; bad files, older versions and bad rows get one sentence."""

import csv
import io
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from specviz.core.errors import InputError
from specviz.measure.sweep.rows import COLUMNS, SweepRow
from specviz.measure.sweep.table import TYPES, SweepFile, dump_frame, frame_of, parse_rows, read_frame
from tests.support.fake_rows import a_row

ROWS = [
    a_row(),
    a_row(
        draft="prompt lookup, n-grams up to 3", draft_dtype=None, identical=None, temperature=0.7, top_k=5, top_p=0.9
    ),
    a_row(preset='a "quoted"\nname, with <b>', constrained=True, draft_schedule="heuristic", identical=False),
    a_row(drafted=0, accepted=0, rejected=0, discarded=0, acceptance_rate=None, per_judgement_rate=None),
]


RECORDED = Path(__file__).parents[2] / "assets" / "traces" / "sweep.csv"


def dump_rows(rows: list[SweepRow]) -> str:
    return dump_frame(frame_of(rows))


def test_rows_are_read_as_they_were_written() -> None:
    content = dump_rows(ROWS)
    assert parse_rows(content, "x.csv") == ROWS
    frame = frame_of(ROWS)
    for saved in (content, "\ufeff" + content, content.replace("\r\n", "\n")):  # the second as a spreadsheet saves it
        assert read_frame(saved.encode(), "x.csv").equals(frame)


def test_the_recorded_sweep_is_of_this_version_and_of_all_workloads() -> None:
    rows = read_frame(RECORDED.read_bytes(), RECORDED.name)
    assert rows["workload"].nunique() == 8
    assert set(rows["constrained"]) == {True, False}
    assert set(rows["draft_schedule"]) == {"fixed", "heuristic", "confidence"}


def test_the_recorded_sweep_is_written_byte_for_byte_as_it_was_read() -> None:
    content = RECORDED.read_bytes()
    assert dump_frame(read_frame(content, RECORDED.name)).encode() == content


def test_numbers_are_written_as_python_writes_them() -> None:
    row = a_row(temperature=0.7, top_k=5, top_p=0.1 + 0.2, seed=2**64 - 1, draft_seconds=1e-05, identical=None)
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerow(asdict(row))
    assert dump_rows([row]) == written.getvalue()


def test_every_column_has_its_type_even_without_rows() -> None:
    kinds = {name: str(kind) for name, kind in frame_of([]).dtypes.items()}
    assert kinds == {name: str(kind) for name, kind in frame_of(ROWS).dtypes.items()} == TYPES
    assert tuple(kinds) == COLUMNS


def test_an_older_version_is_named_as_such() -> None:
    old = [column for column in COLUMNS if column not in ("draft_schedule", "constrained")]
    with pytest.raises(InputError, match="another version: it has no column constrained; measure into a new file"):
        read_frame(",".join(old).encode() + b"\r\n", "old.csv")


def test_a_file_from_before_repetition_was_measured_is_read_and_goes_on_with_it(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text(without_last_columns(dump_rows([a_row()]), 5), encoding="utf-8", newline="")
    assert read_frame(path.read_bytes(), "x.csv")["repetition"].isna().all()
    SweepFile(path).add(replace(a_row(), seed=5, repetition=0.25))
    assert [row.repetition for row in parse_rows(path.read_text(encoding="utf-8"), "x.csv")] == [None, 0.25]


def test_a_file_from_before_there_were_trees_is_read_and_goes_on_with_them(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text(without_last_columns(dump_rows([a_row()]), 4), encoding="utf-8", newline="")
    (row,) = parse_rows(path.read_text(encoding="utf-8"), "x.csv")
    assert (row.draft_sampling, row.verification, row.tree) == ("sample", "token", None)
    assert row.key == a_row().key
    SweepFile(path).add(replace(a_row(), draft_length=3, tree="4,2,1"))
    assert [row.tree for row in parse_rows(path.read_text(encoding="utf-8"), "x.csv")] == [None, "4,2,1"]


def test_a_file_from_before_there_were_clusters_is_read_and_goes_on_with_them(tmp_path: Path) -> None:
    path = tmp_path / "sweep.csv"
    path.write_text(without_last_columns(dump_rows([a_row()]), 1), encoding="utf-8", newline="")
    assert read_frame(path.read_bytes(), "x.csv")["node"].isna().all()
    SweepFile(path).add(replace(a_row(), draft_length=3, node="=first"))
    assert [row.node for row in parse_rows(path.read_text(encoding="utf-8"), "x.csv")] == [None, "=first"]


def without_last_columns(content: str, count: int) -> str:
    return "".join(line.rsplit(",", count)[0] + "\r\n" for line in content.splitlines())


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
        (changed(preset="a,b"), "more values than the header"),
        (lambda: changed()().rpartition(b",")[0] + b"\n", "fewer values than the header"),
        (changed(seed="10" * 3000), "row 1, column seed"),
        (changed(threads="10" * 30), "row 1, column threads"),
        (changed(top_k="10" * 30), "row 1, column top_k"),
        (lambda: b"", "it has other columns"),
        (lambda: dump_rows([]).encode(), "holds no rows"),
        (lambda: b"\xff\xfe", "not UTF-8"),
        (lambda: b"\x00" * 50, "it has other columns"),
        (lambda: b"a,b\n1,2\n", "it has other columns"),
        (lambda: b"x" * 4_000_001, "larger than 4 MB"),
        (lambda: many_rows(2_001), "more than 2,000 rows"),
        (lambda: many_rows(41, workload=str), "more than 40 workloads"),
        (lambda: many_rows(41, machine=str), "more than 40 combinations of models, machine and temperature"),
        (lambda: dump_rows([]).encode() + b"\n" * 5 + b'"', "x.csv"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(content: Callable[[], bytes], says: str) -> None:
    with pytest.raises(InputError, match=says) as refused:
        read_frame(content(), "x.csv")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"no newline", b"\xff\xfe", b"\n", b"a\x00b"])
def test_a_file_that_is_not_a_sweep_is_refused_and_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sweep.csv"
    path.write_bytes(content)
    if not content:
        assert SweepFile(path).done == []
        return
    with pytest.raises(InputError, match=r"sweep\.csv"):
        SweepFile(path)
    assert path.read_bytes() == content


def test_a_path_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@a", " =a", "＝a", "'=a", "'a", "a=b"])
def test_no_name_is_a_formula_in_a_spreadsheet_and_each_reads_back(name: str) -> None:
    row = a_row(workload=name, preset=name)
    written = dump_rows([row])
    cells = next(csv.DictReader(io.StringIO(written, newline="")))
    assert not cells["workload"].lstrip().startswith(("=", "+", "-", "@", "＝"))
    assert parse_rows(written, "x.csv") == [row]
    assert dump_rows(parse_rows(written, "x.csv")) == written


def many_rows(count: int, **each: Callable[[int], str]) -> bytes:
    made = [{name: of(number) for name, of in each.items()} for number in range(count)]
    return dump_rows([a_row(seed=number, **changes) for number, changes in enumerate(made)]).encode()


@pytest.mark.parametrize(
    "line", [b"\r\n", b"x\r\n", b"," * (len(COLUMNS) - 1) + b"\r\n"], ids=["empty", "short", "no values"]
)
def test_short_lines_cost_little_memory(line: bytes) -> None:
    content = dump_rows([]).encode() + line * (1_000_000 // len(line))
    tracemalloc.start()
    try:
        with pytest.raises(InputError):
            read_frame(content, "x.csv")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(content)
