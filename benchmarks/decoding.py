"""How much faster the target writes with a draft, for each kind of text: greedy, decoding only, one torch thread.

    python -m benchmarks.decoding [--repeats 7] [--tokens 64] [--prompts 10] [--draft wren-nano] [--out FILE]

A prompt's speedup is a median of ratios: the target alone and every draft length run in turn, always to the full
length. The best of several draft lengths on the prompts that it is reported for would flatter, so each prompt is
counted at the length that did best on the other prompts of its kind.
"""

from statistics import median

import torch

from benchmarks.methods import measure
from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, chosen_on_others, here, mean_ratio, report
from specviz import load_model
from specviz.data.measured.measured_methods import KINDS, MethodSetting
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import make_drafter

GAMMAS = (2, 3, 4, 5, 7)


def main() -> None:
    options = asked(__doc__, {"--repeats": 7, "--tokens": 64, "--prompts": 10, "--draft": "wren-nano"})
    torch.set_num_threads(1)
    target, ways = load_model("wren-base"), {options.draft: [MethodSetting(gamma) for gamma in GAMMAS]}
    drafters = {options.draft: make_drafter(options.draft, target)}
    found = {}
    with quiet_machine() as quiet:
        for kind in (each for each in WORKLOADS if each.name in KINDS):
            texts = [each.text for each in kind.all_prompts[: options.prompts]]
            runs = [measure(target, drafters, ways, text, 0.0, options)[options.draft] for text in texts]
            prompts = [[each.speedup for each in prompt] for prompt in runs]
            chosen = chosen_on_others(prompts)
            mean = mean_ratio([prompt[place] for prompt, place in zip(prompts, chosen, strict=True)])
            middle = [round(median(each), 3) for each in zip(*prompts, strict=True)]
            found[kind.name] = {
                "prompts": len(prompts),
                "by_draft_length": dict(zip(GAMMAS, middle, strict=True)),
                "chosen": [GAMMAS[place] for place in chosen],  # for each prompt
                "speedup": mean["value"],  # over the prompts at their chosen lengths, with its 95 % interval
                "low": mean["low"],
                "high": mean["high"],
            }
    report(here() | {"quiet": quiet.said(), "options": vars(options), "greedy_speedup_decode": found}, options.out)


if __name__ == "__main__":
    main()
