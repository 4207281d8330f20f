"""Record one run of a chat model that repeats its prompt and one that does not: python -m scripts.record_chat [FOLDER]

Both are drafted by prompt lookup. Of the prompts of each kind it takes the one with the middle count of tokens per
target call, so that no lucky prompt is shown. It needs `smollm2` (make smollm2), and writes chat-*.json to FOLDER
(assets/traces). Run it on a machine that does nothing else.
"""

import sys
from pathlib import Path

import torch

from benchmarks.quiet import quiet_machine
from scripts.record_story import ROOT, in_turns, median_run, plain_steps, presets, slim
from specviz import DecodeSettings, PromptLookupDrafter, load_model, speculative_decode
from specviz.core.metrics import count, speedup
from specviz.core.trace import dump_trace
from specviz.data.prompts.workloads import Preset
from specviz.models.gguf_folder import SMOLLM2
from specviz.models.loaded_model import LoadedModel

KINDS = {"chat-edit": "correct", "chat-story": "stories"}
SETTINGS = DecodeSettings(max_new_tokens=64, draft_length=4, prompt_format="chat")
REPEATS = 5  # timings of each run; the median one is recorded


def main() -> None:
    """Count, choose, time, write."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "traces"
    target, drafter = load_model(SMOLLM2), PromptLookupDrafter()
    chosen = {name: middle(target, kind) for name, kind in KINDS.items()}
    with quiet_machine(SMOLLM2) as quiet:
        runs = {
            name: median_run([in_turns(target, drafter, preset, SETTINGS) for _ in range(REPEATS)])
            for name, preset in chosen.items()
        }
        quiet.add_steps(step for run in runs.values() for step in plain_steps(run))
    for name, run in runs.items():
        (folder / f"{name}.json").write_text(dump_trace(slim(run)), encoding="utf-8")
        print(f"{name}: {chosen[name].name}, {speedup(run) or 0:.2f} times", file=sys.stderr)


def middle(target: LoadedModel, kind: str) -> Preset:
    """The prompt of this kind with the middle count of tokens per target call; the lower of the middle two."""
    found = list(presets(kind))

    def per_pass(preset: Preset) -> float:
        run = speculative_decode(target, PromptLookupDrafter(), preset.text, SETTINGS)
        return count(run.rounds).tokens_per_target_call or 0.0

    return sorted(found, key=per_pass)[(len(found) - 1) // 2]


if __name__ == "__main__":
    main()
