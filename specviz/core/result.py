"""What a run says first, in plain words: how fast it was, in how many passes of the target, and why."""

from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from specviz.core.judge import HELPS, HURTS, UNTOLD, Interval, VerdictWord
from specviz.core.metrics import Costs, Counts, count, estimated_at, say_estimate, span, speedup
from specviz.core.numbers import localize, percent
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, compare_texts, explain_no_verdict, quiet, say_result, verdict_of_run


@dataclass(frozen=True, slots=True)
class Result:
    says: str
    reason: str
    same: str = ""  # whether both decoders wrote the same text; empty where nothing can be said of it
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
    verdict, passes = verdict_of_run(trace, costs), _passes(count(trace.rounds))
    same, plain = "", trace.autoregressive
    if plain is not None and trace.output.stopped_by is not None:  # with the question where that is short
        identical = trace.settings.greedy and trace.output.token_ids == plain.token_ids
        same = say_result("same_text", says=compare_texts(trace)) if identical else compare_texts(trace)
    if verdict is None:
        return Result(say_result("untimed", passes=passes), explain_no_result(trace), same)
    if not verdict.trusted:
        return replace(_judge_busy(trace, passes, known), same=same)
    why = _reason(trace, verdict, quiet(trace, costs))
    reason = say_result("timed", reason=why, where=where)
    if verdict.interval:
        low, high = (localize(end, ".2f") for end in verdict.interval)
        reason = say_result("timed_between", reason=why, where=where, low=low, high=high)
    word = UNTOLD if verdict.word == UNTOLD else HURTS if verdict.label == "hurts" else HELPS
    says = _speed(word, localize(verdict.speedup, ".2f"), passes)
    return Result(says, reason, same, True, round(verdict.speedup, 2), verdict.interval, where)


def explain_no_result(trace: Trace) -> str:
    return say_result("no_verdict", why=explain_no_verdict(trace))


def waiting() -> Result:
    return Result(say_result("waiting"), "")


def _judge_busy(trace: Trace, passes: str, known: KnownCosts | None) -> Result:
    estimate = known and estimated_at(trace.rounds, known.costs)
    busy = say_result("busy", passes=passes)
    if not known or not estimate:
        return Result(busy, say_result("busy_counts"), trusted=False)
    said, source, counts = say_estimate(estimate), known.source, count(trace.rounds)
    if estimate.interval is None:
        return Result(busy, say_result("busy_unsure", speedup=said, source=source), trusted=False)
    low, high = (round(end, 2) for end in estimate.interval)  # as it is said
    word = HURTS if high < 1 else HELPS if low > 1 else UNTOLD
    quiet_passes = say_result("quiet_passes", tokens=counts.emitted, rounds=counts.rounds)
    says = _speed(word, said, quiet_passes, say_result("quiet"))
    return Result(says, say_result("busy_known", source=source), trusted=False, interval=estimate.interval)


def _passes(counts: Counts) -> str:
    return say_result("passes", tokens=counts.emitted, rounds=counts.rounds)


def _speed(word: VerdictWord, speedup: str, passes: str, where: str = "") -> str:
    if word == UNTOLD:
        return say_result("untold", speedup=speedup, where=where, passes=passes)
    return say_result("slower" if word == HURTS else "faster", speedup=speedup, where=where, passes=passes)


def _reason(trace: Trace, verdict: Verdict, calibrated: Costs | None) -> str:
    """When it pays, and what a round costs; without them where the costs do not explain the speed.

    A guess takes c, or all of a round's guesses where rounds differ; a check takes v of as many.
    """
    terms = verdict.terms
    if terms is None:
        return verdict.reason
    drafted = terms.drafted if terms.counted else 1
    sizes = [len(round.drafted) for round in trace.rounds] if terms.counted else [terms.draft_length]

    def checking(costs: Costs) -> float:
        return fmean(verification_steps(costs.verification, drafted + 1) for drafted in sizes)

    draft = calibrated.interval(lambda costs: drafted * costs.cost_ratio) if calibrated else None
    check = calibrated.interval(checking) if calibrated else None
    guesses, times = localize(drafted * terms.cost_ratio, ".2f"), localize(terms.checking, ".2f")
    if draft and check:
        guesses, times = span(draft), span(check)
    here, least = percent(terms.alpha), verdict.break_even
    if terms.counted:
        steps, tokens = localize(terms.steps, ".2f"), localize(terms.tokens, ".2f")
        reason = say_result("pays_tokens", steps=steps, here=tokens, guesses=guesses, times=times)
    elif terms.break_even is None:
        reason = say_result("pays_never", here=here, guesses=guesses, times=times)
    elif least is None:  # it would say the opposite of what was measured
        reason = say_result("pays_unsaid", here=here, guesses=guesses, times=times)
    else:
        reason = say_result("pays_rate", least=percent(least), here=here, guesses=guesses, times=times)
    return reason if (draft and check) or calibrated is None else say_result("unsure", reason=reason)


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
        "verdict": f"{verdict.headline}. {verdict.reason}" if verdict else explain_no_result(trace),
    }
