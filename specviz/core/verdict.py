"""The verdict: whether speculation helps here, how certain that is, and what limits it.

The speedup of a verdict is always measured. The formula only explains it: which term limits it, and what breaks even.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean, median
from typing import Literal

from specviz.core import metrics
from specviz.core.errors import InputError
from specviz.core.intervals import interval_of_ratios, speedup_interval
from specviz.core.names import short_name
from specviz.core.rounding import judge_difference
from specviz.core.terms import Term, Terms, terms_of
from specviz.core.trace import Trace

Label = Literal["helps", "neutral", "hurts"]

NEUTRAL = 1.05  # nobody would notice a speedup from 1 / 1.05 to 1.05
CONTRADICTS = 1.3  # measured and modelled speedup on different sides of 1; on a quiet machine they are within 1.25
WIDE = 1.5  # high / low of an interval: wider ones come from a busy machine, see benchmarks/results/steadiness.json
FAR = 2.0  # of a target step from the calibrated one


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion from one or more measured pairs of runs."""

    label: Label
    certain: bool  # False: from one pair timed one after the other, or from times that disagree
    reason: str  # one sentence
    binding: Term | None  # None when nothing was drafted
    break_even: float | None  # per judgement; None if no rate pays, nothing was drafted, or drafts differ in length
    speedup: float  # measured
    interval: tuple[float, float] | None = None  # 95 % of the speedup; None for a pair without one
    trusted: bool = True  # False: the machine was busy, so neither the speedup nor the label says anything

    @property
    def headline(self) -> str:
        """ "Helps, 1.90×", or "Looks like it helps, 1.90×" if that is not certain.

        An interval far wider than the neutral band does not show that the two are equally fast.
        """
        if not self.trusted:
            return f"Not trusted, {self.speedup:.2f}×"
        even = "Too close to call" if self.interval else "Looks about even"
        sure = {"helps": "Helps", "neutral": "About even", "hurts": "Hurts"}
        unsure = {"helps": "Looks like it helps", "neutral": even, "hurts": "Looks like it hurts"}
        return f"{(sure if self.certain else unsure)[self.label]}, {self.speedup:.2f}×"


def why_no_verdict(trace: Trace) -> str | None:
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
    """The verdict on one run of one text; None where `why_no_verdict` has a reason.

    Neutral where the 95 % interval of the timing (see `speedup_interval`) touches the band from 1 / 1.05 to 1.05. A run
    whose decoders did not take turns has no interval: it is judged by size alone, and never certain. A reason is given
    only where the costs explain the label. For `costs` see `terms_of`; calibrated ones far slower than the run itself
    are not used, because then the machine was busy while it was calibrated.
    """
    speedup = metrics.speedup(trace)
    if not speedup or why_no_verdict(trace):
        return None
    interval = speedup_interval(trace)
    if costs and _step(trace) * FAR < costs.step_seconds:
        costs = None
    if _is_busy(trace, speedup, interval, costs):
        return Verdict("neutral", False, _busy(trace, costs), None, None, speedup, interval, trusted=False)
    label, certain = _judged_run(speedup, interval) if interval else (_label(speedup), False)
    terms = terms_of(trace, costs)
    verdict = _verdict(label, certain, speedup, interval, terms)
    if terms is None or _side(terms.speedup, label) == label:
        return verdict
    return replace(
        verdict, reason=f"{_accepted(terms)}. The costs of a typical round do not explain the measured speed."
    )


def _is_busy(trace: Trace, speedup: float, interval: tuple[float, float] | None, costs: metrics.Costs | None) -> bool:
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
    """The median step of the target alone, in seconds."""
    plain = trace.autoregressive
    return median(plain.seconds_per_token) if plain and plain.seconds_per_token else 0.0


def _judged_run(speedup: float, interval: tuple[float, float]) -> tuple[Label, bool]:
    """The label of one run, and whether its times are certain.

    A measurement of the same settings again differs by a few percent more than the interval says. So a label needs an
    interval that lies outside the neutral band, not only beside 1: then the next measurement says the same.
    """
    low, high = interval
    if low > NEUTRAL:
        return "helps", True
    if high < 1 / NEUTRAL:
        return "hurts", True
    return "neutral", _label(speedup) == "neutral" and high / low <= NEUTRAL**2


def _busy(trace: Trace, costs: metrics.Costs | None) -> str:
    modelled = costs and metrics.speedup_at(trace.rounds, costs)
    known = f" At calibrated costs this run would be {modelled:.1f}×." if modelled else ""
    return f"This machine is busy: the measured speed cannot be trusted.{known}"


def _side(speedup: float, label: Label) -> Label:
    """The label that a modelled speedup supports: its side of 1; where neutral is asked for, also neutral."""
    if label == "neutral":
        return _label(speedup)
    return "helps" if speedup > 1 else "hurts"


def verdict_of_ratios(ratios: Sequence[float], terms: Terms | None) -> Verdict | None:
    """The verdict on repeats; `ratios` are autoregressive / speculative seconds, one a pair. None without any.

    Helps or hurts if the 95 % interval of the speedup does not contain 1, else neutral. Neutral is certain if the whole
    interval is from 1 / 1.05 to 1.05; otherwise the repeats are too few or too different. One pair is judged as in
    `verdict_of_run`.

    Raises:
        InputError: a ratio is not a number above 0.
    """
    if not ratios:
        return None
    for ratio in ratios:
        if not 0 < ratio < math.inf:
            raise InputError(f"ratios must be numbers above 0, not {ratio}.")
    speedup = math.exp(fmean(map(math.log, ratios)))
    if len(ratios) == 1:
        return _verdict(_label(speedup), False, speedup, None, terms)
    interval = interval_of_ratios(ratios)
    return _verdict(*_judged(interval), speedup, interval, terms)


def _judged(interval: tuple[float, float]) -> tuple[Label, bool]:
    """The label of an interval, and whether that is certain."""
    low, high = interval
    label: Label = "helps" if low > 1 else "hurts" if high < 1 else "neutral"
    return label, label != "neutral" or _label(low) == _label(high) == "neutral"


def compare_texts(trace: Trace) -> str:
    """One sentence about the two outputs of a trace."""
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
    return f"The texts differ first at token {at + 1}: {_why_they_differ(trace, at, plain.token_ids[at])}."


def _verdict(
    label: Label, certain: bool, speedup: float, interval: tuple[float, float] | None, terms: Terms | None
) -> Verdict:
    if terms is None:
        reason = "Nothing was drafted, so every round was one plain target step plus the time of the loop."
        return Verdict(label, certain, reason, None, None, speedup, interval)
    break_even = None if terms.counted else terms.break_even
    return Verdict(label, certain, _reason(terms, speedup), terms.binding, break_even, speedup, interval)


def _label(speedup: float) -> Label:
    """The label by size alone."""
    return "helps" if speedup > NEUTRAL else "hurts" if speedup < 1 / NEUTRAL else "neutral"


def _reason(terms: Terms, speedup: float) -> str:
    """The term that limits most, how many drafts are accepted, and how many would have to be."""
    accepted = _accepted(terms)
    step = "depth of the tree" if terms.counted and terms.counted.nodes is not None else "token"
    limits = {
        "acceptance": f"The main limit is acceptance: {accepted}",
        "draft cost": f"The main limit is the draft's cost, {terms.cost_ratio:.2f} target steps a {step}: {accepted}",
        "verification": f"The main limit is checking {terms.read:.3g} tokens at once, "
        f"{terms.checking:.2f} target steps: {accepted}",
        "overhead": f"The main limit is overhead, {terms.overhead:.2f} target steps a round: {accepted}",
    }
    return f"{limits[terms.binding]}, {_break_even(terms)}{_unexplained(terms, speedup)}."


def _accepted(terms: Terms) -> str:
    per_call = f", {terms.tokens:.2f} tokens per target call" if terms.counted else ""
    if terms.counted and terms.counted.nodes is not None:
        return f"a guess is accepted at {_percent(terms.alpha)} of the judged places{per_call}"
    return f"{_percent(terms.alpha)} of the judged drafts are accepted{per_call}"


def _break_even(terms: Terms) -> str:
    if terms.counted and terms.steps < terms.drafted + 1:
        return f"and at these costs speculation pays above {terms.steps:.2f} tokens per call"
    if terms.counted or terms.break_even is None:
        return "and at these costs no rate would pay"
    if terms.break_even == 0:
        return "and at these costs any rate pays"
    return f"and at these costs speculation pays above {_percent(terms.break_even)}"


def _unexplained(terms: Terms, speedup: float) -> str:
    """What to add if the formula and the measurement are on different sides of 1."""
    if (terms.speedup - 1) * (speedup - 1) >= 0:
        return ""
    return (
        f" (from these averages the formula predicts {terms.speedup:.2f}×; it ignores that steps and acceptance vary)"
    )


def _why_they_differ(trace: Trace, at: int, plain_id: int) -> str:
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
