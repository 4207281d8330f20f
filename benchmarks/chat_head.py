"""What a chat model accepts of a head on it, of prompt lookup, and of both: counts only, so no quiet machine is needed.

    make smollm2
    python -m benchmarks.chat_head --heads FOLDER ... [--out FILE]

Each folder is a head, as `python -m training` stores it; the folders of one run are points of its training curve. The
answers are greedy, so what a round accepts follows from the answer and the guesses at each place of it: no text is
decoded twice (`core/replay.py`). With the last head behind prompt lookup every answer is decoded all the same: the text
and the passes must be the same.

Tokens per target call are those written over the passes of the target, of each prompt; a kind has the mean of its
prompts. The accepted share is that of all drafted guesses of a kind; `per_judgement` leaves out those that no pass
judged.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from safetensors.torch import load_file

from benchmarks.timing import asked, here, report
from specviz import DecodeSettings, PromptLookupDrafter, load_model, speculative_decode
from specviz.core.metrics import Counts, count
from specviz.core.replay import ends_of, replay
from specviz.core.steps import result_of
from specviz.core.trace import Trace
from specviz.data.prompts.workloads import CHAT_WORKLOADS
from specviz.decoding import Drafter, HeadDrafter, LookupFirstDrafter
from specviz.measure.paired import total
from specviz.models.catalogue import VOCABULARY
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.heads import load_head
from specviz.models.loaded_model import LoadedModel, chat_ids

PROMPTS = "assets/texts/chat_workloads.yaml"
TOKENS = 96  # of an answer, at most
LENGTHS = range(1, 7)
CHECKED = 4
ALL = "all"


@dataclass(frozen=True, slots=True)
class Answer:
    kind: str
    prompt: list[int]
    trace: Trace


def main() -> None:
    options = asked(__doc__, {"--heads": [Path], "--threads": 1})
    torch.set_num_threads(options.threads)
    target, lookup = load_model(SMOLLM2), PromptLookupDrafter()
    answers = []
    for kind, prompt in ((each.name, prompt) for each in CHAT_WORKLOADS for prompt in each.all_prompts):
        ids = chat_ids(target, [("user", prompt.text)])
        answers.append(Answer(kind, ids, decoded(target, lookup, ids)))
    heads = [HeadDrafter(load_head(folder.name, target, folder=folder)) for folder in options.heads]
    points = [point(*each, target, answers) for each in zip(options.heads, heads, strict=True)]
    about: dict[str, object] = here() | {"target": target.name, "target_weights": target.info.weights_hash}
    about |= {"target_dtype": target.info.dtype, "prompts": PROMPTS, "max_new_tokens": TOKENS, "temperature": 0.0}
    checked = check(target, LookupFirstDrafter(heads[-1], "lookup-eagle"), answers)
    checked |= {"replayed": points[-1]["both"][str(CHECKED)][ALL]}
    ways = {"lookup": summary(target, lookup, answers), "checked": checked}
    report(about | ways | {"heads": sorted(points, key=lambda each: each["tokens_seen"])}, options.out)


def decoded(target: LoadedModel, drafter: Drafter, prompt: list[int]) -> Trace:
    settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=CHECKED)
    return speculative_decode(target, drafter, prompt, settings, record=False)


def check(target: LoadedModel, drafter: Drafter, answers: Sequence[Answer]) -> dict[str, Any]:
    """Real runs at one draft length, in the target's number format."""
    traces = [decoded(target, drafter, answer.prompt) for answer in answers]
    same = [trace.output == answer.trace.output for trace, answer in zip(traces, answers, strict=True)]
    about = {"draft_length": CHECKED, "answers": len(answers), "identical": sum(same)}
    return about | {"decoded": figures([count(trace.rounds) for trace in traces])}


def point(folder: Path, head: HeadDrafter, target: LoadedModel, answers: Sequence[Answer]) -> dict[str, Any]:
    log = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    words = set(load_file(folder / "model.safetensors")[VOCABULARY].tolist())
    outputs = [token for answer in answers for token in answer.trace.output.token_ids]
    return {
        "tokens_seen": log["tokens_seen"],
        "held_out": log["held_out"],
        "words": len(words),
        "answers_in_words": round(sum(token in words for token in outputs) / len(outputs), 4),
        "head": summary(target, head, answers),
        "both": summary(target, LookupFirstDrafter(head, "lookup-eagle"), answers),
    }


def summary(target: LoadedModel, drafter: Drafter, answers: Sequence[Answer]) -> dict[str, Any]:
    """Of each draft length and kind."""
    counts: dict[int, dict[str, list[Counts]]] = {length: {} for length in LENGTHS}
    for answer in answers:
        guesses = result_of(drafter.guess_along(target, answer.prompt, answer.trace.output.token_ids))
        assert guesses is not None
        for length, kinds in counts.items():
            kinds.setdefault(answer.kind, []).append(count(replay(guesses, length, TOKENS, ends_of(answer.trace))))
    every = {length: kinds | {ALL: [*chain(*kinds.values())]} for length, kinds in counts.items()}
    return {str(length): {kind: figures(own) for kind, own in kinds.items()} for length, kinds in every.items()}


def figures(counts: Sequence[Counts]) -> dict[str, float | None]:
    every = total(counts)
    shares = {"accepted": every.acceptance_rate, "per_judgement": every.per_judgement_rate}
    a_call = mean(each.tokens_per_target_call or 0.0 for each in counts)
    return {"tokens_a_call": round(a_call, 3)} | {k: None if v is None else round(v, 4) for k, v in shares.items()}


if __name__ == "__main__":
    main()
