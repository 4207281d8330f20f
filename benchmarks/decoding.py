"""How fast the decoder is, as ratios: against transformers and against itself.

    python -m benchmarks.decoding [--repeats 7] [--tokens 64] [--prompts 2] [--speedup-prompts 10] [--out FILE]

Every figure is a median of ratios. The two sides of a ratio run alternately in one process, with one torch thread,
greedy, always to the full length. Whole calls are timed, prompt included, unless a figure says "decode".

The greedy speedup is over more prompts than the other figures. The best of several draft lengths on the prompts that it
is reported for would flatter, so each prompt is counted at the length that did best on the other prompts of its kind.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from statistics import geometric_mean, median
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from benchmarks.timing import ratio, report, take_turns
from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.intervals import interval_of_ratios
from specviz.core.rounds import known_seconds
from specviz.data.prompts.workloads import WORKLOADS
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

KINDS = ("story", "prose", "code", "structured")
GAMMAS = (2, 3, 4, 5, 7)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompts", type=int, default=2, help="prompts of each kind")
    parser.add_argument("--speedup-prompts", type=int, default=10, help="of each kind, for the greedy speedup")
    parser.add_argument("--draft", default="wren-nano")
    parser.add_argument("--out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    prompts, more = prompts_of(options.prompts), prompts_of(options.speedup_prompts)
    every = [prompt for kind in KINDS for prompt in prompts[kind]]
    target, draft = load_model("wren-base"), load_model(options.draft)
    arguments = (target, draft, every, options.tokens, options.repeats)
    with quiet_machine() as quiet:
        found = {
            "generate_seconds_over_plain_loop": over_prompts(generate_over_plain, *arguments),
            "assisted_seconds_over_speculative_loop": over_lengths(assisted_over_speculative, *arguments),
            "greedy_speedup_decode": {
                kind: reported([decode_ratios(target, draft, text, options.tokens, options.repeats) for text in texts])
                for kind, texts in more.items()
            },
        }
    about = {"machine": asdict(describe_machine()), "quiet": quiet.said(), "options": vars(options)}
    report(about | found, options.out)


def prompts_of(count: int) -> dict[str, list[str]]:
    """The first prompts of each kind."""
    return {w.name: [preset.text for preset in w.all_prompts[:count]] for w in WORKLOADS if w.name in KINDS}


def over_prompts(
    figure: Callable[..., float], target: LoadedModel, draft: LoadedModel, prompts: list[str], *rest: int
) -> dict[str, Any]:
    """A figure for each prompt, and their median."""
    each = [round(figure(target, draft, prompt, *rest), 4) for prompt in prompts]
    return {"median": round(median(each), 4), "each": each}


def over_lengths(figure: Callable[..., float], *arguments: Any) -> dict[str, Any]:
    """The same for each draft length, and the median over all lengths and prompts."""
    by_length = {gamma: over_prompts(figure, *arguments, gamma) for gamma in GAMMAS}
    each = [one for length in by_length.values() for one in length["each"]]
    return {"median": round(median(each), 4), "by_draft_length": by_length}


def to_the_end(tokens: int, gamma: int = 4) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=gamma, stop_at_eos=False)


def generate_over_plain(target: LoadedModel, draft: LoadedModel, prompt: str, tokens: int, repeats: int) -> float:
    """Above 1: the plain loop is faster than transformers' `generate`."""
    seconds = take_turns(
        {
            "generate": lambda: generate(target, prompt, tokens),
            "plain": lambda: autoregressive_decode(target, prompt, to_the_end(tokens)),
        },
        repeats,
    )
    return ratio(seconds, "generate", "plain")


def assisted_over_speculative(
    target: LoadedModel, draft: LoadedModel, prompt: str, tokens: int, repeats: int, gamma: int
) -> float:
    """The speculative loop's tokens per second over transformers assisted generation's, same pair and gamma."""
    drafter = ModelDrafter(draft)
    # generate() reads these from the assistant only (transformers 5.23)
    assistant = draft.model.generation_config
    assert assistant is not None
    assistant.num_assistant_tokens = gamma
    assistant.num_assistant_tokens_schedule = "constant"
    assistant.assistant_confidence_threshold = 0.0
    seconds = take_turns(
        {
            "assisted": lambda: generate(target, prompt, tokens, assistant_model=draft.model),
            "speculative": lambda: speculative_decode(target, drafter, prompt, to_the_end(tokens, gamma), record=False),
        },
        repeats,
    )
    return ratio(seconds, "assisted", "speculative")


def generate(target: LoadedModel, prompt: str, tokens: int, **options: Any) -> None:
    inputs = target.tokenizer(prompt, return_tensors="pt")
    with torch.inference_mode():
        written = target.model.generate(
            **inputs, max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False, **options
        )
    assert written.shape[1] == inputs["input_ids"].shape[1] + tokens


def reported(prompts: Sequence[Mapping[int, float]]) -> dict[str, Any]:
    """The figures of one kind of prompt.

    Args:
        prompts: for each prompt its speedup by draft length.

    Returns:
        `prompts`: how many; `by_draft_length`: the median over prompts; `chosen`: for each prompt the length that did
        best on the others (geometric mean); `speedup`: the geometric mean over prompts at their chosen lengths;
        `low` and `high`: its 95 % interval over prompts. The last four need two prompts.
    """
    lengths = list(prompts[0])
    by_length = {length: round(median(prompt[length] for prompt in prompts), 3) for length in lengths}
    if len(prompts) < 2:
        return {"prompts": len(prompts), "by_draft_length": by_length}
    chosen = [best_length([*prompts[:own], *prompts[own + 1 :]]) for own in range(len(prompts))]
    speedups = [prompt[length] for prompt, length in zip(prompts, chosen, strict=True)]
    low, high = interval_of_ratios(speedups)
    return {
        "prompts": len(prompts),
        "by_draft_length": by_length,
        "chosen": chosen,
        "speedup": round(geometric_mean(speedups), 3),
        "low": round(low, 3),
        "high": round(high, 3),
    }


def best_length(prompts: Sequence[Mapping[int, float]]) -> int:
    """The draft length with the highest geometric mean over these prompts."""
    return max(prompts[0], key=lambda length: geometric_mean(prompt[length] for prompt in prompts))


def decode_ratios(target: LoadedModel, draft: LoadedModel, prompt: str, tokens: int, repeats: int) -> dict[int, float]:
    """The speedup at each draft length. A turn is one plain run and then one run of each length."""
    drafter = ModelDrafter(draft)
    ratios: dict[int, list[float]] = {gamma: [] for gamma in GAMMAS}
    for turn in range(repeats + 1):
        plain = autoregressive_decode(target, prompt, to_the_end(tokens)).autoregressive
        assert plain is not None
        for gamma in GAMMAS:
            run = speculative_decode(target, drafter, prompt, to_the_end(tokens, gamma), record=False)
            if turn:
                ratios[gamma].append(
                    sum(plain.seconds_per_token) / sum(known_seconds(round.seconds) for round in run.rounds)
                )
    return {gamma: median(each) for gamma, each in ratios.items()}


if __name__ == "__main__":
    main()
