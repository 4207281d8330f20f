"""Record one run of each drafting method, which Learn and Watch show: python -m scripts.record_methods [FOLDER]

All runs are on one prompt of the app: the first one on which every run shows what it must (see
`scripts/wanted_runs.py`). So the greedy ones write the same text. It writes method-*.json to FOLDER
(assets/traces). Run it on a machine that does nothing else.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.quiet import quiet_machine
from scripts.record_story import in_turns, median_run, plain_steps, presets, slim
from scripts.wanted_runs import METHOD_RUNS, MethodRun
from specviz import DecodeSettings, load_model
from specviz.core.metrics import speedup
from specviz.core.trace import dump_trace
from specviz.data.prompts.workloads import Preset
from specviz.decoding import Drafter, make_drafter
from specviz.models.loaded_model import LoadedModel

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "traces"
TARGET = "wren-base"
WORKLOADS = ("code", "story", "structured", "boilerplate", "copy", "prose")
SEEDS = 6  # of a sampled run: the first one that fits
REPEATS = 5  # timings of each run; the median one is recorded


def main() -> None:
    """Search, record, write."""
    torch.set_num_threads(1)
    target = load_model(TARGET)
    drafters = {name: make_drafter(run.draft, target, run.settings) for name, run in METHOD_RUNS.items()}
    preset, settings = find(target, drafters)
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    with quiet_machine(TARGET) as quiet:
        runs = {
            name: median_run([in_turns(target, drafters[name], preset, chosen) for _ in range(REPEATS)])
            for name, chosen in settings.items()
        }
        quiet.add_steps(step for run in runs.values() for step in plain_steps(run))
    for name, run in runs.items():
        (folder / f"{name}.json").write_text(dump_trace(slim(run)), encoding="utf-8")
        print(f"{name}: {preset.name}, seed {run.settings.seed}, {speedup(run) or 0:.2f} times", file=sys.stderr)


def find(target: LoadedModel, drafters: dict[str, Drafter]) -> tuple[Preset, dict[str, DecodeSettings]]:
    """The first prompt on which every run fits, and the settings of each."""
    for preset in presets(*WORKLOADS):
        settings: dict[str, DecodeSettings] = {}
        for name, run in METHOD_RUNS.items():
            found = next(fitting(target, drafters[name], preset, run), None)
            if found is None:
                print(f"{preset.name}: {name} is not {run.wanted}", file=sys.stderr)
                break
            settings[name] = found
        else:
            return preset, settings
    sys.exit("No prompt has a run of every method that shows what it must.")


def fitting(target: LoadedModel, drafter: Drafter, preset: Preset, run: MethodRun) -> Iterator[DecodeSettings]:
    """The settings, by seed, whose run shows what it must. A greedy run has one seed."""
    for seed in range(1 if run.settings.greedy else SEEDS):
        settings = replace(run.settings, seed=seed)
        if run.fits(in_turns(target, drafter, preset, settings)):
            yield settings


if __name__ == "__main__":
    main()
