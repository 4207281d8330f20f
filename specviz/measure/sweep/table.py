"""Sweep rows as a data frame, and the CSV that stores them: the command line and the page write and read it."""

import csv
import io
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from specviz.core.csv_cells import csv_of, marked, unmarked
from specviz.core.errors import InputError
from specviz.core.files import text_of
from specviz.core.outside import MostItems
from specviz.core.settings import SETTINGS
from specviz.core.texts import Sentences
from specviz.measure.sweep.rows import COLUMNS, NEEDED, SERIES, SweepRow

say = Sentences("sweep_files")

if TYPE_CHECKING:  # every visitor's session needs this module; pandas, half a second of start-up time, few of them
    import pandas as pd

UPLOAD_MEGABYTES = 4
MAX_ROW = 20_000  # characters of a row, or of the header; the longest that is valid has about 8,000


HINTS: dict[str, Any] = get_type_hints(SweepRow)  # without what pydantic checks
MOST_BYTES = 32 * 10**6  # of a sweep on the command line
LARGEST = 10**9  # whole number of a setting in a file
_series_of = attrgetter(*SERIES)


def _dtype(column: str) -> str:
    """The column's type in a frame, from the row's own: a number or a switch that may be missing has another one."""
    if column == "seed":
        return "object"  # may be larger than 64 bits hold
    hint = HINTS[column]
    kinds = {kind for kind in get_args(hint) or [hint] if kind is not NoneType}
    if kinds == {int} or kinds == {bool}:
        whole, missing = ("int64", "Int64") if kinds == {int} else ("bool", "boolean")
        return missing if NoneType in get_args(hint) else whole
    return "float64" if kinds == {float} else "str"


TYPES = {column: _dtype(column) for column in COLUMNS}
OPTIONAL = [column for column in COLUMNS if NoneType in get_args(HINTS[column])]
MISSING = ("NA", "NaN", "nan", "None")  # how pandas and R write that there is no value, if they are told to
ROW_NUMBERS = ("", "Unnamed: 0", "index")  # what pandas calls them
SEPARATORS = ",;\t"  # a spreadsheet writes that of its language


class TableLimits(NamedTuple):
    """How much a table may hold. Each workload and each series is computed with, so they cost more than rows do."""

    rows: int
    workloads: int
    series: int  # pairs of models at one temperature on one machine


FILE = TableLimits(20_000, 20_000, 20_000)  # on the command line
UPLOAD = TableLimits(2_000, 40, 40)  # on a server that others use too
_ONE_ROW: TypeAdapter[list[SweepRow]] = TypeAdapter(
    Annotated[list[SweepRow], MostItems(1)], config=ConfigDict(allow_inf_nan=False)
)


def iterate_rows(frame: "pd.DataFrame") -> Iterator[Any]:
    return iter(frame.itertuples(index=False))


def frame_of(rows: Iterable[SweepRow]) -> "pd.DataFrame":
    import pandas as pd

    values = list(map(attrgetter(*COLUMNS), rows))
    return pd.DataFrame(values, columns=list(COLUMNS), dtype="object").astype(TYPES)


def joined(*frames: "pd.DataFrame") -> "pd.DataFrame":
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def dump_frame(frame: "pd.DataFrame", *, header: bool = True) -> str:
    return csv_of(frame, marked, header=header)


def read_frame(content: bytes, name: str) -> "pd.DataFrame":
    """The rows of an uploaded CSV, checked; `name` stands for the file in the sentence of an InputError."""
    if len(content) > UPLOAD_MEGABYTES * 10**6:
        raise InputError(say("too_large", name=name, most=UPLOAD_MEGABYTES))
    try:
        rows = parse_rows(content.decode("utf-8-sig"), name, UPLOAD)
    except UnicodeDecodeError:
        raise InputError(say("no_utf8", name=name)) from None
    if not rows:
        raise InputError(say("no_rows", name=name))
    return frame_of(rows)


def parse_rows(content: str, name: str, most: TableLimits = FILE) -> list[SweepRow]:
    """The rows of a CSV, checked one after the other; an InputError names the first problem in the file `name`."""
    columns, separator = _header(content, name)
    rows: list[SweepRow] = []
    workloads: set[str] = set()
    series: set[object] = set()
    for number, cells in enumerate(_lines(content, name, separator), start=1):
        if len(cells) != len(columns):
            raise InputError(say("other_values", name=name))
        values = {
            column: _value(column, cell, separator) for column, cell in zip(columns, cells, strict=True) if column
        }
        try:
            row = _ONE_ROW.validate_python([values])[0]
            problem = _problem(row)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            problem = first["loc"][-1], first["msg"]
        if problem:
            raise InputError(say("wrong_cell", name=name, number=number, column=problem[0], problem=problem[1]))
        if row.accepted + row.rejected + row.discarded != row.drafted:
            raise InputError(say("wrong_sum", name=name, preset=repr(row.preset)))
        if (row.acceptance_rate is None) != (row.drafted == 0):
            raise InputError(say("wrong_acceptance", name=name, preset=repr(row.preset), drafted=row.drafted))
        rows.append(row)
        workloads.add(row.workload)
        series.add(_series_of(row))
        if number > most.rows or len(workloads) > most.workloads or len(series) > most.series:
            raise InputError(say("too_many", name=name, most=most))
    return rows


def _problem(row: SweepRow) -> tuple[object, str] | None:
    """A setting that is impossible, and why."""
    for column, setting in SETTINGS.items():
        value = getattr(row, column)
        if column != "seed" and not setting.allows(value):
            return column, setting.rule
        if TYPES[column].lower() == "int64" and value is not None and value > LARGEST:
            return column, f"> {LARGEST:,}"
    return None


def _lines(content: str, name: str, separator: str) -> Iterator[list[str]]:
    """The cells of each row below the header. A row that is too long, which may hold a million cells, ends them."""
    text, left = io.StringIO(content, newline=""), MAX_ROW  # characters that the row being read may still have

    def short_lines() -> Iterator[str]:
        nonlocal left
        while line := text.readline(left + 1):
            left -= len(line)
            if left < 0:
                raise InputError(say("long_row", name=name, most=MAX_ROW))
            yield line

    reader = csv.reader(short_lines(), delimiter=separator, strict=True)
    try:
        next(reader)
        left = MAX_ROW
        for cells in reader:
            left = MAX_ROW
            if cells:
                yield cells
    except csv.Error as error:
        raise InputError(say("no_table", name=name, error=error)) from None


def _value(column: str, cell: str, separator: str) -> str | None:
    """What a cell says; None: it is empty. Where no commas separate cells, one may stand in a number."""
    if column in OPTIONAL and cell in MISSING:
        return None
    if TYPES[column] == "float64" and separator != ",":
        cell = cell.replace(",", ".")
    return unmarked(cell) or (None if column in OPTIONAL else "")


def _header(content: str, name: str) -> tuple[tuple[str, ...], str]:
    """The columns, "" for numbers of rows as pandas writes them, and the separator: as another program saved it again.

    Refuses what is no sweep. Files of before have the columns of their time, in any order.
    """
    first = content.removeprefix("\ufeff")[:MAX_ROW].split("\n", 1)[0].rstrip("\r")
    separator = max(SEPARATORS, key=first.count)
    cells = next(csv.reader([first], delimiter=separator), [])
    columns = tuple("" if cell in ROW_NUMBERS and not place else cell for place, cell in enumerate(cells))
    if missing := [column for column in NEEDED if column not in columns]:
        raise InputError(say("other_version", name=name, column=missing[0]))
    for column in filter(None, columns):
        if column not in COLUMNS or columns.count(column) > 1:
            shown, twice = repr(column[:40]), column in COLUMNS
            raise InputError(say("column_twice" if twice else "unknown_column", name=name, column=shown))
    return columns, separator


class SweepFile:
    """A CSV that grows row by row, so that a sweep cut short goes on where it stopped; without a path, memory only.

    InputError: the file exists and is not a sweep of this version, or cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.rows: list[SweepRow] = []  # all rows of the file, in its order
        if path is None:
            return
        try:
            content = text_of(path, MOST_BYTES) if path.exists() else ""
            known = _header(content, str(path)) if content else None
            # A sweep that was killed leaves half a row at the end.
            content = content[: content.rfind("\n") + 1] or dump_frame(frame_of([]))
            self.rows = parse_rows(content, str(path))
            upgraded = content if known == (COLUMNS, ",") else dump_frame(frame_of(self.rows))
            path.write_text(upgraded, encoding="utf-8", newline="")
        except OSError as error:
            raise InputError(f"{path} cannot be used for the sweep: {error}.") from error

    @property
    def done(self) -> list[tuple[str, ...]]:
        return [row.key for row in self.rows]

    def add(self, row: SweepRow) -> None:
        if self._path:
            with self._path.open("a", encoding="utf-8", newline="") as file:
                file.write(dump_frame(frame_of([row]), header=False))
        self.rows.append(row)
