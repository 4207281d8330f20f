"""What batches cost and bring, and what one pass of the target spends its time on, as measured and stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Literal, Self

from specviz.core.files import MEASURED, RESULTS, read_stored
from specviz.core.intervals import interval_of_ratios
from specviz.core.metrics import Counts
from specviz.core.once import cache_once
from specviz.core.trace import Machine
from specviz.data.measured.measured_methods import Quiet

# wall: what a person waits. processor: what the one thread that computes was given, so that other programs on a busy
# machine hardly count; only where one thread of the processor does all the work.
Clock = Literal["wall", "processor"]
RECORDED = MEASURED / "batches.json"
PASSES = RESULTS / "pass_shares.json"  # of benchmarks/pass_shares.py
PassPart = Literal["weights", "attention", "program", "rest"]
PARTS: tuple[PassPart, ...] = ("weights", "attention", "program", "rest")  # as drawn; together they are the whole pass


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of times of one repeat each: the geometric mean over the repeats, and its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def from_ratios(cls, ratios: Sequence[float]) -> Self:
        low, high = interval_of_ratios(ratios)
        return cls(sqrt(low * high), low, high)  # the interval is even around the mean of the logarithms


@dataclass(frozen=True, slots=True)
class Check:
    """v(k) in a batch: one pass over k tokens of every text, over one pass over one token of every text."""

    tokens: int  # k
    steps: Ratio


@dataclass(frozen=True, slots=True)
class BatchPass:
    batch: int
    step_seconds: float  # one pass over one token of every text: the median
    growth: Ratio  # that pass over the same in the smallest batch
    checks: list[Check]

    @property
    def verification(self) -> dict[int, float]:
        return {check.tokens: check.steps.value for check in self.checks}


@dataclass(frozen=True, slots=True)
class BatchSpeedup:
    """What one draft length brings in batches of one size. Costs are in passes of the target alone in such a batch."""

    batch: int
    draft_length: int
    speedup: Ratio  # seconds of the target alone over seconds with the draft, until the slowest text has ended
    full_speedup: Ratio  # the same a token, counted while every text of the batch still writes
    cost_ratio: Ratio  # c: one draft step for every text
    verification: Ratio  # v(draft_length + 1)
    overhead: Ratio  # o
    counts: Counts  # of all texts together, each with its own rounds
    empty_places: float  # share of the places in the passes that were empty, because their texts had ended
    tokens_per_second: float  # of all texts of a batch together, until the slowest has ended: the median repeat
    plain_tokens_per_second: float  # the same of the target alone


@dataclass(frozen=True, slots=True)
class BatchStudy:
    created: str
    recorded_on: Machine
    clock: Clock
    target: str
    target_dtype: str
    draft: str
    draft_dtype: str
    prompts: list[str]  # their names
    new_tokens: int  # of each text; end of text is ignored
    repeats: int  # of every run
    pass_repeats: int  # of every timed pass
    passes: list[BatchPass]
    speedups: list[BatchSpeedup]
    quiet: Quiet | None = None  # None: nobody knows what else ran meanwhile

    @property
    def batches(self) -> list[int]:
        return sorted({each.batch for each in self.speedups})

    @property
    def draft_lengths(self) -> list[int]:
        return sorted({each.draft_length for each in self.speedups})

    def at(self, batch: int, draft_length: int) -> BatchSpeedup:
        return {(each.batch, each.draft_length): each for each in self.speedups}[batch, draft_length]

    def passes_of(self, batch: int) -> BatchPass | None:
        return next((each for each in self.passes if each.batch == batch), None)


recorded_batches = cache_once(partial(read_stored, RECORDED, BatchStudy, "the study of batches"))


@dataclass(frozen=True, slots=True)
class Quartiles:
    median: float


@dataclass(frozen=True, slots=True)
class TimedPass:
    """One pass: its parts and the whole; its time over that of one token, and over the same pass in float32."""

    dtype: str
    tokens: int
    ms: dict[PassPart | Literal["whole"], Quartiles]
    ratio: Ratio
    to_float32: Ratio

    def share(self, part: PassPart) -> float:
        return self.ms[part].median / self.ms["whole"].median


@dataclass(frozen=True, slots=True)
class PassShares:
    machine: Machine
    passes: list[TimedPass]

    @property
    def most(self) -> int:
        return max(each.tokens for each in self.passes)

    def find_pass(self, dtype: str, tokens: int) -> TimedPass:
        return {(each.dtype, each.tokens): each for each in self.passes}[dtype, tokens]


pass_shares = cache_once(partial(read_stored, PASSES, PassShares, "the shares of a pass"))
