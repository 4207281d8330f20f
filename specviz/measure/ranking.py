"""What is known of a run's speed where the machine is too busy to time it, and which of two runs is faster. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.core.costs import Costs
from specviz.core.judge import EVEN, HELPS, HURTS, NEUTRAL, UNTOLD, Interval, judge
from specviz.core.metrics import Counts, count, estimated_at, span
from specviz.core.result import KnownCosts
from specviz.core.texts import Sentences
from specviz.core.trace import Trace
from specviz.core.verdict import doubts
from specviz.data.measured.quiet_costs import quiet_costs

say = Sentences("ranking")


@dataclass(frozen=True, slots=True)
class RankedRun:
    trace: Trace
    known: KnownCosts

    @property
    def counts(self) -> Counts:
        return count(self.trace.rounds)

    def mean_round(self, costs: Costs) -> float:
        rounds = self.trace.rounds
        return sum(costs.round_steps(len(each.drafted), each.depth) for each in rounds) / len(rounds)


def known_costs(trace: Trace, calibrated: Costs | None) -> KnownCosts | None:
    """The costs that speak for a run on a busy machine; None where nothing is known of its pair.

    First what was recorded on a quiet processor of the same kind: a calibration here may have been disturbed too. Then
    a calibration that no run doubts. Last what was recorded on another kind.
    """
    found = quiet_costs().find_for_run(trace)
    same = found is not None and found.measure_difference(trace.recorded_on)[0] == 0
    if calibrated and not same and not doubts(trace, calibrated):
        return KnownCosts(calibrated, say("this_machine"), say("calibrated"))
    if found is None or trace.drafter is None:
        return None
    source = say("recorded" if same else "elsewhere", found=found)
    return KnownCosts(found.drafts[trace.drafter.asked_as], found.processor, source)


def ranked(now: RankedRun, then: RankedRun, *, pinned: bool) -> str:
    """Which of two runs is faster, and why; empty where they are of different tasks, or no interval is known.

    `pinned`: whether the other run was pinned, and is not just the one before. The counts are exact, so only the costs
    make the ratio unsure.
    """
    if _task(now.trace) != _task(then.trace):
        return ""
    if _drafting(now.trace) == _drafting(then.trace):
        return say("again_pinned" if pinned else "again")
    one, other = (estimated_at(run.trace.rounds, run.known.costs) for run in (now, then))
    if one is None or other is None or one.interval is None or other.interval is None:
        return ""
    between = one.interval[0] / other.interval[1], one.interval[1] / other.interval[0]
    alike = between[0] >= 1 / NEUTRAL and between[1] <= NEUTRAL  # another day would tell as much apart
    word = EVEN if alike else judge(one.speedup / other.speedup, between).word
    place = (HELPS, HURTS, EVEN, UNTOLD).index(word)
    said = say(
        ("faster_pinned", "slower_pinned", "even_pinned", "untold_pinned")[place]
        if pinned
        else ("faster", "slower", "even", "untold")[place],
        times=span(between),
    )
    guesses = now.trace.settings.draft_length == then.trace.settings.draft_length  # else rounds differ in more
    gain, more = _accepted(now, then) if guesses else _tokens(now, then)
    cost, dearer = _guess(now, then) if guesses else _round(now, then)
    return say("ranked_but" if more * dearer > 0 else "ranked", gain=gain, cost=cost, verdict=said)


def fastest(runs: Sequence[tuple[int, str, Trace, Interval | None]]) -> str:
    """Which run of the newest one's task is the fastest by quiet costs; empty where nothing can say it.

    A run is its number, its draft's name, its trace, and the interval of its estimated speedup.
    """
    known = [run for run in runs if run[3] and _task(run[2]) == _task(runs[-1][2])]
    if len({draft for _, draft, _, _ in known}) < 2:
        return ""
    number, draft, _, best = max(known, key=lambda run: sum(run[3] or ()))
    near = [
        say("a_run", number=run[0], draft=run[1])
        for run in known
        if run[1] != draft and run[3] and best and run[3][1] >= best[0]
    ]
    if near:
        return say("fastest_or", number=number, draft=draft, near=", ".join(near))
    return say("fastest", number=number, draft=draft)


def _task(trace: Trace) -> tuple[object, ...]:
    """What both runs must share: speedups over different texts or targets rank nothing."""
    return trace.target, trace.prompt.text, trace.settings.temperature, trace.settings.max_new_tokens


def _drafting(trace: Trace) -> tuple[object, ...]:
    """Where this is the same too, the same tokens were drafted and accepted."""
    return trace.drafter, replace(trace.settings, seed=0) if trace.settings.greedy else trace.settings


# Each says how the two compare in one thing, and whether the run has more (1), as much (0) or less (-1) of it.


def _accepted(now: RankedRun, then: RankedRun) -> tuple[str, int]:
    here, there = (run.counts.acceptance_rate or 0.0 for run in (now, then))
    side = _side((here, here), (there, there))
    return say(("same_accepted", "more_accepted", "fewer_accepted")[side], now=here, then=there), side


def _tokens(now: RankedRun, then: RankedRun) -> tuple[str, int]:
    here, there = (run.counts.tokens_per_target_call or 0.0 for run in (now, then))
    side = _side((here, here), (there, there))
    return say(("same_tokens", "more_tokens", "fewer_tokens")[side], now=here, then=there), side


def _guess(now: RankedRun, then: RankedRun) -> tuple[str, int]:
    side = _side(now.known.costs.of_draft, then.known.costs.of_draft)
    return say(("same_guess", "more_guess", "less_guess")[side]), side


def _round(now: RankedRun, then: RankedRun) -> tuple[str, int]:
    side = _side(*(run.known.costs.interval(run.mean_round) for run in (now, then)))
    return say(("same_round", "more_round", "less_round")[side]), side


def _side(here: Interval | None, there: Interval | None) -> int:
    if here is None or there is None:
        return 0
    (low, high), (lowest, highest) = (tuple(round(end, 2) for end in ends) for ends in (here, there))
    return (low > highest) - (high < lowest)
