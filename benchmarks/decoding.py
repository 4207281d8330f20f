"""How much faster the target writes with a draft, for each kind of text: greedy, decoding only, one torch thread.

    python -m benchmarks.decoding [--repeats 7] [--tokens 64] [--prompts 10] [--draft wren-nano] [--out FILE]

A prompt's speedup is a median of ratios: the target alone and every draft length run in turn, always to the full
length. The best of several draft lengths on the prompts that it is reported for would flatter, so each prompt is
counted at the length that did best on the other prompts of its kind.
"""

from collections.abc import Sequence
from statistics import median
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, chosen_on_others, here, mean_ratio, report
from specviz import DecodeSettings, ModelDrafter, autoregressive_decode, load_model, speculative_decode
from specviz.core.rounds import known_seconds
from specviz.data.prompts.workloads import WORKLOADS
from specviz.models.loaded_model import LoadedModel

KINDS = ("story", "prose", "code", "structured")
GAMMAS = (2, 3, 4, 5, 7)


def main() -> None:
    options = asked(__doc__, {"--repeats": 7, "--tokens": 64, "--prompts": 10, "--draft": "wren-nano"})
    torch.set_num_threads(1)
    target, drafter = load_model("wren-base"), ModelDrafter(load_model(options.draft))
    prompts = {w.name: [each.text for each in w.all_prompts[: options.prompts]] for w in WORKLOADS if w.name in KINDS}
    with quiet_machine() as quiet:
        ratios = {
            kind: [decode_ratios(target, drafter, text, options.tokens, options.repeats) for text in texts]
            for kind, texts in prompts.items()
        }
    found = {"greedy_speedup_decode": {kind: reported(each) for kind, each in ratios.items()}}
    report(here() | {"quiet": quiet.said(), "options": vars(options)} | found, options.out)


def decode_ratios(target: LoadedModel, drafter: ModelDrafter, prompt: str, tokens: int, repeats: int) -> list[float]:
    """The speedup at each draft length. A turn is one plain run and then one run of each length."""
    ratios: list[list[float]] = [[] for _ in GAMMAS]
    for turn in range(repeats + 1):
        plain = autoregressive_decode(target, prompt, to_the_end(tokens)).autoregressive
        assert plain is not None
        for gamma, its in zip(GAMMAS, ratios, strict=True):
            rounds = speculative_decode(target, drafter, prompt, to_the_end(tokens, gamma), record=False).rounds
            if turn:  # the first one warms up
                its.append(sum(plain.seconds_per_token) / sum(known_seconds(each.seconds) for each in rounds))
    return [median(its) for its in ratios]


def to_the_end(tokens: int, gamma: int = 4) -> DecodeSettings:
    return DecodeSettings(max_new_tokens=tokens, draft_length=gamma, stop_at_eos=False)


def reported(prompts: Sequence[Sequence[float]]) -> dict[str, Any]:
    """The figures of one kind of prompt, of two prompts or more.

    Args:
        prompts: for each prompt its speedup at each draft length.

    Returns:
        `prompts`: how many; `by_draft_length`: the median over prompts; `chosen`: for each prompt the length that did
        best on the others (geometric mean); `speedup`: the geometric mean over prompts at their chosen lengths;
        `low` and `high`: its 95 % interval over prompts.
    """
    chosen = chosen_on_others(prompts)
    found = mean_ratio([prompt[place] for prompt, place in zip(prompts, chosen, strict=True)])
    by_length = dict(zip(GAMMAS, (round(median(each), 3) for each in zip(*prompts, strict=True)), strict=True))
    places = {"prompts": len(prompts), "by_draft_length": by_length, "chosen": [GAMMAS[place] for place in chosen]}
    return places | {"speedup": found["value"], "low": found["low"], "high": found["high"]}


if __name__ == "__main__":
    main()
