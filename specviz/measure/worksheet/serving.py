"""What production's counters say, with and without a measured speedup. Pure; every sentence says what is assumed.

A round's cost R is in target steps: the time of one round over the time of one plain step. A speedup S and the counted
tokens a round τ give it: S = τ / R (the definition of the speedup; Leviathan's Theorem 3.8 has R = γc + 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.core.errors import InputError
from specviz.core.judge import NEUTRAL
from specviz.data.serving_counters import ServingCounters
from specviz.measure.worksheet.model import (
    BATCHES,
    MOST_COST,
    MOST_OVERHEAD,
    MOST_TOKENS,
    MOST_VERIFICATION,
    Model,
)
from specviz.measure.worksheet.starts import IN_BATCHES, Start

GROWING = (0.5, 0.75, 1.0)  # shares of a round's extra cost that may grow with the draft; the rest is paid every round
MIDDLE = GROWING[1]
MOST_SPEEDUP = 100
INFERRED = "inferred from the measured speedup"
GOOD = 0.9  # a draft length is recommended if it reaches this share of the best speed at each of GROWING


@dataclass(frozen=True, slots=True)
class Production:
    """Counters and the model that goes with them: production's acceptance and draft length, and costs."""

    counters: ServingCounters
    model: Model
    speedup: float | None = None  # measured

    @property
    def tokens(self) -> float:
        """τ, counted: tokens of a call that checks a draft."""
        return self.counters.tokens_per_target_call or 1.0

    @property
    def draft_length(self) -> int:
        return self.model.draft_length

    @property
    def share(self) -> float:
        """The share of the calls that checked a draft; 1 if it is unknown."""
        return self.counters.drafting_share or 1.0

    @property
    def round_cost(self) -> float:
        """R in target steps: inferred from the measured speedup if there is one, else of the model."""
        if self.speedup is None:
            terms = self.model.terms
            return terms.draft_length * terms.cost_ratio + terms.verification + terms.overhead
        return inferred_cost(self.tokens, self.speedup, self.share)

    @property
    def speed(self) -> float:
        """The measured speedup, or the modelled one over all calls: a call without a draft is one plain step."""
        if self.speedup is not None:
            return self.speedup
        plain = 1 - self.share
        return (self.share * self.tokens + plain) / (self.share * self.round_cost + plain)

    @property
    def survival(self) -> tuple[float, ...]:
        """Share of rounds that accept position 1, 2, ... of γ: counted, or modelled with every position alike."""
        counted = self.counters.survival
        if len(counted) >= self.draft_length:
            return counted
        return tuple(self.model.alpha**position for position in range(1, self.draft_length + 1))

    def tokens_at(self, length: int) -> float:
        """Tokens of a round that drafts `length` tokens, at most γ."""
        return 1 + sum(self.survival[:length])

    @property
    def positions_counted(self) -> bool:
        return len(self.counters.survival) >= self.draft_length


def inferred_cost(tokens: float, speedup: float, share: float = 1.0) -> float:
    """R = τ / S. If only a share of the calls drafts, the others cost one step each and write one token.

    Raises:
        InputError: the round would cost less than the one plain step that is part of it.
    """
    written = share * tokens + 1 - share
    cost = (written / speedup - (1 - share)) / share
    if cost < 1 / NEUTRAL:
        raise InputError(
            f"A speedup of {speedup:.2f}× with {written:.2f} tokens per target call would need rounds faster than one "
            "plain step: the speedup and the counters are not of the same traffic, or something else changed too."
        )
    return max(1.0, cost)


def production(counters: ServingCounters, costs: Model, speedup: float | None) -> Production:
    """Production's acceptance at these costs; with a measured speedup, at costs that explain it."""
    length = max(1, round(counters.draft_length)) if counters.draft_length else costs.draft_length
    counters = counters.assuming(length)
    if counters.accepted_per_call(length) > length:  # drafts of several lengths: the mean rounds below what fits
        length += 1
    checking = min(MOST_VERIFICATION, replace(costs, batch=1).steps(length + 1))
    model = replace(costs, alpha=counters.alike_alpha(length), draft_length=length, verification=checking)
    found = Production(counters, model, speedup)
    return found if speedup is None else replace(found, model=_explaining(model, found.round_cost))


def _explaining(model: Model, cost: float) -> Model:
    """The model with costs that add up to this round, in a batch of 1: the measured speedup contains its own batch.

    The split is assumed: `MIDDLE` of the extra cost grows with the draft, in c and v as the sliders have them; the rest
    is o.
    """
    length, extra = model.draft_length, cost - 1
    drafting, checking = length * model.cost_ratio, model.verification - 1
    part = drafting / (drafting + checking) if drafting + checking else 0.5
    cost_ratio = min(MOST_COST, MIDDLE * extra * part / length)
    verification = min(MOST_VERIFICATION, 1 + MIDDLE * extra * (1 - part))
    overhead = min(MOST_OVERHEAD, cost - length * cost_ratio - verification)
    return replace(model, cost_ratio=cost_ratio, verification=verification, overhead=overhead, batch=1)


def measured_speedup(speedup: float | None, without: float | None, speculative: float | None) -> float | None:
    """The measured speedup as given, or from two latencies of the same work; None if neither is given.

    Raises:
        InputError: one latency alone, a zero, or a speedup that the latencies contradict.
    """
    if (without is None) != (speculative is None):
        raise InputError("Give both latencies, without and with speculation, or none.")
    if without is None or speculative is None:
        given = speedup
    elif without > 0 and speculative > 0:
        given = without / speculative
    else:
        raise InputError("A latency must be above 0.")
    if given is not None and not 0 < given < MOST_SPEEDUP:
        raise InputError(f"A measured speedup must be above 0 and below {MOST_SPEEDUP}.")
    if given and speedup is not None and abs(given / speedup - 1) > 0.02:
        raise InputError(f"The latencies give {given:.2f}×, not {speedup:.2f}×: clear one of the two.")
    return given


def production_start(found: Production, costs_from: str) -> Start:
    """Production as something to start from, so that the whole page can show it.

    The counts are as pasted if every round drafted γ tokens, else those of 1,000 rounds.
    """
    counters, length = found.counters, found.draft_length
    alike = counters.checked is None and abs((counters.draft_length or 0) - length) < 0.01
    if alike and counters.drafted and counters.accepted is not None and counters.drafted <= MOST_TOKENS:
        drafted, accepted, counted = round(counters.drafted), round(counters.accepted), "Counted there"
    else:
        drafted, accepted = 1000 * length, round(1000 * counters.accepted_per_call(length))
        counted = "Counted there, here per 1,000 rounds"
    unloaded = found.speedup is None and not contain_load(costs_from)  # else the costs contain the load
    batch = nearest_batch(counters.running) if unloaded else None
    costs = f"assumed ({costs_from})" if found.speedup is None else INFERRED
    return Start(
        f"from production: {counters.engine}",
        f"{counted}: the acceptance. The costs are {costs}.",
        replace(found.model, batch=batch or found.model.batch),
        drafted,
        accepted,
        costs_from=costs_from if found.speedup is None else INFERRED,
    )


def contain_load(costs_from: str) -> bool:
    """Whether costs from there are those of a pass that other texts shared, so that their batch is 1."""
    return costs_from == INFERRED or costs_from.startswith(IN_BATCHES)


def nearest_batch(running: float | None) -> int | None:
    """The batch slider's value nearest to the requests that were running; None if that is unknown."""
    return min(BATCHES, key=lambda size: abs(size - running)) if running else None


@dataclass(frozen=True, slots=True)
class Length:
    """What one draft length would bring, with production's acceptance by position."""

    draft_length: int
    tokens: float
    slowest: float  # modelled speedup, at the worst of GROWING
    fastest: float
    good: bool  # whether it is recommended


def draft_lengths(found: Production) -> list[Length]:
    """Every draft length up to production's. The cost of a shorter round depends on what grows with the draft."""
    lengths = range(1, found.draft_length + 1)
    speeds = [[_speed(found, length, growing) for length in lengths] for growing in GROWING]
    reached = [min(row[index] / max(row) for row in speeds) for index in range(len(lengths))]
    enough = min(GOOD, max(reached))
    return [
        Length(length, found.tokens_at(length), min(at), max(at), reached[index] >= enough)
        for index, length in enumerate(lengths)
        for at in [[row[index] for row in speeds]]
    ]


def _speed(found: Production, length: int, growing: float) -> float:
    """The modelled speedup over all calls, if `growing` of the extra cost grows with the draft."""
    cost = 1 + (found.round_cost - 1) * (1 - growing + growing * length / found.draft_length)
    plain = 1 - found.share
    return (found.share * found.tokens_at(length) + plain) / (found.share * cost + plain)


def recommended(lengths: Sequence[Length]) -> list[int]:
    return [each.draft_length for each in lengths if each.good]
