"""A bench as a table: one row a prompt and concurrency, plain values. Pure."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median

from specviz.core.csv_cells import safe_cell
from specviz.measure.endpoints.acceptance import tally_answers
from specviz.measure.endpoints.pairs import PairGroup, group_by_prompt, pair_answers, timed_until
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class BenchRow:
    """Ratios are without over with speculation; None: not measured, or one repeat has no interval. Seconds: medians."""

    prompt: str
    workload: str
    concurrency: int
    pairs: int  # repeats that are in the ratios
    speedup: float | None
    speedup_low: float | None  # over the repeats
    speedup_high: float | None
    first_ratio: float | None
    latency_ratio: float | None
    token_seconds_with: float | None
    token_seconds_without: float | None
    first_seconds_with: float | None
    first_seconds_without: float | None
    seconds_with: float | None
    seconds_without: float | None
    tokens_with: float | None  # median
    tokens_without: float | None
    drafted: int | None
    accepted: int | None
    acceptance_rate: float | None
    tokens_per_round: float | None
    failed: int

    @property
    def tokens_per_second_with(self) -> float | None:
        """Of one user."""
        return 1 / self.token_seconds_with if self.token_seconds_with else None

    @property
    def tokens_per_second_without(self) -> float | None:
        return 1 / self.token_seconds_without if self.token_seconds_without else None


COLUMNS = tuple(column.name for column in fields(BenchRow))
SHOWN = (
    *("prompt", "workload", "concurrency", "pairs", "speedup", "speedup_low", "speedup_high"),
    *("tokens_per_second_with", "tokens_per_second_without", "acceptance_rate", "tokens_per_round", "failed"),
)
SHOWN_ALONE = ("prompt", "workload", "concurrency", *(name for name in SHOWN[7:] if not name.endswith("without")))


def bench_rows(result: BenchResult) -> list[BenchRow]:
    gains = {(its.concurrency, its.number): its for its in group_by_prompt(pair_answers(result).pairs)}
    groups: dict[tuple[int, int], list[Answer]] = {}
    for answer in result.answers:
        groups.setdefault((answer.concurrency, answer.prompt), []).append(answer)
    return [_row(result, its, gains.get(place)) for place, its in sorted(groups.items(), key=lambda item: item[0])]


def _row(result: BenchResult, answers: Sequence[Answer], found: PairGroup | None) -> BenchRow:
    prompt, done = result.prompts[answers[0].prompt], [answer for answer in answers if not answer.problem]
    own: dict[Side, list[Answer]] = {side: [answer for answer in done if answer.side == side] for side in SIDES}
    tally = tally_answers(own["with"]) if any(answer.accepted for answer in own["with"]) else None
    gain = found.gain if found else None
    low, high = gain.interval if gain and gain.interval else (None, None)
    token_seconds = {side: found.token_seconds(side) if found else _token_seconds(own[side]) for side in SIDES}
    return BenchRow(
        prompt=prompt.name,
        workload=prompt.workload,
        concurrency=answers[0].concurrency,
        pairs=len(found.pairs) if found else 0,
        speedup=gain.value if gain else None,
        speedup_low=low,
        speedup_high=high,
        first_ratio=found.first_ratio if found else None,
        latency_ratio=found.latency_ratio if found else None,
        token_seconds_with=token_seconds["with"],
        token_seconds_without=token_seconds["without"],
        first_seconds_with=_middle([answer.first for answer in own["with"]]),
        first_seconds_without=_middle([answer.first for answer in own["without"]]),
        seconds_with=_middle([answer.seconds for answer in own["with"]]),
        seconds_without=_middle([answer.seconds for answer in own["without"]]),
        tokens_with=_middle([answer.tokens for answer in own["with"]]),
        tokens_without=_middle([answer.tokens for answer in own["without"]]),
        drafted=tally.drafted if tally else None,
        accepted=tally.accepted if tally else None,
        acceptance_rate=tally.rate if tally else None,
        tokens_per_round=tally.tokens_per_call if tally else None,
        failed=len(answers) - len(done),
    )


def _token_seconds(answers: Sequence[Answer]) -> float | None:
    """Of answers without a partner."""
    timed = [timed_until(answer, answer.tokens or 0)[0] for answer in answers]
    return _middle([each.token_seconds for each in timed if each.usable])


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def table(result: BenchResult) -> tuple[Sequence[str], list[list[Cell]]]:
    """The columns worth a look, and one row a prompt and concurrency. Names in it are not escaped."""
    columns = SHOWN if result.without else SHOWN_ALONE
    return columns, _cells(result, columns)


def _cells(result: BenchResult, columns: Sequence[str]) -> list[list[Cell]]:
    return [[getattr(row, column) for column in columns] for row in bench_rows(result)]


def dump_csv(result: BenchResult) -> str:
    """All columns as CSV, with a mark before a text that a spreadsheet would read as a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for row in _cells(result, COLUMNS):
        writer.writerow(map(_written, row))
    return written.getvalue()


def _written(cell: Cell) -> Cell:
    if isinstance(cell, float):
        return float(f"{cell:.6g}")  # more digits are noise
    return safe_cell(cell) if isinstance(cell, str) else cell
