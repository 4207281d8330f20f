"""The verdict: whether speculation helps here, how certain that is, and what limits it.

The speedup of a verdict is always measured. The formula only explains it: which term limits it, and what breaks even.
Where it cannot, the reason says so and names neither.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from statistics import geometric_mean, median, mode
from typing import Any

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import interval_of_ratios, speedup_interval
from specviz.core.judge import HELPS, HURTS, ONE_RUN, UNTOLD, Interval, Judgement, judge, widen_for_next_run
from specviz.core.names import short_name
from specviz.core.numbers import localize
from specviz.core.rounding import judge_difference
from specviz.core.terms import Term, Terms, terms_of
from specviz.core.texts import Sentences
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace

say = Sentences("verdict")
say_result = Sentences("result", "browser")

CONTRADICTS = 1.3  # measured and modelled speedup on different sides of 1; on a quiet machine they are within 1.25
WIDE = 1.5  # high / low of an interval: wider ones come from a busy machine
FAR = 2.0  # of a target step from the calibrated one
SLOWER = 1.1  # times another plain step: the slower one was disturbed more
DOUBT = 1.25  # of the time of a round, chosen: two quiet calibrations differ by less


@dataclass(frozen=True, slots=True)
class Verdict(Judgement):
    reason: str = ""  # one to three sentences
    binding: Term | None = None  # None when nothing was drafted, or the costs do not explain the speedup
    break_even: float | None = None  # per judgement; None also if no rate pays, drafts differ, or it would mislead
    terms: Terms | None = None  # the costs that explain the label; None where they do not, or there are none


def explain_no_verdict(trace: Trace) -> str | None:
    """Why a run has no verdict, to follow "No verdict: "; None where it has one."""
    if trace.output.stopped_by is None:
        return say_result("stopped")
    if not metrics.count(trace.rounds).drafted:
        return say_result("nothing_drafted")
    if trace.autoregressive is None:
        return say_result("not_alone")
    if not metrics.speedup(trace) or not metrics.costs(trace):
        return say_result("no_times")
    return None


def verdict_of_run(trace: Trace, costs: metrics.Costs | None = None) -> Verdict | None:
    """The verdict on one run of one text; None where `explain_no_verdict` has a reason.

    It is judged by the 95 % interval of the timing (`speedup_interval`), widened by `widen_for_next_run`. A run whose
    decoders did not take turns has no interval. For `costs` see `terms_of` and `quiet`.
    """
    speedup = metrics.speedup(trace)
    if not speedup or explain_no_verdict(trace):
        return None
    timing = speedup_interval(trace)
    interval = widen_for_next_run(timing) if timing else None
    costs = quiet(trace, costs)
    if is_busy(trace, speedup, timing, costs):
        modelled = metrics.estimated_at(trace.rounds, costs) if costs and not doubts(trace, costs) else None
        return _untrusted(speedup, interval, modelled)
    return _explained(judge(speedup, interval), interval, terms_of(trace, costs))


def is_trusted(trace: Trace) -> bool:
    """False where the run's own times show that the machine was busy."""
    verdict = verdict_of_run(trace)
    return verdict is None or verdict.trusted


def quiet(trace: Trace, costs: metrics.Costs | None) -> metrics.Costs | None:
    """Calibrated costs; None for those that were calibrated on a busy machine, as this run shows.

    Other programs only slow a step. So costs with a far slower step than the run's are not used, and neither are those
    with a slower one that the run doubts.
    """
    if costs is None or _step(trace) * FAR < costs.step_seconds:
        return None
    return None if _step(trace) * SLOWER < costs.step_seconds and doubts(trace, costs) else costs


def doubts(trace: Trace, costs: metrics.Costs) -> bool:
    """Whether a run says that these costs are not those of its pair, so that they should be measured again.

    The run's own draft steps and checks are ratios of times that were taken in turns. With one of them in the place of
    the calibrated one, a round of the run must take about as long: at most `DOUBT` times longer or shorter than
    anything in the interval of the costs. A run that was disturbed more than the calibration says nothing.
    """
    own, timing = metrics.costs(trace), speedup_interval(trace)
    if own is None or timing is None or timing[1] > WIDE * timing[0] or _step(trace) > SLOWER * costs.step_seconds:
        return False
    if any(round.is_tree for round in trace.rounds):
        return False  # its checks were not calibrated
    drafted = mode(len(round.drafted) for round in trace.rounds if round.drafted)

    def outside(value: float, low: float, high: float) -> float:
        return max(low - value, value - high, 0.0)

    check, its_check = (verification_steps(each.verification, drafted + 1) for each in (own, costs))
    off_draft = drafted * outside(own.cost_ratio, *(costs.of_draft or (costs.cost_ratio, costs.cost_ratio)))
    off_check = outside(check, *(costs.check_interval(drafted + 1) or (its_check, its_check)))
    return max(off_draft, off_check) > (DOUBT - 1) * costs.round_steps(drafted)


def is_busy(trace: Trace, speedup: float, interval: Interval | None, costs: metrics.Costs | None) -> bool:
    """Whether times say more about the machine than about the two decoders: of a run, or of repeats of it.

    `interval` is the speedup's, of the noise of its times only; `costs` are quiet ones. A round takes at least as long
    as a plain step, so no speedup is above the tokens of a round.
    """
    most = ONE_RUN * (metrics.count(trace.rounds).tokens_per_target_call or math.inf)
    if is_disturbed(trace) or speedup > most or (interval and interval[1] / interval[0] > WIDE):
        return True
    modelled = costs and metrics.speedup_at(trace.rounds, costs)
    if not modelled or not costs:
        return False
    opposite = (speedup - 1) * (modelled - 1) < 0
    contradiction = opposite and max(speedup / modelled, modelled / speedup) > CONTRADICTS
    return contradiction or _step(trace) > FAR * costs.step_seconds


def is_disturbed(trace: Trace) -> bool:
    return trace.autoregressive is not None and trace.autoregressive.disturbed


def mark_disturbed(trace: Trace) -> Trace:
    """The trace for a file: it has no costs, so it says itself that its times are not trusted."""
    return replace(trace, autoregressive=trace.autoregressive and replace(trace.autoregressive, disturbed=True))


def _step(trace: Trace) -> float:
    plain = trace.autoregressive
    return median(plain.seconds_per_token) if plain and plain.seconds_per_token else 0.0


def _untrusted(speedup: float, interval: Interval | None, modelled: Judgement | None = None) -> Verdict:
    reason = say("busy")
    if modelled:
        estimated = metrics.say_estimate(modelled)
        reason = say("at_costs" if modelled.interval else "at_unsure_costs", busy=reason, speedup=estimated)
    return Verdict(UNTOLD, speedup, "interval", interval, trusted=False, reason=reason)


def verdict_of_ratios(ratios: Sequence[float], terms: Terms | None, *, trusted: bool = True) -> Verdict:
    """The verdict on repeats; `ratios` are autoregressive / speculative seconds, one a pair, at least one.

    It is judged by the 95 % interval over the repeats, where their times are `trusted` (`is_busy`). One pair has none.
    The costs are medians of few rounds, so they explain a speedup in that interval widened by `widen_for_next_run`.
    """
    if wrong := [ratio for ratio in ratios if not 0 < ratio < math.inf]:
        raise InputError(f"ratios must be numbers above 0, not {wrong[0]}.")
    interval = interval_of_ratios(ratios) if len(ratios) > 1 else None
    if not trusted:
        return _untrusted(geometric_mean(ratios), interval)
    explained = widen_for_next_run(interval) if interval else None
    return _explained(judge(geometric_mean(ratios), interval), explained, terms)


def compare_texts(trace: Trace, lead: float | None = None) -> str:
    """Whether both decoders wrote the same; `lead` as in `judge_difference`, where it is not only in the trace."""
    plain = trace.autoregressive
    if plain is None or trace.drafter is None:
        return say("only_one")
    if not trace.settings.greedy:
        return say_result("two_draws", temperature=localize(trace.settings.temperature, "g"))
    written = trace.output.token_ids
    at = metrics.first_difference(written, plain.token_ids)
    if at is None:
        return say_result("identical", count=len(written))
    if at == min(len(written), len(plain.token_ids)):
        return say_result("one_longer", count=at)
    lead = _recorded_lead(trace, at, plain.token_ids[at]) if lead is None else lead
    why = judge_difference(lead, trace.target.dtype, short_name(trace.target.name)).sentence
    return say("differ", place=at + 1, why=why)


def _explained(judged: Judgement, explained: Interval | None, terms: Terms | None) -> Verdict:
    """The verdict with the reason that these terms give: no cause where they do not explain the measured speedup.

    A modelled speedup explains it within the interval `explained`.
    """
    verdict = partial(Verdict, judged.word, judged.speedup, judged.basis, judged.interval)
    if terms is None:
        return verdict(reason=say("plain_steps"))
    accepted, tokens = terms.alpha, terms.tokens
    tree = terms.counted is not None and terms.counted.nodes is not None
    said = say("accepted", alpha=accepted)
    if terms.counted:
        said = say("accepted_places" if tree else "accepted_counted", alpha=accepted, tokens=tokens)
    if not _explains(terms.at_costs, judged, explained):
        return verdict(reason=say("not_explained", accepted=said))
    limits = {
        "acceptance": say("acceptance"),
        "draft cost": say("tree_cost" if tree else "draft_cost", cost=terms.cost_ratio),
        "verification": say("verification", read=terms.read, checking=terms.checking),
        "overhead": say("overhead", overhead=terms.overhead),
    }
    limit = limits[terms.binding]
    if (terms.speedup - 1) * (judged.speedup - 1) < 0:  # the break-even would say the opposite
        return verdict(reason=say("limited", limit=limit, accepted=said), binding=terms.binding, terms=terms)
    if terms.counted and terms.steps < terms.drafted + 1:
        needed = say("pays_above_tokens", tokens=terms.steps)
    elif terms.counted or terms.break_even is None:
        needed = say("pays_never")
    else:
        needed = say("pays_above_rate", rate=terms.break_even) if terms.break_even else say("pays_always")
    reason = say("limited_needs", limit=limit, accepted=said, needed=needed)
    break_even = None if terms.counted else terms.break_even
    return verdict(reason=reason, binding=terms.binding, break_even=break_even, terms=terms)


def _explains(modelled: float, judged: Judgement, explained: Interval | None) -> bool:
    """Whether a modelled speedup is in the interval of the measured one, and on the side of 1 that its word names."""
    if explained and not explained[0] <= modelled <= explained[1]:
        return False
    if judged.word in (HELPS, HURTS):
        return modelled > 1 if judged.word == HELPS else modelled <= 1
    return explained is not None or judge(modelled, None, modelled=True).label == "neutral"


def _recorded_lead(trace: Trace, at: int, plain_id: int) -> float | None:
    """How far the written token's logit is above the plain run's, from the probabilities recorded at this place.

    At least so far, if only more probable ones were recorded; None without any. Greedy runs record the softmax at
    temperature 1, so a difference of logits is one of log probabilities.
    """
    recorded = (
        candidates
        for round in trace.rounds
        for candidates in (
            *(token.candidates for token in round.drafted if token.status == "accepted"),
            *([round.emitted.candidates] if round.emitted.kind != "none" else []),
        )
    )
    known = {c.id: c.p for c in next(islice(recorded, at, None), [])}
    written = known.get(trace.output.token_ids[at])
    if len(known) < 2 or not written:
        return None
    other = known.get(plain_id, min(known.values()))
    return math.log(written / other) if other > 0 else math.inf


@dataclass(frozen=True, slots=True)
class KnownCosts:
    """Costs for a run whose own time says nothing."""

    costs: metrics.Costs
    place: str  # where they were measured
    source: str  # that as a sentence


def explain_no_result(trace: Trace) -> str:
    return say_result("no_verdict", why=explain_no_verdict(trace))


def summary(trace: Trace) -> dict[str, Any]:
    """What was counted, and the measured speedup with its verdict; None where the run does not say.

    Keys:
        rounds, drafted, accepted, rejected, discarded, emitted: counts. Of a tree, every node is drafted.
        acceptance_rate: accepted / drafted. per_judgement_rate: accepted / (accepted + rejected).
        tokens_per_target_call: emitted / rounds.
        speedup: seconds of the target alone / seconds of speculative decoding, measured, one pair of runs.
        verdict: the words and the reason; or why there is none.
    """
    verdict = verdict_of_run(trace)
    return {
        **metrics.count(trace.rounds).figures,
        "speedup": metrics.speedup(trace),
        "verdict": f"{verdict.headline}. {verdict.reason}" if verdict else explain_no_result(trace),
    }
