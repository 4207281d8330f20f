"""What a run says first, in plain words: how fast it was, in how many passes of the big model, and why."""

from dataclasses import asdict, dataclass
from typing import Any

from specviz.core.judge import UNTOLD, Interval
from specviz.core.metrics import Costs, Counts, count, speedup, speedup_at
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, quiet, verdict_of_run, why_no_verdict

AGAIN = "Press Run again to time it again."
WAITING = "The result comes when both have written the whole text."


@dataclass(frozen=True, slots=True)
class Result:
    says: str
    reason: str
    trusted: bool = True  # False: the machine was busy, so the time says nothing
    estimated: float | None = None  # the speedup at calibrated costs; None where there are none
    speedup: float | None = None  # the measured one, as `says` has it; None where there is none that is trusted
    interval: Interval | None = None  # 95 % of it


def result_of(trace: Trace, costs: Costs | None, where: str) -> Result:
    """The result of a finished run. `costs` as in `verdict_of_run`; `where` it was timed, such as "measured here"."""
    counts, verdict, estimated = count(trace.rounds), verdict_of_run(trace, costs), at_calibrated(trace, costs)
    passes = _passes(counts)
    if verdict is None:
        return Result(f"{passes[0].upper()}{passes[1:]}.", f"No verdict: {why_no_verdict(trace)}.")
    if not verdict.trusted:
        said = f"{passes}; busy machine, its time is not trusted"
        known = f" At calibrated costs it would be about {estimated:.2f} times as fast." if estimated else ""
        return Result(said, f"What was counted is exact. {AGAIN}{known}", False, estimated)
    reason = f"{_reason(verdict)} {_timed(verdict, where)}"
    measured = round(verdict.speedup, 2)
    return Result(f"{_speed(verdict)}: {passes}", reason, True, estimated, measured, verdict.interval)


def at_calibrated(trace: Trace, costs: Costs | None) -> float | None:
    """The speedup that a run would have at its pair's calibrated costs; None where they are not known, or refuted."""
    known = quiet(trace, costs)
    return speedup_at(trace.rounds, known) if known and not refutes(trace, known) else None


def refutes(trace: Trace, costs: Costs) -> bool:
    """Whether a trusted measurement says that these costs are not those of its pair."""
    verdict = verdict_of_run(trace, costs)
    return verdict is not None and verdict.trusted and verdict.terms is None


def _speed(verdict: Verdict) -> str:
    said = f"{verdict.speedup:.2f} times as fast"
    if verdict.judgement.word == UNTOLD:
        return f"{said}, too close to 1 to tell"
    return f"{said}, so slower" if verdict.label == "hurts" else said


def _passes(counts: Counts) -> str:
    tokens = "1 token" if counts.emitted == 1 else f"{counts.emitted} tokens"
    passes = "1 pass" if counts.rounds == 1 else f"{counts.rounds} passes"
    return f"{tokens} in {passes} of the big model instead of {counts.emitted}"


def _reason(verdict: Verdict) -> str:
    """When it pays, and what a round costs; without them where the costs do not explain the speed."""
    terms = verdict.terms
    if terms is None:
        return verdict.reason
    check = f"a check {terms.checking:.2f} times as long as the big model takes for one token."
    if terms.counted:
        guesses = f"the guesses of a round take {terms.drafted * terms.cost_ratio:.2f}"
        pays = f"It pays if a pass gives more than {terms.steps:.2f} tokens (here {terms.tokens:.2f})"
        return f"{pays}, because {guesses} and {check}"
    here, after = f"{100 * terms.alpha:.0f} %", f"a guess takes {terms.cost_ratio:.2f} and {check}"
    if terms.break_even is None:
        return f"It would not pay even if all checked guesses were accepted (here {here}), because {after}"
    if verdict.break_even is None:  # it would say the opposite of what was measured
        return f"Here {here} of the checked guesses are accepted; {after}"
    least = f"{100 * verdict.break_even:.0f} %"
    return f"It pays if more than {least} of the checked guesses are accepted (here {here}), because {after}"


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
        "verdict": f"{verdict.headline}. {verdict.reason}" if verdict else f"No verdict: {why_no_verdict(trace)}.",
    }
