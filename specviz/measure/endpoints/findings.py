"""What a bench of two servers found: speedups at each concurrency, what a round costs, and where it stops paying. Pure.

Each ratio is measured. Its interval is over prompts where one request is under way, else over blocks: the requests of a
block share its moment. What is not trusted has no verdict.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, takewhile
from statistics import geometric_mean, median
from typing import Literal

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import EVEN, HELPS, HURTS, NEUTRAL, UNTOLD, Interval, VerdictWord
from specviz.measure.endpoints.acceptance import AcceptanceFound, find_acceptance, tally_answers
from specviz.measure.endpoints.pairs import (
    AnswerPair,
    Gain,
    Paired,
    PairGroup,
    ServedBlock,
    blocks_of,
    group_by_prompt,
    group_pairs,
    pair_answers,
    throughput_ratios,
    timed_until,
    usable_blocks,
)
from specviz.measure.endpoints.result import SIDES, BenchResult, Side
from specviz.measure.endpoints.sameness import Sameness, find_sameness

STRETCHES = 6  # of a bench with one request under way
DRIFT = 1.5  # a side's later blocks over its earlier ones, or the reverse
FEWEST_BLOCKS = 4  # from which they are compared
NOISE = 1.1  # of one prompt's speedup
HIDDEN = 1.25  # tokens of a part, or characters of a token, over those that can be
MOST_PLAIN = 1.02  # passes over those that checked a draft: with more, a round's cost does not follow
Doubt = Literal["impossible", "drift", "hidden"]


@dataclass(frozen=True, slots=True)
class SideFigures:
    """One server at one concurrency, over its timed answers: the geometric mean over the sample, else the median."""

    tokens_per_second: float | None  # of one user: of the time per output token
    first: float | None  # seconds to the first part with text
    latency: float | None  # seconds of the whole answer
    throughput: float | None  # tokens a second of all users together, over the time in which its blocks ran


@dataclass(frozen=True, slots=True)
class LoadFindings:
    """What was measured at one concurrency."""

    concurrency: int
    prompts: list[PairGroup]
    doubts: list[Doubt]  # why its times are not trusted
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
    tokens: float  # τ, per target call, counted
    cost: float  # R = τ / S; also the tokens per target call from which speculation pays
    interval: Interval | None  # from the speedup's: the counts are exact


@dataclass(frozen=True)
class BenchFindings:
    result: BenchResult

    @cached_property
    def paired(self) -> Paired:
        return pair_answers(self.result)

    @cached_property
    def loads(self) -> list[LoadFindings]:
        numbers = sorted({answer.concurrency for answer in self.result.answers})
        pairs = {number: [pair for pair in self.paired.pairs if pair.concurrency == number] for number in numbers}
        return [_load(self, number, its) for number, its in pairs.items()]

    def gains_by_kind(self, load: LoadFindings) -> dict[str, Gain]:
        """The speedup on each kind of text, in the order of the prompts."""
        ratios: dict[str, list[float]] = {}
        for prompt in load.prompts:
            ratios.setdefault(self.result.prompts[prompt.number].workload, []).append(prompt.ratio)
        trusted = not load.doubts
        return {kind: gain for kind, its in ratios.items() if (gain := Gain.from_ratios(its, trusted=trusted))}

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
        """Where each pass checked a draft: what another pass costs is not known, and no plain step's time."""
        return [cost for load in self.measured if not load.doubts and (cost := self._round_cost(load))]

    def _round_cost(self, load: LoadFindings) -> RoundCost | None:
        tally = self.acceptance and self.acceptance.by_concurrency.get(load.concurrency, self.acceptance.whole)
        if not tally or not tally.rounds or not tally.passes or not tally.tokens_per_call or load.speedup is None:
            return None
        if tally.passes > MOST_PLAIN * tally.rounds:
            return None
        tokens, interval = tally.tokens_per_call, load.speedup.interval
        cost = (max(1.0, tokens / interval[1]), max(1.0, tokens / interval[0])) if interval else None
        return RoundCost(load.concurrency, tokens, max(1.0, tokens / load.speedup.value), cost)

    def doubted(self, doubt: Doubt) -> list[int]:
        """The concurrencies whose times are not trusted for this reason."""
        return [load.concurrency for load in self.loads if doubt in load.doubts]

    @cached_property
    def stops(self) -> StopsPaying | None:
        """None where no concurrency has an interval."""
        certain = [load for load in self.measured if load.speedup and load.speedup.interval]
        words = {load.concurrency: load.speedup.judged.word for load in certain if load.speedup}
        return stops_paying(words) if words else None


def _load(found: BenchFindings, concurrency: int, pairs: list[AnswerPair]) -> LoadFindings:
    result, prompts = found.result, group_by_prompt(pairs)
    moments = group_pairs(pairs, lambda pair: pair.with_.block)
    sample = prompts if concurrency == 1 else moments
    blocks = blocks_of(result.answers, concurrency) if result.blocks_timed else []
    doubts = _doubts(found, concurrency, prompts, moments)

    def gain(ratios: Iterable[float | None]) -> Gain | None:
        return Gain.from_ratios([ratio for ratio in ratios if ratio], trusted=not doubts)

    speedup = gain(group.ratio for group in sample)
    return LoadFindings(
        concurrency,
        prompts,
        doubts,
        _widened(speedup, moments) if concurrency == 1 else speedup,
        gain(group.first_ratio for group in sample),
        gain(group.latency_ratio for group in sample),
        gain(throughput_ratios(blocks)),
        {side: _side(result, side, concurrency, sample, blocks) for side in SIDES if result.server(side)},
    )


def _widened(speedup: Gain | None, moments: Sequence[PairGroup]) -> Gain | None:
    """With the interval over stretches of the bench, if it is wider: prompts that follow each other share a moment.

    Where prompts were asked in their own order, a stretch is also of one kind of text, so it says nothing of moments.
    """
    asked = [(group.pairs[0].with_.repeat, group.pairs[0].with_.prompt) for group in moments]
    if speedup is None or speedup.interval is None or len(moments) < 2 * STRETCHES or asked == sorted(asked):
        return speedup
    edges = [len(moments) * place // STRETCHES for place in range(STRETCHES + 1)]
    means = [geometric_mean([group.ratio for group in moments[start:end]]) for start, end in pairwise(edges)]
    low, high = interval_of_ratios(means)
    half = math.sqrt(max(high / low, speedup.interval[1] / speedup.interval[0]))
    return replace(speedup, interval=(speedup.value / half, speedup.value * half))


def _doubts(
    found: BenchFindings, concurrency: int, prompts: Sequence[PairGroup], moments: Sequence[PairGroup]
) -> list[Doubt]:
    pairs = [pair for group in moments for pair in group.pairs]
    drifts = any(_drifts(found.result, side, moments) for side in SIDES)
    checks: dict[Doubt, bool] = {
        "impossible": _is_impossible(found, concurrency, prompts, moments),
        "drift": drifts,
        "hidden": _hides_tokens(pairs),
    }
    return [doubt for doubt, is_so in checks.items() if is_so]


def _is_impossible(
    found: BenchFindings, concurrency: int, prompts: Sequence[PairGroup], moments: Sequence[PairGroup]
) -> bool:
    """Whether a speedup is above the tokens of a round: a round takes at least one plain step."""
    if found.acceptance is None or not moments:
        return False
    alone = prompts if concurrency == 1 and found.acceptance.source == "answers" else []
    for group in alone:
        tokens = tally_answers([pair.with_ for pair in group.pairs]).tokens_per_call
        if tokens and group.ratio > NOISE * NEUTRAL * tokens:
            return True
    tally = found.acceptance.by_concurrency.get(concurrency, found.acceptance.whole)
    speedup = geometric_mean([group.ratio for group in (prompts if concurrency == 1 else moments)])
    return bool(tally.drafted and tally.tokens_per_call) and speedup > NEUTRAL * (tally.tokens_per_call or 1)


def _drifts(result: BenchResult, side: Side, moments: Sequence[PairGroup]) -> bool:
    """Whether a side's times of a token changed on the way. One prompt's are compared with no other's speculation."""
    alike = side == "without" or result.settings.repeats > 1 or any(group.concurrency > 1 for group in moments)
    seconds = [group.token_seconds(side) for group in moments]
    if not alike or len(seconds) < FEWEST_BLOCKS or result.imported:
        return False
    middle = len(seconds) // 2
    early, late = median(seconds[:middle]), median(seconds[middle:])
    return max(early / late, late / early) > DRIFT


def _hides_tokens(pairs: Sequence[AnswerPair]) -> bool:
    """Whether a server counts tokens that it did not send: more than its parts hold, or with too few characters."""
    uncounted = [pair for pair in pairs if not pair.parts_counted and pair.cut != "no count"]
    plain = [pair.without for pair in uncounted if pair.without.part_seconds]
    if sum(each.tokens or 0 for each in plain) > HIDDEN * sum(len(each.part_seconds) for each in plain) > 0:
        return True
    written = {side: sum(len(pair.answer(side).text) for pair in uncounted) for side in SIDES}
    counted = {side: sum(pair.answer(side).tokens or 0 for pair in uncounted) for side in SIDES}
    if not all(written.values()) or not all(counted.values()):
        return False
    ours, plain_length = (written[side] / counted[side] for side in SIDES)
    return max(ours / plain_length, plain_length / ours) > HIDDEN


def _side(
    result: BenchResult, side: Side, concurrency: int, sample: Sequence[PairGroup], blocks: Iterable[ServedBlock]
) -> SideFigures:
    """Of the answers that have a partner; of one server alone, of all that are long enough."""
    own = [answer for answer in result.done() if (answer.side, answer.concurrency) == (side, concurrency)]
    timed = [pair.timed[side] for group in sample for pair in group.pairs]
    timed = timed or [each for answer in own if (each := timed_until(answer, answer.tokens or 0)[0]).usable]
    means = [group.token_seconds(side) for group in sample] or [each.token_seconds for each in timed]
    counted = all(pair.cut != "no count" for group in sample for pair in group.pairs)
    ran = [block for block in usable_blocks(blocks) if block.side == side]
    return SideFigures(
        1 / geometric_mean(means) if means and counted else None,
        (median(each.first for each in timed) or None) if timed else None,  # 0: not streamed
        median(each.last for each in timed) if timed else None,
        sum(block.tokens for block in ran) / sum(block.ended - block.began for block in ran) if ran else None,
    )


def stops_paying(words: dict[int, VerdictWord]) -> StopsPaying:
    numbers = sorted(words)
    helps = [number for number in numbers if words[number] == HELPS]
    hurts = [number for number in numbers if words[number] == HURTS]
    begin = list(takewhile(lambda number: words[number] == HELPS, numbers))
    after = [number for number in hurts if not helps or number > max(helps)]
    from_ = after[0] if after and after == [number for number in numbers if number >= after[0]] else None
    even, untold = ([number for number in numbers if words[number] == word] for word in (EVEN, UNTOLD))
    return StopsPaying(helps, hurts, even, untold, begin[-1] if begin else None, from_)
