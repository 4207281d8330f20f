"""One measured row of a sweep, rows as a data frame, and the CSV that stores them. No torch.

The engine makes rows; the command line and the page write and read them.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, fields
from operator import attrgetter
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_type_hints

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from specviz.core.csv_cells import csv_of, marked, unmarked
from specviz.core.drafters import spoken
from specviz.core.errors import InputError
from specviz.core.files import text_of, write_whole
from specviz.core.metrics import count
from specviz.core.numbers import localize
from specviz.core.outside import MostItems
from specviz.core.rounds import known_seconds
from specviz.core.settings import SETTINGS, DecodeSettings
from specviz.core.texts import Sentences
from specviz.core.trace import Trace

if TYPE_CHECKING:  # every visitor's session needs this module; pandas, half a second of start-up time, few of them
    import pandas as pd

say, say_file = Sentences("sweep"), Sentences("sweep_files")
MOST_TEXT = 200  # characters of a name
_Text = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_AtLeast1 = Annotated[int, Field(ge=1, le=10**9)]
_Rate = Annotated[float, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, le=10**7)]
_Above0 = Annotated[float, Field(ge=1e-9, le=10**7)]
_Speedup = Annotated[float, Field(ge=0.001, le=1000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSeries(DecodeSettings):
    """What may be pooled. Settings whose rows are pooled, as the draft length, hold their default."""

    target: _Text
    target_dtype: _Text
    draft: _Text
    draft_dtype: _Text | None
    threads: _AtLeast1
    machine: _Text

    def __post_init__(self) -> None:
        """`parse_rows` checks the settings that a file has."""

    @property
    def label(self) -> str:
        draft = spoken(self.draft) if self.draft_dtype is None else self.draft.rpartition("/")[2]
        formats = {self.target_dtype, self.draft_dtype} - {None, "float32"}
        with_formats = " (bfloat16)" if formats else ""
        only = f", top-k {self.top_k}" if self.top_k else ""
        only += f", top-p {localize(self.top_p, 'g')}" if self.top_p and self.top_p < 1 else ""
        name = f"{draft} → {self.target.rpartition('/')[2]}{with_formats}"
        return say("series", name=name, temperature=self.temperature, more=f"{only}{self.manner}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow(SweepSeries):
    """One prompt with one setting, timed once beside a plain run."""

    workload: _Text
    preset: _Text  # the prompt's name
    text_hash: _Text  # the first digits of the SHA-256 of the prompt's text
    constrained: bool  # whether both runs follow the prompt's grammar
    new_tokens: _AtLeast1
    plain_tokens: _AtLeast1  # of the plain run: sampled texts differ in length
    rounds: _AtLeast1
    drafted: _Count
    accepted: _Count
    rejected: _Count
    discarded: _Count
    acceptance_rate: _Rate | None
    per_judgement_rate: _Rate | None
    tokens_per_target_call: _Above0 | None
    autoregressive_seconds: _Above0
    speculative_seconds: _Above0
    draft_seconds: _Seconds
    verify_seconds: _Seconds
    overhead_seconds: _Seconds
    speedup: _Speedup
    identical: bool | None
    repetition: _Rate | None = None  # of the speculative output, see `core.metrics.repetition`; None: not measured
    node: _Text | None = None  # of the cluster that measured it, see `cluster`; None: where the sweep was asked for

    @property
    def key(self) -> tuple[str, ...]:
        return spell(getattr(self, name) for name in KEY)


MADE_BY = ("target", "target_dtype", "draft", "draft_dtype", "threads", "machine")
KEY = (*MADE_BY, "preset", "text_hash", "constrained", *SETTINGS)
SERIES = (*MADE_BY, *(name for name, row in SETTINGS.items() if not row.pooled))  # rows with the same are one series


def _columns() -> tuple[str, ...]:
    """The columns of a CSV: first those that every file has, then those that files of before lack."""
    own = {each.name: each.default is MISSING for each in fields(SweepRow) if each.name not in SETTINGS}
    first = [*(name for name, needed in own.items() if needed)]
    place = first.index("new_tokens")
    first[place:place] = [name for name, row in SETTINGS.items() if not row.later]
    return (*first, "repetition", *(name for name, row in SETTINGS.items() if row.later), "node")


COLUMNS = _columns()
NEEDED = COLUMNS[: COLUMNS.index("repetition")]


def counted(trace: Trace) -> dict[str, Any]:
    """What a row has of its run's rounds: tokens, rates and times."""
    counts = {name: figure for name, figure in count(trace.rounds).figures.items() if name != "emitted"}
    phases = ("draft_seconds", "verify_seconds", "overhead_seconds")
    sums = {phase: sum(known_seconds(getattr(round, phase)) for round in trace.rounds) for phase in phases}
    return counts | sums


def names_apart(prompts: Iterable[tuple[str, str]]) -> list[str]:
    """The name of each prompt, from names and hashes of texts; with the hash where two texts have one name."""
    prompts = list(prompts)
    texts = Counter(name for name, _ in {*prompts})
    return [f"{name} ({text_hash})" if texts[name] > 1 else name for name, text_hash in prompts]


def spell(values: Iterable[object]) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in values)


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
ABSENT = ("NA", "NaN", "nan", "None")  # how pandas and R write that there is no value, if they are told to
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
        raise InputError(say_file("too_large", name=name, most=UPLOAD_MEGABYTES))
    try:
        rows = parse_rows(content.decode("utf-8-sig"), name, UPLOAD)
    except UnicodeDecodeError:
        raise InputError(say_file("no_utf8", name=name)) from None
    if not rows:
        raise InputError(say_file("no_rows", name=name))
    return frame_of(rows)


def parse_rows(content: str, name: str, most: TableLimits = FILE) -> list[SweepRow]:
    """The rows of a CSV, checked one after the other; an InputError names the first problem in the file `name`."""
    columns, separator = _header(content, name)
    rows: list[SweepRow] = []
    workloads: set[str] = set()
    series: set[object] = set()
    for number, cells in enumerate(_lines(content, name, separator), start=1):
        if len(cells) != len(columns):
            raise InputError(say_file("other_values", name=name))
        named = zip(columns, cells, strict=True)
        values = {column: _value(column, cell, separator) for column, cell in named if column}
        try:
            row = _ONE_ROW.validate_python([values])[0]
            problem = _problem(row)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            problem = first["loc"][-1], first["msg"]
        if problem:
            raise InputError(say_file("wrong_cell", name=name, number=number, column=problem[0], problem=problem[1]))
        if row.accepted + row.rejected + row.discarded != row.drafted:
            raise InputError(say_file("wrong_sum", name=name, preset=repr(row.preset)))
        if (row.acceptance_rate is None) != (row.drafted == 0):
            raise InputError(say_file("wrong_acceptance", name=name, preset=repr(row.preset), drafted=row.drafted))
        rows.append(row)
        workloads.add(row.workload)
        series.add(_series_of(row))
        if number > most.rows or len(workloads) > most.workloads or len(series) > most.series:
            raise InputError(say_file("too_many", name=name, most=most))
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
                raise InputError(say_file("long_row", name=name, most=MAX_ROW))
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
        raise InputError(say_file("no_table", name=name, error=error)) from None


def _value(column: str, cell: str, separator: str) -> str | None:
    """What a cell says; None: it is empty. Where no commas separate cells, one may stand in a number."""
    if column in OPTIONAL and cell in ABSENT:
        return None
    if TYPES[column] == "float64" and separator != ",":
        cell = cell.replace(",", ".")
    return unmarked(cell) or (None if column in OPTIONAL else "")


def _header(content: str, name: str) -> tuple[tuple[str, ...], str]:
    """The columns, "" for numbers of rows as pandas writes them, and the separator: as another program saved it again.

    Refuses what is no sweep. Files of before have the columns of their time, in any order.
    """
    first = content.removeprefix("\ufeff")[:MAX_ROW].split("\n", 1)[0]
    separator = max(SEPARATORS, key=first.count)
    try:
        cells = next(csv.reader([first], delimiter=separator))
    except csv.Error as error:  # lines that end as on an old Mac
        raise InputError(say_file("no_table", name=name, error=error)) from None
    columns = tuple("" if cell in ROW_NUMBERS and not place else cell for place, cell in enumerate(cells))
    if missing := [column for column in NEEDED if column not in columns]:
        raise InputError(say_file("other_version", name=name, column=missing[0]))
    for column in filter(None, columns):
        if column not in COLUMNS or columns.count(column) > 1:
            shown, twice = repr(column[:40]), column in COLUMNS
            raise InputError(say_file("column_twice" if twice else "unknown_column", name=name, column=shown))
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
            whole = content[: content.rfind("\n") + 1] or dump_frame(frame_of([]))
            self.rows = parse_rows(whole, str(path))
            upgraded = whole if known == (COLUMNS, ",") else dump_frame(frame_of(self.rows))
            if upgraded.startswith(content):
                _append(path, upgraded.removeprefix(content))  # if only to find that it can be written
            else:
                write_whole(path.resolve(), upgraded.encode(), path.stat().st_mode)
        except OSError as error:
            raise InputError(f"{path} cannot be used for the sweep: {error}.") from error

    @property
    def done(self) -> list[tuple[str, ...]]:
        return [row.key for row in self.rows]

    def add(self, row: SweepRow) -> None:
        if self._path:
            _append(self._path, dump_frame(frame_of([row]), header=False))
        self.rows.append(row)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", newline="") as file:
        file.write(text)
