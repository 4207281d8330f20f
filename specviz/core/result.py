"""What a run says first, in plain words: how fast it was, in how many passes of the target, and why."""

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

from specviz.core.judge import UNTOLD, Interval
from specviz.core.metrics import Costs, Counts, count, estimated_at, span, speedup
from specviz.core.terms import Terms
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, explain_no_verdict, quiet, verdict_of_run

AGAIN = "Press Run again to time it again."
COUNTED = "What was counted is exact."
BUSY = "This machine is busy: the time of this run is not trusted."
WAITING = "The result comes when both have written the whole text."


@dataclass(frozen=True, slots=True)
class Result:
    says: str
    reason: str
    trusted: bool = True  # False: the machine was busy, so the time says nothing
    speedup: float | None = None  # the measured one, as `says` has it; None where there is none that is trusted
    interval: Interval | None = None  # 95 % of the speedup that `says` has, measured or modelled
    where: str = ""  # it was timed, such as "measured here"


@dataclass(frozen=True, slots=True)
class KnownCosts:
    """Costs for a run whose own time says nothing."""

    costs: Costs
    place: str  # where they were measured
    source: str  # that as a sentence


def result_of(trace: Trace, costs: Costs | None, where: str, known: KnownCosts | None = None) -> Result:
    """The result of a finished run.

    `costs` as in `verdict_of_run`; `where` it was timed, such as "measured here"; `known` speaks where the time of the
    run is not trusted.
    """
    counts, verdict = count(trace.rounds), verdict_of_run(trace, costs)
    passes = _passes(counts)
    if verdict is None:
        return Result(f"{passes[0].upper()}{passes[1:]}.", f"No verdict: {explain_no_verdict(trace)}.")
    if not verdict.trusted:
        return _judge_busy(trace, counts, known)
    reason = f"{_reason(trace, verdict, quiet(trace, costs))} {_timed(verdict, where)}"
    measured = round(verdict.speedup, 2)
    return Result(f"{_speed(verdict)}: {passes}", reason, True, measured, verdict.interval, where)


def _judge_busy(trace: Trace, counts: Counts, known: KnownCosts | None) -> Result:
    estimate, passes = known and estimated_at(trace.rounds, known.costs), _passes(counts)
    if not known or not estimate:
        return Result(f"{passes}; busy machine, its time is not trusted", f"{COUNTED} {AGAIN}", False)
    said = f"{estimate.said} times as fast"
    if estimate.interval is None:
        unsure = f"By costs whose interval is not known it would be {said}: no verdict. {known.source}"
        return Result(f"{passes}; busy machine, its time is not trusted", f"{COUNTED} {unsure} {AGAIN}", False)
    low, high = (round(end, 2) for end in estimate.interval)  # as it is said
    side = ", so slower" if high < 1 else "" if low > 1 else ", too close to call"
    says = f"{said} on a quiet machine{side}: {_counted(counts)}"  # short: it has one line at 1280 pixels
    return Result(says, f"{known.source} {BUSY} {AGAIN}", False, None, estimate.interval)


def _speed(verdict: Verdict) -> str:
    said = f"{verdict.speedup:.2f} times as fast"
    if verdict.judgement.word == UNTOLD:
        return f"{said}, too close to call"
    return f"{said}, so slower" if verdict.label == "hurts" else said


def _passes(counts: Counts) -> str:
    return f"{_counted(counts)} of the target instead of {counts.emitted}"


def _counted(counts: Counts) -> str:
    tokens = "1 token" if counts.emitted == 1 else f"{counts.emitted} tokens"
    passes = "1 pass" if counts.rounds == 1 else f"{counts.rounds} passes"
    return f"{tokens} in {passes}"


def _reason(trace: Trace, verdict: Verdict, calibrated: Costs | None) -> str:
    """When it pays, and what a round costs; without them where the costs do not explain the speed."""
    terms = verdict.terms
    if terms is None:
        return verdict.reason
    guesses, check, unsure = _costs_said(trace, terms, calibrated)
    check = f"a check {check} times as long as the target takes for one token{unsure}."
    if terms.counted:
        pays = f"It pays if a pass gives more than {terms.steps:.2f} tokens (here {terms.tokens:.2f})"
        return f"{pays}, because the guesses of a round take {guesses} and {check}"
    here, after = f"{100 * terms.alpha:.0f} %", f"a guess takes {guesses} and {check}"
    if terms.break_even is None:
        return f"It would not pay even if all judged guesses were accepted (here {here}), because {after}"
    if verdict.break_even is None:  # it would say the opposite of what was measured
        return f"Here {here} of the judged guesses are accepted; {after}"
    least = f"{100 * verdict.break_even:.0f} %"
    return f"It pays if more than {least} of the judged guesses are accepted (here {here}), because {after}"


def _costs_said(trace: Trace, terms: Terms, calibrated: Costs | None) -> tuple[str, str, str]:
    """What a guess takes, or all of a round where rounds differ; what a check takes; and where no interval is known."""
    guesses = terms.drafted if terms.counted else 1
    sizes = [len(round.drafted) for round in trace.rounds] if terms.counted else [terms.draft_length]

    def checking(costs: Costs) -> float:
        return fmean(verification_steps(costs.verification, drafted + 1) for drafted in sizes)

    draft = calibrated.interval(lambda costs: guesses * costs.cost_ratio) if calibrated else None
    check = calibrated.interval(checking) if calibrated else None
    if draft is None or check is None:
        unsure = " (how sure these costs are is not known)" if calibrated else ""
        return f"{guesses * terms.cost_ratio:.2f}", f"{terms.checking:.2f}", unsure
    return span(draft), span(check), ""


def _timed(verdict: Verdict, where: str) -> str:
    if verdict.interval is None:
        return f"One run, {where}."
    low, high = verdict.interval
    return f"One run, {where}; 95 % interval {low:.2f} to {high:.2f}."


def summary(trace: Trace) -> dict[str, Any]:
    """What was counted, and the measured speedup with its verdict; None where the run does not say.

    Keys:
        rounds, drafted, accepted, rejected, discarded, emitted: counts. Of a tree, every node is drafted.
        acceptance_rate: accepted / drafted. per_judgement_rate: accepted / (accepted + rejected).
        tokens_per_target_call: emitted / rounds.
        speedup: seconds of the target alone / seconds of speculative decoding, measured, one pair of runs.
        verdict: the words and the reason; or why there is none.
    """
    counts, verdict = count(trace.rounds), verdict_of_run(trace)
    return {
        **asdict(counts),
        "acceptance_rate": counts.acceptance_rate,
        "per_judgement_rate": counts.per_judgement_rate,
        "tokens_per_target_call": counts.tokens_per_target_call,
        "speedup": speedup(trace),
        "verdict": f"{verdict.headline}. {verdict.reason}" if verdict else f"No verdict: {explain_no_verdict(trace)}.",
    }
