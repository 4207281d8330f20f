"""What a study of batches says, in words. Pure; no sentence says more than the intervals allow."""

from specviz.core.judge import HURTS, VerdictWord, judge
from specviz.core.numbers import localize
from specviz.core.texts import Sentences, join_choices
from specviz.data.measured.batches import BatchSpeedup, BatchStudy, Ratio
from specviz.data.published import GPU_COSTS

say = Sentences("batches")


def reading(study: BatchStudy) -> str:
    """What the longest draft brings in the smallest and in the largest batch, and which draft length is best there."""
    length, small, large = study.draft_lengths[-1], study.batches[0], study.batches[-1]
    first, last = study.at(small, length).speedup, study.at(large, length).speedup
    change = say("untold")
    if last.high < first.low:
        change = say("hurts_then") if outcome(last) == HURTS else say("shrinks")
    elif last.low > first.high:
        change = say("grows")
    best = best_of(study, large)
    others = [study.at(large, each) for each in study.draft_lengths if each != best.draft_length]
    close = [f"γ = {each.draft_length}" for each in others if each.speedup.high >= best.speedup.low]
    at, speedup = best.draft_length, times(best.speedup)
    is_best = say("best", batch=large, length=at, speedup=speedup)
    if close:
        near = join_choices(close, "and")
        is_best = say("best_of_near", batch=large, length=at, speedup=speedup, near=near)
    return say(
        "reading",
        length=length,
        first=times(first),
        small=small,
        last=times(last),
        large=large,
        change=change,
        best=is_best,
    )


def outcome(speedup: Ratio) -> VerdictWord:
    return judge(speedup.value, (speedup.low, speedup.high)).word


def best_of(study: BatchStudy, batch: int) -> BatchSpeedup:
    return max((each for each in study.speedups if each.batch == batch), key=lambda each: each.speedup.value)


def times(ratio: Ratio) -> str:
    return f"{localize(ratio.value, '.2f')}× ({localize(ratio.low, '.2f')}–{localize(ratio.high, '.2f')})"


def describe_place(study: BatchStudy) -> str:
    clock = say("processor_time") if study.clock == "processor" else say("clock_time")
    load, threads = "" if study.quiet else say("uncontrolled"), study.recorded_on.threads
    return say("where", study=study, threads=threads, clock=clock, prompts=len(study.prompts), load=load)


def compared(study: BatchStudy) -> str:
    return say("some_differ", study=study) if study.different else say("all_same", study=study)


def checks_sentence(study: BatchStudy, draft_length: int, batch: int) -> str | None:
    tokens = draft_length + 1
    found = [study.passes_of(size) for size in (1, batch)]
    measured = [check.steps for each in found if each for check in each.checks if check.tokens == tokens]
    if len(measured) < 2:
        return None
    told = say("check", tokens=tokens, ratio=measured[0])
    if batch > 1:
        told += say("check_in_batch", ratio=measured[1], batch=batch)
    return say("measured", study=study, told=told)


def kinds_of_machines(study: BatchStudy) -> str:
    """Which shape a pass has on which kind of machine: of a GPU as published, of the recorded one as measured."""
    gpu = next(each for each in GPU_COSTS if each.verification)
    most = max(gpu.verification)
    *begin, end = (f"v({tokens}) = {localize(gpu.verification[tokens], '.2f')}" for tokens in (2, most - 1, most))
    first, last = study.passes[0], study.passes[-1]
    tokens = max(set(first.verification) & set(last.verification))
    alone, together = first.verification[tokens], last.growth.value * last.verification[tokens]
    few, many = (alone - 1) / (first.batch * tokens - 1), (together - 1) / (last.batch * tokens - 1)
    return say(
        "machines",
        begin=", ".join(begin),
        end=end,
        gpu=gpu,
        shape=say("other_way_round" if few > many else "alike"),
        tokens=tokens,
        alone=alone,
        few=few,
        most=last.batch * tokens,
        together=together,
        many=many,
        study=study,
    )
