"""Figures computed from a trace. Pure functions: no model, no clock, no Streamlit."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from itertools import accumulate, zip_longest
from math import comb, nan
from statistics import median
from typing import Any, Self

from specviz.core.judge import Interval, Judgement, judge
from specviz.core.numbers import localize
from specviz.core.rounds import NEVER_JUDGED, known_seconds
from specviz.core.texts import Sentences
from specviz.core.theory import verification_steps
from specviz.core.trace import Autoregressive, Round, Trace

CONFIDENCE = 0.95
SHORTEST = 1e-9  # seconds; no clock measures less


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a round, in units of one single-token target step."""

    step_seconds: float  # that unit: the plain run's median step
    cost_ratio: float  # c: one draft step, which drafts one token, or all nodes of one depth of a tree
    verification: dict[int, float]  # v(k): target time for k tokens at once
    overhead: float  # o: round time that is neither draft nor verify
    blocks: tuple["Costs", ...] = ()  # the same of each block of repeats alone; empty: not known, as in older files

    @classmethod
    def from_blocks(cls, blocks: Sequence[Self]) -> Self:
        """The median of each figure over blocks of repeats, at least one, which keep their own figures."""
        sizes = set(blocks[0].verification).intersection(*(block.verification for block in blocks))
        return cls(
            median(block.step_seconds for block in blocks),
            median(block.cost_ratio for block in blocks),
            {k: median(block.verification[k] for block in blocks) for k in sorted(sizes)},
            median(block.overhead for block in blocks),
            tuple(blocks),
        )

    def round_steps(self, drafted: int, depth: int | None = None) -> float:
        """The time of a round with this many drafted tokens, nc + v(n+1) + o; with a tree, dc + v(n+1) + o.

        The draft takes one step for each of a tree's d depths. `depth` None: the draft is a chain, and d is n.
        """
        steps = drafted if depth is None else depth
        return steps * self.cost_ratio + verification_steps(self.verification, drafted + 1) + self.overhead

    def interval(self, figure: Callable[["Costs"], float]) -> Interval | None:
        """The 95 % interval of a figure of these costs, over their blocks; None with too few blocks."""
        return interval_of_median([figure(block) for block in self.blocks])

    @property
    def of_draft(self) -> Interval | None:
        """The interval of c."""
        return self.interval(lambda costs: costs.cost_ratio)

    def check_interval(self, tokens: int) -> Interval | None:
        """The interval of v(`tokens`)."""
        return self.interval(lambda costs: verification_steps(costs.verification, tokens))


def interval_of_median(values: Sequence[float]) -> Interval | None:
    """The 95 % interval of the median of such values: from one of them to another, whatever their distribution.

    Each is above the median with probability ½, so as many are left out on each side as the binomial allows (the
    interval of the sign test). A few that were disturbed therefore do not widen it. None for fewer than six: all of
    five hold the median with 94 % only.
    """
    number, out, outside = len(values), 0, 2.0 * 0.5 ** len(values)
    if outside > 1 - CONFIDENCE:
        return None
    while (more := 2 * comb(number, out + 1) * 0.5**number) + outside <= 1 - CONFIDENCE:
        out, outside = out + 1, outside + more
    ordered = sorted(values)
    return ordered[out], ordered[number - 1 - out]


say = Sentences("metrics")


@dataclass(frozen=True, slots=True)
class Counts:
    """How many tokens of some rounds were drafted, accepted, rejected, discarded and emitted.

    Of a tree, every node is drafted, and the nodes that were not taken count as discarded: neither was judged.
    """

    rounds: int = 0
    drafted: int = 0
    accepted: int = 0
    rejected: int = 0
    discarded: int = 0
    emitted: int = 0

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted; None when nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def per_judgement_rate(self) -> float | None:
        """Accepted / (accepted + rejected): the estimate of the papers' alpha; None when nothing was judged."""
        judged = self.accepted + self.rejected
        return self.accepted / judged if judged else None

    @property
    def tokens_per_target_call(self) -> float | None:
        """Emitted tokens / rounds (block efficiency, tau); None before the first round."""
        return self.emitted / self.rounds if self.rounds else None

    @property
    def figures(self) -> dict[str, Any]:
        """The counts and the rates, by their names."""
        rates = ("acceptance_rate", "per_judgement_rate", "tokens_per_target_call")
        return asdict(self) | {name: getattr(self, name) for name in rates}

    def plus(self, round: Round) -> "Counts":
        statuses = [token.status for token in round.drafted]  # once: a page counts the rounds of a long run many times
        accepted = statuses.count("accepted")
        return Counts(
            self.rounds + 1,
            self.drafted + len(statuses),
            self.accepted + accepted,
            self.rejected + statuses.count("rejected"),
            self.discarded + statuses.count("discarded") + statuses.count("not taken"),
            self.emitted + accepted + (round.emitted.kind != "none"),
        )


def count(rounds: Sequence[Round]) -> Counts:
    return reduce(Counts.plus, rounds, Counts())


@dataclass(frozen=True, slots=True)
class PositionCounts:
    position: int
    judged: int
    accepted: int

    @property
    def rate(self) -> float | None:
        """h_j: accepted / judged at this position; None when it was never judged."""
        return self.accepted / self.judged if self.judged else None


def count_by_position(rounds: Sequence[Round], draft_length: int) -> list[PositionCounts]:
    """Judged and accepted tokens for positions 1 to `draft_length` of the draft.

    Of a tree, a position is a depth. It counts as judged once, however many siblings were tried there.
    """
    judged, accepted = [0] * draft_length, [0] * draft_length
    for round in rounds:
        statuses = list(zip(round.depths, (token.status for token in round.drafted), strict=True))
        for depth in {depth for depth, status in statuses if status not in NEVER_JUDGED and depth < draft_length}:
            judged[depth] += 1
            accepted[depth] += (depth, "accepted") in statuses
    return [PositionCounts(i + 1, judged[i], accepted[i]) for i in range(draft_length)]


def per_place_rate(rounds: Sequence[Round]) -> float | None:
    """Accepted / judged places; None when nothing was judged.

    For a chain it is the per-judgement rate. In a tree several tokens are judged for one place, until one is accepted.
    """
    if not any(round.is_tree for round in rounds):
        return count(rounds).per_judgement_rate
    positions = count_by_position(rounds, max(round.depth for round in rounds))
    judged = sum(each.judged for each in positions)
    return sum(each.accepted for each in positions) / judged if judged else None


def autoregressive_clock(plain: Autoregressive, tokens: int) -> list[float]:
    """The seconds after which the target alone has written 0, 1, ... `tokens` tokens.

    If the plain run stopped earlier (a sampled run is another draw), its median step is used for the rest.
    """
    steps = plain.seconds_per_token[:tokens]
    missing = tokens - len(steps)
    if missing > 0 and steps:
        steps = steps + [median(steps)] * missing
    return list(accumulate(steps, initial=0.0))


def running(trace: Trace) -> list[tuple[Counts, float | None]]:
    """After each round what was counted so far, and the speedup: autoregressive / speculative seconds without prefill.

    The speedup is measured, of one pair of runs; None from a round without times on, and before the target alone has
    written as many tokens.
    """
    counts = list(accumulate(trace.rounds, Counts.plus, initial=Counts()))[1:]
    plain, total = trace.autoregressive, counts[-1].emitted if counts else 0
    if plain and not trace.output.stopped_by:  # the run goes on: only what the target alone has written
        total = min(total, len(plain.token_ids))
    clock = autoregressive_clock(plain, total) if plain else []
    spent = accumulate(nan if round.seconds is None else round.seconds for round in trace.rounds)
    return [
        (found, clock[found.emitted] / seconds if found.emitted < len(clock) and seconds >= SHORTEST else None)
        for found, seconds in zip(counts, spent, strict=True)
    ]


def speedup(trace: Trace) -> float | None:
    """Autoregressive / speculative seconds over the whole run; None without rounds or a plain run."""
    states = running(trace)
    return states[-1][1] if states else None


def costs(trace: Trace) -> Costs | None:
    """The costs measured by one trace (medians); None without a plain run, a drafted token or times.

    A check that was timed once, as that of a short last round, says nothing where others were timed more often.
    """
    drafting = [round for round in trace.rounds if round.drafted]
    if not trace.autoregressive or not trace.autoregressive.seconds_per_token or not drafting or not trace.timed:
        return None
    step = median(trace.autoregressive.seconds_per_token)
    verify_seconds: dict[int, list[float]] = defaultdict(list)
    for round in trace.rounds:
        verify_seconds[len(round.drafted) + 1].append(known_seconds(round.verify_seconds))
    repeated = {k: seconds for k, seconds in verify_seconds.items() if len(seconds) > 1}
    checks = {k: median(seconds) for k, seconds in sorted((repeated or verify_seconds).items())}
    if min(step, *checks.values()) < SHORTEST:
        return None
    return Costs(
        step_seconds=step,
        cost_ratio=median(known_seconds(round.draft_seconds) / round.depth for round in drafting) / step,
        verification={k: seconds / step for k, seconds in checks.items()},
        overhead=median(known_seconds(round.overhead_seconds) for round in trace.rounds) / step,
    )


def speedup_at(rounds: Sequence[Round], costs: Costs) -> float | None:
    """What these very rounds gain at these costs: tokens / their time in target steps. None without a round."""
    steps = sum(costs.round_steps(len(round.drafted), round.depth) for round in rounds)
    return count(rounds).emitted / steps if steps else None


def span(interval: Interval, unit: str = "") -> str:
    """ "1.41× to 1.52×"; one figure where both ends are the same as they are said."""
    low, high = (f"{localize(end, '.2f')}{unit}" for end in interval)
    return low if low == high else say("between", low=interval[0], high=interval[1], unit=unit)


def estimated_at(rounds: Sequence[Round], costs: Costs) -> Judgement | None:
    """What `speedup_at` gives, with its interval over the repeats of the costs; None without a round.

    The counts of the rounds are exact.
    """
    speedup, interval = speedup_at(rounds, costs), costs.interval(lambda block: speedup_at(rounds, block) or 0.0)
    return judge(speedup, interval, modelled=True) if speedup else None


def say_estimate(modelled: Judgement) -> str:
    """ "1.41 to 1.52", or "about 1.46" where its interval is not known."""
    return span(modelled.interval) if modelled.interval else say("about", speedup=modelled.speedup)


def first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The first place where two outputs differ, or where the longer one goes on."""
    return next((at for at, (a, b) in enumerate(zip_longest(one, other)) if a != b), None)


NGRAM = 4


def repetition(token_ids: Sequence[int]) -> float | None:
    """The share of a text's 4-grams that occurred earlier in it, 0 to 1; None for a text shorter than one.

    Greedy decoding often ends in a loop, which any draft guesses easily. Source: seq-rep-4 of Welleck et al., "Neural
    Text Generation with Unlikelihood Training" (2019).
    """
    grams = [tuple(token_ids[i : i + NGRAM]) for i in range(len(token_ids) - NGRAM + 1)]
    return 1 - len(set(grams)) / len(grams) if grams else None
