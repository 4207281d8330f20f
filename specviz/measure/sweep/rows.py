"""The rows of a sweep, and the CSV that keeps them: the command line and the page write and read it. No torch."""

import csv
import io
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH, DecodeSettings, DraftSchedule

MAX_CSV_BYTES = 10_000_000
MAX_CSV_ROWS = 20_000
FIRST_COLUMNS = ("target", "target_dtype", "draft", "draft_dtype", "threads")  # of every version

_Text = Annotated[str, Field(min_length=1, max_length=200)]
_Count = Annotated[int, Field(ge=0, le=10**9)]
_Rate = Annotated[float, Field(ge=0, le=1)]
_Seconds = Annotated[float, Field(ge=0, le=10**7)]
_Above0 = Annotated[float, Field(gt=0, le=10**7)]


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One prompt with one setting, measured once: a speculative run, and the plain run beside it in time."""

    target: _Text
    target_dtype: _Text
    draft: _Text
    draft_dtype: _Text | None
    threads: Annotated[int, Field(ge=1)]
    machine: _Text
    workload: _Text
    preset: _Text  # the prompt's name
    text_hash: _Text  # the first digits of the SHA-256 of the prompt's text
    constrained: bool  # both runs held to the prompt's grammar
    max_new_tokens: _Count
    draft_length: Annotated[int, Field(ge=1, le=MAX_DRAFT_LENGTH)]
    temperature: Annotated[float, Field(ge=0, le=10)]
    top_k: int | None
    top_p: float | None
    seed: int
    stop_at_eos: bool
    draft_schedule: DraftSchedule
    new_tokens: Annotated[int, Field(ge=1)]
    plain_tokens: Annotated[int, Field(ge=1)]  # of the plain run: where tokens are drawn, texts differ in length
    rounds: Annotated[int, Field(ge=1)]
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
    speedup: _Above0
    identical: bool | None

    @property
    def key(self) -> tuple[str, ...]:
        """What tells this measurement from others, as text so that it matches a row read from CSV."""
        return _as_text(getattr(self, name) for name in KEY)


KEY = (
    *FIRST_COLUMNS,
    "machine",
    "preset",
    "text_hash",
    "constrained",
    *(field.name for field in fields(DecodeSettings)),
)
COLUMNS = tuple(field.name for field in fields(SweepRow))
_ROWS = TypeAdapter(list[SweepRow], config=ConfigDict(allow_inf_nan=False))


def row_key(made_by: Iterable[object], cell: Iterable[object], settings: DecodeSettings) -> tuple[str, ...]:
    """A row's key before it is measured.

    Args:
        made_by: target, its dtype, draft, its dtype, threads, machine.
        cell: the prompt's name, its text's hash, whether it is constrained.
        settings: of the run.
    """
    return _as_text((*made_by, *cell, *(getattr(settings, field.name) for field in fields(DecodeSettings))))


def _as_text(values: Iterable[object]) -> tuple[str, ...]:
    return tuple("" if value is None else str(value) for value in values)


def read_result(item: dict[str, Any]) -> SweepRow | str:
    """One of the engine's results: a row, or a sentence that says why a cell could not be measured."""
    return SweepRow(**item["row"]) if "row" in item else str(item["problem"])


def dump_rows(rows: Iterable[SweepRow], *, header: bool = True) -> str:
    """Rows as CSV."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    if header:
        writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def parse_rows(content: str, name: str) -> list[SweepRow]:
    """The rows of a CSV, checked; `name` stands for the file in what is said about it.

    Raises:
        InputError: it is no sweep of this version, or a value in it cannot be.
    """
    _check_header(content, name)
    try:
        rows = list(csv.DictReader(io.StringIO(content, newline="")))
        if len(rows) > MAX_CSV_ROWS:
            raise InputError(f"{name} has {len(rows):,} rows; at most {MAX_CSV_ROWS:,} are taken.")
        return [_checked(row) for row in _ROWS.validate_python([_typed(row) for row in rows])]
    except csv.Error as error:
        raise InputError(f"{name} cannot be read as a table: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = f"row {int(first['loc'][0]) + 1}, column {first['loc'][-1]}"
        raise InputError(f"{name} is not valid in {where}: {first['msg']}.") from None
    except _Inconsistent as error:
        raise InputError(f"{name} is not valid: {error}.") from None


def read_rows(content: bytes, name: str) -> list[SweepRow]:
    """`parse_rows` of an uploaded file.

    Raises:
        InputError: as there; or it is too large, no text, or holds no row.
    """
    if len(content) > MAX_CSV_BYTES:
        raise InputError(f"{name} is larger than {MAX_CSV_BYTES // 10**6} MB.")
    try:
        rows = parse_rows(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError:
        raise InputError(f"{name} is not UTF-8 text.") from None
    if not rows:
        raise InputError(f"{name} holds no row.")
    return rows


class _Inconsistent(ValueError):
    pass


def _checked(row: SweepRow) -> SweepRow:
    """Counts that cannot be of one run are refused: everything drawn is computed from them."""
    if row.accepted + row.rejected + row.discarded != row.drafted:
        raise _Inconsistent(f"accepted, rejected and discarded of {row.preset!r} do not add up to drafted")
    if (row.acceptance_rate is None) != (row.drafted == 0):
        raise _Inconsistent(f"{row.preset!r} drafted {row.drafted} tokens, but its acceptance rate says otherwise")
    return row


def _typed(row: dict[str, Any]) -> dict[str, Any]:
    if None in row or None in row.values():  # more or fewer values than columns
        raise _Inconsistent("a row has another number of values than the header")
    return {name: value if value != "" else None for name, value in row.items()}


def _check_header(content: str, name: str) -> None:
    columns = content.split("\n", 1)[0].rstrip("\r").split(",")
    if columns == list(COLUMNS):
        return
    if tuple(columns[: len(FIRST_COLUMNS)]) == FIRST_COLUMNS and not set(columns) >= set(COLUMNS):
        lacking = next(column for column in COLUMNS if column not in columns)
        raise InputError(f"{name} is a sweep of another version: it has no column {lacking}; measure into a new file.")
    raise InputError(f"{name} is not a sweep of this version: its columns are others.")


class SweepFile:
    """A CSV that grows row by row, so that a sweep cut short goes on where it stopped; without a path, memory only.

    Raises:
        InputError: the file is there and is no sweep of this version, or cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.rows: list[SweepRow] = []  # all that it holds, in its order
        if path is None:
            return
        try:
            content = _whole_rows(path)
            self.rows = parse_rows(content, str(path))
            path.write_text(content, encoding="utf-8", newline="")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be used for the sweep: {error}.") from error

    @property
    def done(self) -> frozenset[tuple[str, ...]]:
        """The keys of the rows it holds."""
        return frozenset(row.key for row in self.rows)

    def add(self, row: SweepRow) -> None:
        """Append one row."""
        if self._path:
            with self._path.open("a", encoding="utf-8", newline="") as file:
                file.write(dump_rows([row], header=False))
        self.rows.append(row)


def _whole_rows(path: Path) -> str:
    """What the file holds, but for the half a row that a sweep leaves when it is killed; at least the header."""
    content = path.read_bytes().decode() if path.exists() else ""
    if content:
        _check_header(content, str(path))
    return content[: content.rfind("\n") + 1] or dump_rows([])
