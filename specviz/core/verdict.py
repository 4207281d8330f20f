"""The verdict: whether speculation helps here, how certain that is, and what limits it.

The speedup of a verdict is always measured. The formula only explains it: which term limits it, and what breaks even.
Where it cannot, the reason says so and names neither.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import geometric_mean, median, mode

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import interval_of_ratios, speedup_interval
from specviz.core.judge import HELPS, HURTS, UNTOLD, Interval, Judgement, Label, judge, widen_for_next_run
from specviz.core.names import short_name
from specviz.core.rounding import judge_difference
from specviz.core.terms import Term, Terms, terms_of
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace

CONTRADICTS = 1.3  # measured and modelled speedup on different sides of 1; on a quiet machine they are within 1.25
WIDE = 1.5  # high / low of an interval: wider ones come from a busy machine, see benchmarks/results/steadiness.json
FAR = 2.0  # of a target step from the calibrated one
SLOWER = 1.1  # times another plain step: the slower one was disturbed more
DOUBT = 1.25  # of the time of a round, chosen: two quiet calibrations differ by less


@dataclass(frozen=True, slots=True)
class Verdict:
    judgement: Judgement
    reason: str  # one sentence
    binding: Term | None  # None when nothing was drafted, or the costs do not explain the speedup
    break_even: float | None  # per judgement; None also if no rate pays, drafts differ in length, or it would mislead
    interval: Interval | None = None  # 95 % of the speedup, as it was judged; None for a pair without one
    trusted: bool = True  # False: the machine was busy, so neither the speedup nor the label says anything
    terms: Terms | None = None  # the costs that explain the label; None where they do not, or there are none

    @property
    def speedup(self) -> float:
        return self.judgement.speedup

    @property
    def label(self) -> Label:
        return self.judgement.label

    @property
    def certain(self) -> bool:
        """False: from one pair timed one after the other, from times that disagree, or on a busy machine."""
        return self.trusted and self.judgement.certain

    @property
    def headline(self) -> str:
        """ "Helps, 1.90×", or "Looks like it helps, 1.90×" of a single pair."""
        return self.judgement.headline if self.trusted else f"Not trusted, {self.speedup:.2f}×"


def explain_no_verdict(trace: Trace) -> str | None:
    """Why a run has no verdict, to follow "No verdict: "; None where it has one."""
    if trace.output.stopped_by is None:
        return "this run was stopped before its end"
    if not metrics.count(trace.rounds).drafted:
        return "nothing was drafted, so there is nothing to compare"
    if trace.autoregressive is None:
        return "this run has no run of the target alone beside it"
    if not metrics.speedup(trace):
        return "this run has no times"
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
    if _is_busy(trace, speedup, timing, costs):
        unknown = Judgement(UNTOLD, speedup, "interval")
        modelled = metrics.estimated_at(trace.rounds, costs) if costs and not doubts(trace, costs) else None
        known = f" At calibrated costs this run would be {modelled.said}×{_unsure(modelled)}." if modelled else ""
        reason = f"This machine is busy: the measured speed cannot be trusted.{known}"
        return Verdict(unknown, reason, None, None, interval, trusted=False)
    return _verdict(judge(speedup, interval), interval, interval, terms_of(trace, costs))


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
    check, its_check = (verification_steps(each.verification, drafted + 1) for each in (own, costs))
    off = (
        drafted * _outside(own.cost_ratio, costs.of_draft or (costs.cost_ratio, costs.cost_ratio)),
        _outside(check, costs.check_interval(drafted + 1) or (its_check, its_check)),
    )
    return max(off) > (DOUBT - 1) * costs.round_steps(drafted)


def _outside(value: float, interval: Interval) -> float:
    """How far a value is outside an interval; 0 inside."""
    low, high = interval
    return max(low - value, value - high, 0.0)


def _is_busy(trace: Trace, speedup: float, interval: Interval | None, costs: metrics.Costs | None) -> bool:
    """Whether the times of this run say more about the machine than about the two decoders."""
    if interval and interval[1] / interval[0] > WIDE:
        return True
    modelled = costs and metrics.speedup_at(trace.rounds, costs)
    if not modelled or not costs:
        return False
    opposite = (speedup - 1) * (modelled - 1) < 0
    contradiction = opposite and max(speedup / modelled, modelled / speedup) > CONTRADICTS
    return contradiction or _step(trace) > FAR * costs.step_seconds


def _step(trace: Trace) -> float:
    plain = trace.autoregressive
    return median(plain.seconds_per_token) if plain and plain.seconds_per_token else 0.0


def _unsure(modelled: metrics.Estimate) -> str:
    return "" if modelled.interval else ", its interval not known"


def verdict_of_ratios(ratios: Sequence[float], terms: Terms | None) -> Verdict | None:
    """The verdict on repeats; `ratios` are autoregressive / speculative seconds, one a pair. None without any.

    It is judged by the 95 % interval over the repeats. One pair has none. The costs are medians of few rounds, so they
    explain a speedup in that interval widened by `widen_for_next_run`.
    """
    if not ratios:
        return None
    for ratio in ratios:
        if not 0 < ratio < math.inf:
            raise InputError(f"ratios must be numbers above 0, not {ratio}.")
    interval = interval_of_ratios(ratios) if len(ratios) > 1 else None
    explained = widen_for_next_run(interval) if interval else None
    return _verdict(judge(geometric_mean(ratios), interval), interval, explained, terms)


def compare_texts(trace: Trace) -> str:
    plain = trace.autoregressive
    if plain is None or trace.drafter is None:
        return "There is only one of the two runs, so nothing can be compared yet."
    if not trace.settings.greedy:
        return (
            f"At temperature {trace.settings.temperature:g} these are two different draws from the same "
            "distribution, so they cannot be compared word by word."
        )
    written = trace.output.token_ids
    at = metrics.first_difference(written, plain.token_ids)
    if at is None:
        return f"Identical: both wrote the same {len(written)} {'token' if len(written) == 1 else 'tokens'}."
    if at == min(len(written), len(plain.token_ids)):
        return f"The same for {at} tokens, then only one of the two continues: their numbers of new tokens differ."
    return f"The texts differ first at token {at + 1}: {_explain_difference(trace, at, plain.token_ids[at])}."


def _verdict(judged: Judgement, interval: Interval | None, explained: Interval | None, terms: Terms | None) -> Verdict:
    """The verdict with the reason that these terms give: no cause where they do not explain the measured speedup.

    `interval` is the speedup's own, which is shown; a modelled speedup explains it within `explained`.
    """
    if terms is None:
        reason = "Nothing was drafted, so every round was one plain target step plus the time of the loop."
        return Verdict(judged, reason, None, None, interval)
    if not _explains(terms.at_costs, judged, explained):
        reason = f"{_accepted(terms)}. The costs of a typical round do not explain the measured speed."
        return Verdict(judged, reason, None, None, interval)
    on_one_side = (terms.speedup - 1) * (judged.speedup - 1) >= 0  # else the break-even would say the opposite
    needed = f", {_break_even(terms)}" if on_one_side else ""
    break_even = terms.break_even if on_one_side and not terms.counted else None
    return Verdict(judged, f"{_limit(terms)}{needed}.", terms.binding, break_even, interval, terms=terms)


def _explains(modelled: float, judged: Judgement, explained: Interval | None) -> bool:
    """Whether a modelled speedup is in the interval of the measured one, and on the side of 1 that its word names."""
    if explained and not explained[0] <= modelled <= explained[1]:
        return False
    if judged.word in (HELPS, HURTS):
        return modelled > 1 if judged.word == HELPS else modelled <= 1
    return explained is not None or judge(modelled, None, modelled=True).label == "neutral"


def _limit(terms: Terms) -> str:
    accepted = _accepted(terms)
    step = "depth of the tree" if terms.counted and terms.counted.nodes is not None else "token"
    limits = {
        "acceptance": f"The main limit is acceptance: {accepted}",
        "draft cost": f"The main limit is the draft's cost, {terms.cost_ratio:.2f} target steps a {step}: {accepted}",
        "verification": f"The main limit is checking {terms.read:.3g} tokens at once, "
        f"{terms.checking:.2f} target steps: {accepted}",
        "overhead": f"The main limit is overhead, {terms.overhead:.2f} target steps a round: {accepted}",
    }
    return limits[terms.binding]


def _accepted(terms: Terms) -> str:
    per_call = f", {terms.tokens:.2f} tokens per target call" if terms.counted else ""
    if terms.counted and terms.counted.nodes is not None:
        return f"a guess is accepted at {_percent(terms.alpha)} of the judged places{per_call}"
    return f"{_percent(terms.alpha)} of the judged guesses are accepted{per_call}"


def _break_even(terms: Terms) -> str:
    if terms.counted and terms.steps < terms.drafted + 1:
        return f"and at these costs speculation pays above {terms.steps:.2f} tokens per target call"
    if terms.counted or terms.break_even is None:
        return "and at these costs no rate would pay"
    if terms.break_even == 0:
        return "and at these costs any rate pays"
    return f"and at these costs speculation pays above {_percent(terms.break_even)}"


def _explain_difference(trace: Trace, at: int, plain_id: int) -> str:
    """Whether rounding explains it, from the probabilities that the speculative run recorded at this place."""
    recorded = (
        candidates
        for round in trace.rounds
        for candidates in (
            *(token.candidates for token in round.drafted if token.status == "accepted"),
            *([round.emitted.candidates] if round.emitted.kind != "none" else []),
        )
    )
    known = {c.id: c.p for c in next(islice(recorded, at, None), [])}
    lead = _lead(known, trace.output.token_ids[at], plain_id)
    return judge_difference(lead, trace.target.dtype, short_name(trace.target.name)).sentence


def _lead(known: Mapping[int, float], written_id: int, plain_id: int) -> float | None:
    """How far the written token's logit is above the plain run's; at least, if only more probable ones were recorded.

    Greedy runs record the softmax at temperature 1, so a difference of logits is one of log probabilities.
    """
    if len(known) < 2 or not known.get(written_id):
        return None
    other = known.get(plain_id, min(known.values()))
    return math.log(known[written_id] / other) if other > 0 else math.inf


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
