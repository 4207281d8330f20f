"""What a bench of two servers found at each load, and why it may be doubted. Pure.

Each ratio is measured. Its interval is over prompts where one request is under way, else over blocks: the requests of a
block share its moment. What is not trusted has no verdict.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from statistics import geometric_mean, median
from typing import Literal

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import NEUTRAL
from specviz.core.texts import Sentences, join_choices
from specviz.measure.endpoints.acceptance import Tally, count_answer, find_acceptance
from specviz.measure.endpoints.pairs import (
    AnswerPair,
    Gain,
    PairGroup,
    find_sameness,
    group_pairs,
    pair_answers,
    serve_blocks,
    time_whole,
)
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, BenchSettings, Side, Span

say, say_doubt = Sentences("bench"), Sentences("bench-warnings")
STRETCHES = 6  # of a bench with one request under way
DRIFT = 1.5  # a side's later blocks over its earlier ones, or the reverse
FEWEST_BLOCKS = 4  # from which they are compared
NOISE = 1.1  # of one prompt's speedup
HIDDEN = 1.25  # tokens of a part, or characters of a token, over those that can be
LOST = 0.1  # of the requests to a server
Doubt = Literal["impossible", "drift", "hidden", "lost"]


def name_loads(settings: BenchSettings, *loads: float) -> str:
    """ "concurrency 1 and 4", "2 and 4 requests a second" """
    numbers = join_choices([f"{load:g}" for load in loads], "and")
    if not settings.rates:
        return say("at_concurrencies", numbers=numbers)
    return say("at_rates", numbers=numbers, rate=loads[0] if len(loads) == 1 else len(loads))


@dataclass(frozen=True, slots=True)
class SideFigures:
    """One server at one load."""

    tokens_per_second: float | None  # of one user: of the time per output token, the geometric mean over the sample
    throughput: float | None  # tokens a second of all users together, over the time in which its blocks ran


@dataclass(frozen=True, slots=True)
class LoadFindings:
    """What was measured at one load."""

    load: float  # requests under way, or requests a second
    settings: BenchSettings  # of the whole bench
    answers: dict[Side, list[Answer]]  # those that failed too
    tally: Tally  # what was accepted; nothing where that is not known
    prompts: list[PairGroup]
    doubts: list[Doubt]  # why its times are not trusted
    trusted: bool  # nothing is in doubt, and the servers are what they are taken for
    speedup: Gain | None  # of the time per output token
    first: Gain | None  # of the time to the first token
    throughput: Gain | None  # tokens a second of all users together
    sides: dict[Side, SideFigures]

    @property
    def in_words(self) -> str:
        return name_loads(self.settings, self.load)


class BenchFindings:
    def __init__(self, result: BenchResult) -> None:
        self.result, self.broken = result, broken_setup(result)
        self.pairs, self.left_out = pair_answers(result)
        self.sameness = find_sameness(result)
        self.acceptance = find_acceptance(result)
        self.loads = [_load(self, load) for load in sorted({answer.load for answer in result.answers})]
        self.measured = [(load, load.speedup) for load in self.loads if load.speedup]
        self.words = {load.load: speedup.judged.word for load, speedup in self.measured}

    def gains_by_kind(self, load: LoadFindings) -> dict[str, Gain]:
        """The speedup on each kind of text, in the order of the prompts."""
        ratios: dict[str, list[float]] = {}
        for prompt in load.prompts:
            ratios.setdefault(self.result.prompts[prompt.number].workload, []).append(prompt.ratio)
        return {kind: gain for kind, its in ratios.items() if (gain := Gain.from_ratios(its, trusted=load.trusted))}


def broken_setup(result: BenchResult) -> str:
    """Why these are not a server with speculation and one without, one sentence; empty where nothing says so."""
    ours, plain = result.with_, result.without
    if plain is None or result.against_itself:
        return ""
    asked = {side: sum(span.ours for span in result.spans if span.side == side and span.asked) for side in SIDES}
    same_counts = rested(result, "without") == asked["with"] == rested(result, "with") and all(asked.values())
    if (ours.url and (ours.url, ours.model) == (plain.url, plain.model)) or same_counts:
        return say_doubt("same_server", url=ours.url)
    return say_doubt("swapped") if drafted(result, "without") and not drafted(result, "with") else ""


def rested(result: BenchResult, side: Side) -> int:
    """Tokens that it wrote while the other server was asked."""
    return sum(span.others for span in result.spans if span.side == side and not span.asked)


def drafted(result: BenchResult, side: Side) -> int:
    every: list[Answer | Span] = [*result.answers, *result.spans]
    return sum(each.accepted.drafted for each in every if each.side == side and each.accepted)


def _load(found: BenchFindings, load: float) -> LoadFindings:
    result, alone = found.result, load == 1 and not found.result.settings.rates
    every, known = [answer for answer in result.answers if answer.load == load], found.acceptance
    answers = {side: [each for each in every if each.side == side] for side in SIDES if result.server(side)}
    tally = known.by_load.get(load, Tally()) if known else Tally()
    pairs = [pair for pair in found.pairs if pair.answers["with"].load == load]
    prompts = group_pairs(pairs, lambda answer: answer.prompt)
    moments = group_pairs(pairs, lambda answer: answer.block)
    sample, compared = prompts if alone else moments, result.settings.repeats > 1 or not alone
    checks: dict[Doubt, bool] = {
        "impossible": _is_impossible(sample, tally, alone and known is not None and known.source == "answers"),
        "drift": not result.imported and any(_drifts(side, moments, compared) for side in SIDES),
        "hidden": _hides_tokens(pairs),
        "lost": any(sum(bool(each.problem) for each in its) > LOST * len(its) for its in answers.values()),
    }
    doubts = [doubt for doubt, is_so in checks.items() if is_so]
    blocks, sides = serve_blocks(every) if result.blocks_timed else [], dict[Side, SideFigures]()
    counted = not checks["hidden"] and all(pair.cut != "no_count" for pair in pairs)
    for side, its in answers.items():
        # Of the answers that have a partner; of one server alone, of all that are long enough.
        own = time_whole(answer for answer in its if not answer.problem)
        means = [group.token_seconds(side) for group in sample] or [each.token_seconds for each in own]
        ran = [block[side] for block in blocks if side in block]
        sides[side] = SideFigures(
            1 / geometric_mean(means) if means and counted else None,
            sum(each.tokens for each in ran) / sum(each.seconds for each in ran) if ran else None,
        )
    trusted = not doubts and not found.broken
    gain = partial(Gain.from_ratios, trusted=trusted)
    speedup, first = gain(group.ratio for group in sample), gain(group.first_ratio for group in sample)
    throughput = gain(block["with"].rate / block["without"].rate for block in blocks if len(block) == 2)
    speedup = _widened(speedup, moments) if alone else speedup
    return LoadFindings(
        load, result.settings, answers, tally, prompts, doubts, trusted, speedup, first, throughput, sides
    )


def _widened(speedup: Gain | None, moments: Sequence[PairGroup]) -> Gain | None:
    """With the interval over stretches of the bench, if it is wider: prompts that follow each other share a moment.

    Where prompts were asked in their own order, a stretch is also of one kind of text, so it says nothing of moments.
    """
    first = [group.pairs[0].answers["with"] for group in moments]
    asked = [(answer.repeat, answer.prompt) for answer in first]
    if speedup is None or speedup.interval is None or len(moments) < 2 * STRETCHES or asked == sorted(asked):
        return speedup
    edges = [len(moments) * place // STRETCHES for place in range(STRETCHES + 1)]
    means = [geometric_mean([group.ratio for group in moments[start:end]]) for start, end in pairwise(edges)]
    low, high = interval_of_ratios(means)
    half = math.sqrt(max(high / low, speedup.interval[1] / speedup.interval[0]))
    return replace(speedup, interval=(speedup.value / half, speedup.value * half))


def _is_impossible(sample: Sequence[PairGroup], tally: Tally, each: bool) -> bool:
    """Whether a speedup (with `each`, of one group) is above a round's tokens: a round takes at least a plain step."""
    for group in sample if each else ():
        tokens = Tally.of(count_answer(pair.answers["with"]) for pair in group.pairs).tokens_per_call
        if tokens and group.ratio > NOISE * NEUTRAL * tokens:
            return True
    if not sample or not tally.drafted or not tally.tokens_per_call:
        return False
    return geometric_mean([group.ratio for group in sample]) > NEUTRAL * tally.tokens_per_call


def _drifts(side: Side, moments: Sequence[PairGroup], compared: bool) -> bool:
    """Whether a side's times of a token changed on the way. One prompt's are compared with no other's speculation."""
    seconds = [group.token_seconds(side) for group in moments]
    if len(seconds) < FEWEST_BLOCKS or not (compared or side == "without"):
        return False
    middle = len(seconds) // 2
    early, late = median(seconds[:middle]), median(seconds[middle:])
    return max(early / late, late / early) > DRIFT


def _hides_tokens(pairs: Sequence[AnswerPair]) -> bool:
    """Whether a server counts tokens that it did not send: more than its parts hold, or with too few characters.

    Where parts are counted, those before the first one are in it; with most tokens in it, too few are timed.
    """
    if any(2 * timed.opening > timed.tokens for pair in pairs for timed in pair.timed.values()):
        return True
    counted = [pair for pair in pairs if pair.cut != "no_count"]
    every = [pair.answers for pair in counted if any(not each.part_tokens for each in pair.answers.values())]
    streamed = [both["without"] for both in every if both["without"].part_seconds]
    written = {side: sum(len(both[side].text) for both in every) for side in SIDES}
    tokens = {side: sum(both[side].tokens or 0 for both in every) for side in SIDES}
    if sum(each.tokens or 0 for each in streamed) > HIDDEN * sum(len(each.part_seconds) for each in streamed):
        return True
    if not all(written.values()) or not all(tokens.values()):
        return False
    ours, plain = (written[side] / tokens[side] for side in SIDES)
    return max(ours / plain, plain / ours) > HIDDEN
