"""What production's counters say, with and without a measured speedup, and which draft length to try. Pure.

Every sentence says what is assumed.

A round's cost R is in target steps: the time of one round over the time of one plain step. A speedup S and the counted
tokens per target call τ give it: S = τ / R (the definition of the speedup; Leviathan's Theorem 3.8 has R = γc + 1).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from specviz.core import theory
from specviz.core.errors import InputError
from specviz.core.judge import NEUTRAL, judge
from specviz.core.metrics import span
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.texts import Sentences, join_choices
from specviz.data.published import GPU_COSTS, PUBLISHED, GpuCosts, PublishedRun
from specviz.measure.worksheet import model as worksheet
from specviz.measure.worksheet.starts import CostsOrigin, WorksheetStart
from specviz.systems.counts import Counts

GROWING = (0.5, 0.75, 1.0)  # shares of a round's extra cost that may grow with the draft; the rest is paid every round
MIDDLE = GROWING[1]
LEAST_GUESS: float = min(*(each.cost_ratio for each in GPU_COSTS), *(each.cost_ratio for each in PUBLISHED))
MOST_SPEEDUP = 100
GOOD = 0.9  # a draft length is recommended if it reaches this share of the best speed at each of GROWING
say, say_advice = Sentences("serving"), Sentences("advice")


class OtherMachine(NamedTuple):
    name: str  # the pair and its machine
    speed: float  # at the counted draft length
    best: int  # the draft length up to that one with the highest speed


@dataclass(frozen=True, slots=True)
class Production:
    """Counters and the model that goes with them: production's acceptance and draft length, and costs."""

    counters: Counts
    model: worksheet.WorksheetModel
    speedup: float | None = None  # measured

    @property
    def tokens(self) -> float:
        """τ: tokens of a call that checks a draft. Counted, but if `calls_assumed` with a chosen γ."""
        return self.counters.tokens_per_target_call or 1.0

    @property
    def draft_length(self) -> int:
        return self.model.draft_length

    @property
    def share(self) -> float:
        return self.counters.drafting_share or 1.0

    @property
    def most(self) -> float:
        """Tokens of a call over all calls: the highest possible speedup, because a call takes at least one step."""
        return self.share * self.tokens + 1 - self.share

    @property
    def ceiling(self) -> float:
        """The highest speedup that these counters allow, over all calls; with assumed calls, at the longest draft."""
        if self.counters.calls_assumed:
            return max(self.most, 1 + (self.counters.acceptance_rate or 0.0) * MAX_DRAFT_LENGTH)
        return self.most

    @property
    def never_pays(self) -> bool:
        """Whether no cost of a round makes these counters pay: a round takes at least one plain step."""
        return self.ceiling <= NEUTRAL * (1 + LEAST_GUESS)

    @property
    def round_cost(self) -> float:
        """R in target steps: inferred from the measured speedup if there is one, else of the model.

        R = τ / S. If only a share of the calls drafts, the others cost one step each and write one token. InputError: a
        round would take less than one plain step.
        """
        if self.speedup is None:
            return self.model.terms.steps
        cost = (self.most / self.speedup - (1 - self.share)) / self.share
        if cost < 1 / NEUTRAL:
            raise InputError(say("too_fast", speedup=self.speedup, written=self.most))
        return max(1.0, cost)

    @property
    def speed(self) -> float:
        """The measured speedup, or the modelled one over all calls: a call without a draft is one plain step."""
        return self.over_calls(self.tokens, self.round_cost) if self.speedup is None else self.speedup

    def over_calls(self, tokens: float, cost: float) -> float:
        """The speedup if a round writes so many tokens in `cost` steps; calls without a draft are plain steps."""
        plain = 1 - self.share
        return (self.share * tokens + plain) / (self.share * cost + plain)

    @property
    def elsewhere(self) -> list[OtherMachine]:
        """The same counters at the costs of each published pair, the slowest first. Each is of one text at a time."""
        published: list[GpuCosts | PublishedRun] = [*GPU_COSTS, *PUBLISHED]
        places = []
        for name, each in {f"{each.pair}, {each.machine}": each for each in published}.items():
            checks, lengths = getattr(each, "verification", None) or 1.0, range(1, self.draft_length + 1)
            steps = [each.cost_ratio / length if self.model.block else each.cost_ratio for length in lengths]
            costs = [theory.round_steps(length, step, checks) for length, step in zip(lengths, steps, strict=True)]
            tokens = (self.model.at(length).tokens for length in lengths)
            speeds = [self.over_calls(*of_length) for of_length in zip(tokens, costs, strict=True)]
            places.append(OtherMachine(name, speeds[-1], 1 + speeds.index(max(speeds))))
        return sorted(places, key=lambda place: place.speed)

    @property
    def speeds(self) -> str:
        places = self.elsewhere
        return span((places[0].speed, places[-1].speed), "×")

    @property
    def lengths(self) -> str:
        best = sorted({each.best for each in self.elsewhere})
        return say("lengths", first=best[0], last=best[-1]) if len(best) > 1 else str(best[0])

    @property
    def counted(self) -> str:
        """The tokens per target call, and how that is known; no sentence yet."""
        return say_advice("assumed_calls" if self.counters.calls_assumed else "counted_calls", found=self)

    @property
    def plain_calls(self) -> str:
        return say_advice("plain_calls", found=self) if self.share < 1 else ""


def production(counters: Counts, costs: worksheet.WorksheetModel, speedup: float | None) -> Production:
    """InputError, one sentence, where the measured speedup cannot be."""
    if speedup is not None and not 0 < speedup < MOST_SPEEDUP:
        raise InputError(say("speedup_between", most=MOST_SPEEDUP))
    length = max(1, round(counters.draft_length)) if counters.draft_length else costs.draft_length
    counters = counters.assuming(length)
    if counters.accepted_per_call(length) > length:  # drafts of several lengths: the mean rounds below what fits
        length += 1
    checking = min(worksheet.MOST_VERIFICATION, replace(costs, batch=1).steps(length + 1))
    counted = counters.survival if len(counters.survival) >= length else ()
    alike, block = counters.alike_alpha(length), counters.block
    model = replace(costs, alpha=alike, draft_length=length, verification=checking, survival=counted, block=block)
    found = Production(counters, model, speedup)
    return found if speedup is None else replace(found, model=_explaining(model, found.round_cost))


def _explaining(model: worksheet.WorksheetModel, cost: float) -> worksheet.WorksheetModel:
    """The model with costs that add up to this round, in a batch of 1: `MIDDLE` of the rest grows with the draft."""
    length, extra = model.draft_length, cost - 1
    drafting, checking = length * model.guess_cost(length), model.verification - 1
    part = drafting / (drafting + checking) if drafting + checking else 0.5
    steps = 1 if model.block else length
    cost_ratio = min(worksheet.MOST_COST, MIDDLE * extra * part / steps)
    verification = min(worksheet.MOST_VERIFICATION, 1 + MIDDLE * extra * (1 - part))
    overhead = min(worksheet.MOST_OVERHEAD, cost - steps * cost_ratio - verification)
    model = replace(model, cost_ratio=cost_ratio, verification=verification, overhead=overhead)
    return replace(model, batch=1, passes=None, checks={})  # what other passes cost on that machine is not known


def production_start(found: Production, costs: CostsOrigin) -> WorksheetStart:
    """Production to start from. The counts are as pasted if every round drafted γ tokens, else of 1,000 rounds."""
    counters, length = found.counters, found.draft_length
    alike = counters.checked is None and abs((counters.draft_length or 0) - length) < 0.01
    if alike and counters.drafted and counters.accepted is not None and counters.drafted <= worksheet.MOST_TOKENS:
        drafted, accepted, counted = round(counters.drafted), round(counters.accepted), say("counted_there")
    else:
        drafted, accepted = 1000 * length, round(1000 * counters.accepted_per_call(length))
        counted = say("counted_thousand")
    inferred = found.speedup is not None
    origin = CostsOrigin(say("inferred"), are_told=True, contain_load=True) if inferred else costs
    batch, running = found.model.batch, counters.running
    if running and not origin.contain_load:
        batch = min(worksheet.BATCHES, key=lambda size: abs(size - running))
    said = [counted, *[say("chosen_length", length=length)] * counters.calls_assumed]
    said.append(say("costs_inferred") if inferred else say("costs_assumed", costs=costs.name))
    return WorksheetStart(
        say("from_production", engine=counters.engine),
        " ".join(said),
        replace(found.model, batch=batch),
        drafted,
        accepted,
        found.model.checks,
        costs_from=origin,
    )


@dataclass(frozen=True, slots=True)
class Length:
    draft_length: int
    slowest: float  # modelled speedup, at the worst of GROWING
    fastest: float
    good: bool  # whether it is recommended


def draft_lengths(found: Production) -> list[Length]:
    lengths = range(1, found.draft_length + 1)
    speeds = [[_speed(found, length, growing) for length in lengths] for growing in GROWING]
    reached = [min(row[index] / max(row) for row in speeds) for index in range(len(lengths))]
    enough = min(GOOD, max(reached))
    return [
        Length(length, min(at), max(at), share >= enough)
        for length, share, at in zip(lengths, reached, zip(*speeds, strict=True), strict=True)
    ]


def _speed(found: Production, length: int, growing: float) -> float:
    cost = 1 + (found.round_cost - 1) * (1 - growing + growing * length / found.draft_length)
    return found.over_calls(found.model.at(length).tokens, cost)


def headline(found: Production, costs: CostsOrigin) -> str:
    """The verdict: measured; without a measured speedup, that there is none, and what is known instead."""
    word, why = verdict(found)
    said = f"**{word}** {why}"
    if found.speedup is not None or not costs.are_told:
        return said
    judged = judge(found.speed, None, modelled=True)
    return f"{said} {say_advice('at_costs', found=found, costs=costs.name, judged=judged)}"


def verdict(found: Production) -> tuple[str, str]:
    """By a measured speedup, else by what any cost of a round would allow; and why."""
    if found.speedup is not None:
        return say_advice("measured", judged=judge(found.speed, None)), say_advice("measured_costs", found=found)
    if found.never_pays:
        return say_advice("never"), say_advice("never_pays", found=found)
    places = found.elsewhere
    known = say_advice("known", found=found, pairs=len(places), slowest=places[0], fastest=places[-1])
    return say_advice("untold"), known


def advice(found: Production) -> str:
    """Which draft length to try. Without a measured speedup that needs costs of a round, so it is a range."""
    if found.never_pays:
        return say_advice("check_first")
    if found.speedup is None:
        return say_advice("length_untold", found=found, lengths=found.lengths)
    good = [each for each in draft_lengths(found) if each.good]
    if good[-1].draft_length == found.draft_length:
        return say_advice("keep", found=found)
    speeds = [
        say_advice("speed_at", speeds=span((each.slowest, each.fastest), "×"), length=each.draft_length)
        for each in good
    ]
    lengths = join_choices([each.draft_length for each in good])
    return say_advice("try_shorter", good=lengths, found=found, speeds=join_choices(speeds, "and"))
