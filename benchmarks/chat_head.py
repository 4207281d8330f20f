"""What a chat model accepts of a head on it, of prompt lookup, and of both: counts only, so no quiet machine is needed.

    make smollm2
    python -m benchmarks.chat_head [--heads FOLDER ...] [--texts FILE] [--check] [--out FILE [--more]]

Each folder is a head, as `python -m training chat-head` stores it; the folders of one run are points of its training
curve. The answers are greedy, so what a round accepts follows from the answer and the guesses at each place of it: no
text is decoded twice (`core/replay.py`). `--texts` stores the answers and the target's states for the next time.
`--more` keeps the points that the file has already. `--check` decodes every answer with the last head behind prompt
lookup too: the text and the passes must be the same.

Tokens per target call are those written over the passes of the target, of each prompt; a kind has the mean of its
prompts. The accepted share is that of all drafted guesses of a kind; `per_judgement` leaves out those that no pass
judged.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from benchmarks.timing import asked, here, report
from specviz import DecodeSettings, PromptLookupDrafter, load_model, speculative_decode
from specviz.core.metrics import Counts, count
from specviz.core.replay import DraftGuesses, replay
from specviz.core.steps import result_of
from specviz.core.trace import DrafterInfo
from specviz.data.prompts.workloads import CHAT_WORKLOADS
from specviz.decoding import HeadDrafter, LookupFirstDrafter
from specviz.decoding.drafters.lookup_first import SHORTEST
from specviz.models.cached_model import CachedModel
from specviz.models.catalogue import VOCABULARY
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.heads import load_head
from specviz.models.loaded_model import LoadedModel, chat_ids
from training.eagle import Eagle
from training.heads import go_on_from

PROMPTS = "assets/texts/chat_workloads.yaml"
TOKENS = 96  # of an answer, at most
LENGTHS = range(1, 7)
NOTHING = -1  # a guess after the answer's end, whatever it is
CHECKED = 4
ALL, BOTH = "all", "both"
Proposals = list[list[int]]  # at each place of an answer the guesses of a round that begins there


@dataclass(frozen=True, slots=True)
class Answer:
    name: str
    kind: str
    prompt: list[int]
    output: list[int]
    ends: list[int]  # the token that ended it; empty if its length did
    states: Tensor  # of the target, of every token but the last


def main() -> None:
    given = {"--texts": (Path, None), "--check": False, "--threads": 1, "--more": False, "--heads": ([Path], [])}
    options = asked(__doc__, given)
    torch.set_num_threads(options.threads)
    target = load_model(SMOLLM2)
    answers = stored_answers(target, options.texts)
    about: dict[str, object] = here() | {"target": target.name, "target_weights": target.info.weights_hash}
    about |= {"target_dtype": target.info.dtype, "prompts": PROMPTS, "max_new_tokens": TOKENS, "temperature": 0.0}
    ways = {"lookup": summary(answers, [looked_up(target, answer, shortest=1) for answer in answers])}
    points = [point(folder, target, answers) for folder in options.heads]
    if options.more:
        points += json.loads(Path(options.out).read_text(encoding="utf-8"))["heads"]
    if options.check:
        about |= {"checked": check(options.heads[-1], target, answers, points[len(options.heads) - 1][BOTH])}
    report(about | ways | {"heads": sorted(points, key=lambda each: each["tokens_seen"])}, options.out)


def stored_answers(target: LoadedModel, file: Path | None) -> list[Answer]:
    if file and file.is_file():
        return [Answer(**each) for each in torch.load(file, weights_only=True)]
    answers = []
    for kind, prompt in ((each.name, prompt) for each in CHAT_WORKLOADS for prompt in each.all_prompts):
        ids = chat_ids(target, [("user", prompt.text)])
        lookup, settings = PromptLookupDrafter(), DecodeSettings(max_new_tokens=TOKENS)
        output = speculative_decode(target, lookup, ids, settings, record=False).output
        model = CachedModel(target, target.rows)
        states = model.store_states()
        model.prefill([*ids, *output.token_ids][:-1])
        ends = output.token_ids[-1:] if output.stopped_by == "eos" else []
        known = states.since(0).clone()
        answers.append(Answer(prompt.name, kind, ids, output.token_ids, ends, known))
        print(prompt.name, len(ids), len(output.token_ids), flush=True)
    if file:
        torch.save([asdict(answer) for answer in answers], file)
    return answers


def check(folder: Path, target: LoadedModel, answers: Sequence[Answer], expected: dict[str, Any]) -> dict[str, object]:
    """Real runs at one draft length, in the target's number format."""
    drafter = LookupFirstDrafter(HeadDrafter(load_head(folder.name, target, folder=folder)), "lookup-eagle")
    settings = DecodeSettings(max_new_tokens=TOKENS, draft_length=CHECKED)
    traces = [speculative_decode(target, drafter, answer.prompt, settings, record=False) for answer in answers]
    same = sum(trace.output.token_ids == answer.output for trace, answer in zip(traces, answers, strict=True))
    found = _figures([count(trace.rounds) for trace in traces])
    about = {"draft_length": CHECKED, "answers": len(answers), "identical": same}
    return about | {"decoded": found, "replayed": expected[str(CHECKED)][ALL]}


def point(folder: Path, target: LoadedModel, answers: Sequence[Answer]) -> dict[str, Any]:
    log = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    config = json.loads((folder / "head.json").read_text(encoding="utf-8"))
    vocabulary = load_file(folder / "model.safetensors")[VOCABULARY].long()
    head = Eagle(target.model, config["intermediate_size"], vocabulary=vocabulary)
    go_on_from(head, folder)
    rows = target.model.lm_head.weight.detach()[vocabulary]
    guesses = [proposals(head, rows, answer) for answer in answers]
    both = [
        [found or own for found, own in zip(looked_up(target, answer), made, strict=True)]
        for answer, made in zip(answers, guesses, strict=True)
    ]
    words = set(vocabulary.tolist())
    outputs = [token for answer in answers for token in answer.output]
    return {
        "tokens_seen": log["tokens_seen"],
        "held_out": log["held_out"],
        "words": len(words),
        "answers_in_words": round(sum(token in words for token in outputs) / len(outputs), 4),
        "head": summary(answers, guesses),
        BOTH: summary(answers, both),
    }


def looked_up(target: LoadedModel, answer: Answer, shortest: int = SHORTEST) -> Proposals:
    lookup = PromptLookupDrafter(shortest=shortest)
    found = result_of(lookup.guess_along(target, answer.prompt, answer.output)).proposals
    assert found is not None
    return found


@torch.no_grad()
def proposals(head: Eagle, rows: Tensor, answer: Answer) -> Proposals:
    """Each guess knows the text before it: the guesses before it in its round were right, or it does not count."""
    ids, most = torch.tensor([*answer.prompt, *answer.output]), max(LENGTHS)
    made = head.guesses(answer.states[None].float(), ids[None, :-1], most)
    assert head.vocabulary is not None
    chosen = [head.vocabulary[(hidden[0] @ rows.T).argmax(-1)].tolist() for hidden in made]
    rounds = range(len(answer.prompt) - 2, len(ids) - 2)  # the last pair that a round knows, for each place
    return [[each[pair] if pair < len(each) else NOTHING for each in chosen] for pair in rounds]


def summary(answers: Sequence[Answer], guesses: Sequence[Proposals]) -> dict[str, object]:
    """Of each draft length and kind."""
    found: dict[str, object] = {}
    for length in LENGTHS:
        counts = [_count(answer, made, length) for answer, made in zip(answers, guesses, strict=True)]
        kinds = dict.fromkeys(answer.kind for answer in answers)
        of = {kind: [c for c, a in zip(counts, answers, strict=True) if a.kind == kind] for kind in kinds}
        found[str(length)] = {kind: _figures(own) for kind, own in (of | {ALL: counts}).items()}
    return found


def _count(answer: Answer, made: Proposals, length: int) -> Counts:
    guesses = DraftGuesses(DrafterInfo("other", "other"), answer.output, None, made, {}, exact=True)
    return count(replay(guesses, length, TOKENS, answer.ends))


def _figures(counts: Sequence[Counts]) -> dict[str, float | int | None]:
    total = Counts(*(sum(values) for values in zip(*(asdict(each).values() for each in counts), strict=True)))
    shares = {"accepted": total.acceptance_rate, "per_judgement": total.per_judgement_rate}
    a_call = mean(each.tokens_per_target_call or 0.0 for each in counts)
    return {"tokens_a_call": round(a_call, 3)} | {k: None if v is None else round(v, 4) for k, v in shares.items()}


if __name__ == "__main__":
    main()
