"""What a bench of two servers found: speedups at each concurrency, what a round costs, and where it stops paying. Pure.

Each ratio is measured, each interval is over prompts (of throughput, over neighbouring blocks). What a round costs is
inferred from the speedup and the counts by the worksheet's own model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from statistics import geometric_mean, median

from specviz.core.errors import InputError
from specviz.core.judge import EVEN, HELPS, HURTS, UNTOLD, Interval, VerdictWord
from specviz.measure.endpoints.acceptance import AcceptanceFound, find_acceptance
from specviz.measure.endpoints.pairs import (
    AnswerPair,
    Gain,
    Paired,
    PromptGain,
    ServedBlock,
    blocks_of,
    gains_by_prompt,
    pair_answers,
    throughput_ratios,
    timed_until,
    usable_blocks,
)
from specviz.measure.endpoints.result import SIDES, BenchResult, Side
from specviz.measure.endpoints.sameness import Sameness, find_sameness
from specviz.measure.worksheet.model import WorksheetModel
from specviz.measure.worksheet.serving import (
    Length,
    Production,
    TooFastError,
    draft_lengths,
    inferred_cost,
    production,
    recommended,
)

# Of the costs only the sum, a round's cost, is measured; these say how it is shared out, and no figure here uses it.
SHARES = WorksheetModel(alpha=0.5, draft_length=1, cost_ratio=0.1, verification=1.1, overhead=0.0)


@dataclass(frozen=True, slots=True)
class SideFigures:
    """One server at one concurrency, over its timed answers: the geometric mean over prompts, else the median."""

    tokens_per_second: float | None  # of one user: of the time per output token
    first: float | None  # seconds to the first part with text
    latency: float | None  # seconds of the whole answer
    throughput: float | None  # tokens a second of all users together, over the time in which its blocks ran


@dataclass(frozen=True, slots=True)
class LoadFindings:
    """What was measured at one concurrency."""

    concurrency: int
    prompts: list[PromptGain]
    speedup: Gain | None  # of the time per output token
    first: Gain | None  # of the time to the first token
    latency: Gain | None  # of the whole answer
    throughput: Gain | None  # tokens a second of all users together
    sides: dict[Side, SideFigures]


@dataclass(frozen=True, slots=True)
class StopsPaying:
    """From which measured concurrency on speculation pays no longer, as the intervals decide."""

    helps: list[int]
    hurts: list[int]
    even: list[int]
    untold: list[int]
    up_to: int | None  # it helps at each measured concurrency up to this one; None: not at the lowest
    from_: int | None  # the first one at which it hurts, if it hurts at each from there on and helps at none of them


@dataclass(frozen=True, slots=True)
class RoundCost:
    """What a round costs at one concurrency, in plain steps of the same load."""

    concurrency: int
    found: Production
    cost: float  # R = τ / S; also the tokens per target call from which speculation pays
    interval: Interval | None  # from the speedup's: the counts are exact
    lengths: list[Length]

    @property
    def best_lengths(self) -> list[int]:
        return recommended(self.lengths)

    @property
    def tokens(self) -> float:
        """Tokens per target call, counted; over all passes where only these are known."""
        return self.found.tokens


@dataclass(frozen=True)
class BenchFindings:
    result: BenchResult

    @cached_property
    def paired(self) -> Paired:
        return pair_answers(self.result)

    @cached_property
    def loads(self) -> list[LoadFindings]:
        gains = gains_by_prompt(self.paired.pairs)
        numbers = sorted({answer.concurrency for answer in self.result.answers})
        return [
            _load(self.result, number, [gain for gain in gains if gain.concurrency == number]) for number in numbers
        ]

    def gains_by_kind(self, load: LoadFindings) -> dict[str, Gain]:
        """The speedup on each kind of text, in the order of the prompts."""
        ratios: dict[str, list[float]] = {}
        for prompt in load.prompts:
            ratios.setdefault(self.result.prompts[prompt.prompt].workload, []).append(prompt.ratio)
        return {kind: gain for kind, its in ratios.items() if (gain := Gain.from_ratios(its))}

    @property
    def measured(self) -> list[LoadFindings]:
        """Those that have a speedup."""
        return [load for load in self.loads if load.speedup]

    @cached_property
    def sameness(self) -> Sameness | None:
        return find_sameness(self.result)

    @cached_property
    def acceptance(self) -> AcceptanceFound | None:
        return find_acceptance(self.result)

    @cached_property
    def rounds(self) -> list[RoundCost]:
        return [cost for cost, _ in self._costs.values() if cost]

    @property
    def no_rounds(self) -> str:
        """Why the cost of a round does not follow, one sentence; empty where it does, or where no count is known."""
        errors = (error for _, error in map(self._cost_or_why, self.measured))  # in the language of who reads it
        return "" if self.rounds else next((str(error) for error in errors if error), "")

    @property
    def impossible(self) -> list[int]:
        """Concurrencies whose speedup is above the tokens per target call, so that something disturbed their times."""
        return [number for number, (_, error) in self._costs.items() if isinstance(error, TooFastError)]

    @cached_property
    def _costs(self) -> dict[int, tuple[RoundCost | None, InputError | None]]:
        return {load.concurrency: self._cost_or_why(load) for load in self.measured}

    def _cost_or_why(self, load: LoadFindings) -> tuple[RoundCost | None, InputError | None]:
        if self.acceptance is None or load.speedup is None:
            return None, None
        tally = self.acceptance.by_concurrency.get(load.concurrency, self.acceptance.whole)
        try:
            counters = tally.make_counters(self.result.with_.system)
            found = production(counters, SHARES, load.speedup.value) if counters else None
        except InputError as error:
            return None, error
        return (_round_cost(load.concurrency, found, load.speedup.interval) if found else None), None

    @cached_property
    def stops(self) -> StopsPaying | None:
        """None where no concurrency has an interval."""
        certain = [load for load in self.measured if load.speedup and load.speedup.interval]
        words = {load.concurrency: load.speedup.judged.word for load in certain if load.speedup}
        return stops_paying(words) if words else None


def _load(result: BenchResult, concurrency: int, prompts: list[PromptGain]) -> LoadFindings:
    blocks = blocks_of(result.answers, concurrency) if result.blocks_timed else []
    return LoadFindings(
        concurrency,
        prompts,
        Gain.from_ratios([prompt.ratio for prompt in prompts]),
        Gain.from_ratios([ratio for prompt in prompts if (ratio := prompt.first_ratio)]),
        Gain.from_ratios([ratio for prompt in prompts if (ratio := prompt.latency_ratio)]),
        Gain.from_ratios(throughput_ratios(blocks)),
        {side: _side(result, side, concurrency, prompts, blocks) for side in SIDES if result.server(side)},
    )


def _side(
    result: BenchResult, side: Side, concurrency: int, prompts: Sequence[PromptGain], blocks: Iterable[ServedBlock]
) -> SideFigures:
    """Of the answers that have a partner; of one server alone, of all that are long enough."""
    paired = [pair for prompt in prompts for pair in prompt.pairs]
    own = [answer for answer in result.done() if (answer.side, answer.concurrency) == (side, concurrency)]
    timed = [pair.timed[side] for pair in paired] or [timed_until(answer, answer.tokens or 0)[0] for answer in own]
    usable = [each for each in timed if each.usable]
    means = [prompt.token_seconds(side) for prompt in prompts] or [each.token_seconds for each in usable]
    ran = [block for block in usable_blocks(blocks) if block.side == side]
    return SideFigures(
        1 / geometric_mean(means) if means else None,
        (median(each.first for each in usable) or None) if usable else None,  # 0: not streamed
        median(each.last for each in usable) if usable else None,
        sum(block.tokens for block in ran) / sum(block.ended - block.began for block in ran) if ran else None,
    )


def _round_cost(concurrency: int, found: Production, speedups: Interval | None) -> RoundCost:
    """The interval of R from that of S: a higher speedup is a cheaper round, of at least one step."""
    interval = None
    if speedups:
        slow, fast = (inferred_cost(found.tokens, min(speed, found.most), found.share) for speed in speedups)
        interval = (fast, slow)
    return RoundCost(concurrency, found, found.round_cost, interval, draft_lengths(found))


def stops_paying(words: dict[int, VerdictWord]) -> StopsPaying:
    numbers = sorted(words)
    helps = [number for number in numbers if words[number] == HELPS]
    hurts = [number for number in numbers if words[number] == HURTS]
    begin = list(takewhile(lambda number: words[number] == HELPS, numbers))
    after = [number for number in hurts if not helps or number > max(helps)]
    from_ = after[0] if after and after == [number for number in numbers if number >= after[0]] else None
    even, untold = ([number for number in numbers if words[number] == word] for word in (EVEN, UNTOLD))
    return StopsPaying(helps, hurts, even, untold, begin[-1] if begin else None, from_)


def pairs_cut(pairs: Iterable[AnswerPair], how: str) -> int:
    return sum(pair.cut == how for pair in pairs)
