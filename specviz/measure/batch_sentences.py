"""What a study of batches says, in words. Pure; no sentence says more than the intervals allow."""

from specviz.core.judge import HURTS, Word, judge
from specviz.data.batches import BatchSpeedup, BatchStudy, Ratio
from specviz.data.published import GPU_COSTS


def reading(study: BatchStudy) -> str:
    length, small, large = study.draft_lengths[-1], study.batches[0], study.batches[-1]
    first, last = study.at(small, length).speedup, study.at(large, length).speedup
    sentence = (
        f"With γ = {length} the speedup is {times(first)} in batches of {small} and {times(last)} in batches of "
        f"{large}: {_change(first, last)}."
    )
    return f"{sentence} {_best(study, large)}"


def _best(study: BatchStudy, batch: int) -> str:
    best = best_of(study, batch)
    others = [study.at(batch, length) for length in study.draft_lengths if length != best.draft_length]
    near = [f"γ = {each.draft_length}" for each in others if each.speedup.high >= best.speedup.low]
    said = f"In batches of {batch} γ = {best.draft_length} has the highest, {times(best.speedup)}"
    return f"{said}; {' and '.join(near)} cannot be told apart from it." if near else f"{said}."


def _change(first: Ratio, last: Ratio) -> str:
    if last.high < first.low:
        return "the gain shrinks" + (", and the draft hurts" if outcome(last) == HURTS else "")
    if last.low > first.high:
        return "the gain grows"
    return "these repeats cannot tell the two apart"


def outcome(speedup: Ratio) -> Word:
    return judge(speedup.value, (speedup.low, speedup.high)).word


def best_of(study: BatchStudy, batch: int) -> BatchSpeedup:
    return max((each for each in study.speedups if each.batch == batch), key=lambda each: each.speedup.value)


def times(ratio: Ratio) -> str:
    return f"{ratio.value:.2f}× ({ratio.low:.2f}–{ratio.high:.2f})"


def where(study: BatchStudy) -> str:
    machine = study.recorded_on
    threads = f"{machine.threads} {'thread' if machine.threads == 1 else 'threads'}"
    clock = "processor time" if study.clock == "processor" else "clock time"
    return (
        f"Recorded on {machine.machine}, {threads}, {clock}: "
        f"{study.draft} → {study.target} ({study.target_dtype}), greedy, "
        f"{len(study.prompts)} prompts of {study.new_tokens} new tokens, {study.repeats} repeats; your machine will "
        "differ"
    )


def compared(study: BatchStudy) -> str:
    if study.different == 0:
        return f"All {study.compared} texts have the token ids that the target writes alone."
    return (
        f"{study.different} of {study.compared} texts differ somewhere from what the target writes alone: passes of "
        "different sizes round differently, and two tokens were nearly equally probable."
    )


def checks_sentence(study: BatchStudy, draft_length: int, batch: int) -> str | None:
    """v(draft_length + 1) as measured in batches of this size and of one text; None where it was not measured."""
    tokens = draft_length + 1
    found = [study.passes_of(size) for size in (1, batch)]
    measured = [check.steps for each in found if each for check in each.checks if check.tokens == tokens]
    if len(measured) < 2:
        return None
    alone, here = measured
    told = f"v({tokens}) = {alone.value:.2f} ({alone.low:.2f}–{alone.high:.2f}) for one text"
    if batch > 1:
        told += f" and {here.value:.2f} ({here.low:.2f}–{here.high:.2f}) in batches of {batch}"
    machine = study.recorded_on.machine
    return f"Measured: {study.target} ({study.target_dtype}) on {machine} has {told}."


def kinds_of_machines(study: BatchStudy) -> str:
    """Which shape a pass has on which kind of machine: of a GPU as published, of the recorded one as measured."""
    gpu = next(each for each in GPU_COSTS if each.verification)
    few, many, next_one = 2, max(gpu.verification) - 1, max(gpu.verification)
    *begin, end = (f"v({tokens}) = {gpu.verification[tokens]:.2f}" for tokens in (few, many, next_one))
    first, last = study.passes[0], study.passes[-1]
    tokens = max(set(first.verification) & set(last.verification))
    alone, together = first.verification[tokens], last.growth.value * last.verification[tokens]
    each = [(steps - 1) / (size * tokens - 1) for size, steps in ((first.batch, alone), (last.batch, together))]
    shape = "the other way round" if each[0] > each[1] else "alike"
    return (
        f"Machines differ. A published GPU is flat at first and steeper later: {', '.join(begin)} and {end} "
        f"({gpu.pair}, {gpu.machine}). The processor that was measured here is {shape}: a pass over {tokens} tokens "
        f"takes {alone:.2f} steps, {each[0]:.2f} for each further token, and one over {last.batch * tokens} takes "
        f"{together:.2f}, {each[1]:.2f} for each ({study.target} on {study.recorded_on.machine})."
    )
