"""What trees give and cost: tokens per target call, the time of a round's parts and the speedup, by shape and text.

    python -m benchmarks.trees [--target wren-base] [--drafts wren-nano ...] [--shapes 1,1,1,1 4,2,1 dynamic:16 ...]
        [--prompts N] [--repeats R] [--out benchmarks/results/trees.json]

The prompts are the app's own (`specviz.data.prompts.workloads`), the first N of each kind; greedy, one torch thread. A shape
"4" is a chain of 4. Tokens per target call are exact counts. Times are medians over rounds of all repeats, in which
the target alone and every shape take turns; a speedup is the median over prompts of the median ratio of a turn.
"""

import argparse
from collections.abc import Iterable
from dataclasses import asdict
from statistics import median
from typing import Any

import torch

from benchmarks.quiet import quiet_machine
from benchmarks.timing import report
from specviz import DecodeSettings, autoregressive_decode, load_model, speculative_decode
from specviz.core.metrics import count
from specviz.core.rounds import known_seconds
from specviz.core.trace import Round, Trace
from specviz.data.prompts.workloads import find_workload
from specviz.decoding import Drafter, make_drafter
from specviz.measure.calibration import TREE_NODES, calibrate
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

KINDS = ("story", "code", "structured", "prose")
SHAPES = ("1", "2", "4", "7", "2,2", "3,2,1", "4,2,1", "2,2,1,1", "dynamic:8", "dynamic:16", "dynamic:32")
DYNAMIC_DEPTH = 4


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    target = load_model(options.target)
    result: dict[str, Any] = {"machine": asdict(describe_machine()), "options": vars(options), "drafts": []}
    with quiet_machine(options.target) as quiet:
        for name in options.drafts:
            drafter = make_drafter(name, target)
            costs = calibrate(target, drafter.loaded, nodes=TREE_NODES, drafter=drafter)
            kinds = {kind: _kind(target, drafter, kind, options) for kind in KINDS}
            result["drafts"].append({"draft": name, "calibration": asdict(costs), "kinds": kinds})
    report(result | {"quiet": quiet.said()}, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="wren-base")
    parser.add_argument("--drafts", nargs="+", default=["wren-nano"])
    parser.add_argument("--shapes", nargs="+", default=SHAPES)
    parser.add_argument("--prompts", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--out")
    return parser.parse_args()


def settings_of(shape: str, tokens: int) -> DecodeSettings:
    """The settings for a shape; a single number is a chain of that length."""
    if shape.isdigit():
        return DecodeSettings(max_new_tokens=tokens, draft_length=int(shape))
    depth = DYNAMIC_DEPTH if shape.startswith("dynamic") else shape.count(",") + 1
    return DecodeSettings(max_new_tokens=tokens, draft_length=depth, tree=shape)


def _kind(target: LoadedModel, drafter: Drafter, kind: str, options: argparse.Namespace) -> dict[str, Any]:
    """Each shape on the prompts of one kind."""
    workload = find_workload(kind)
    assert workload is not None
    runs: dict[str, list[list[Trace]]] = {shape: [] for shape in options.shapes}
    ratios: dict[str, list[float]] = {shape: [] for shape in options.shapes}
    for preset in workload.prompts[: options.prompts]:
        turns = [_turn(target, drafter, preset.text, options) for _ in range(options.repeats + 1)][1:]
        for shape in options.shapes:
            runs[shape].append([turn[shape][0] for turn in turns])
            ratios[shape].append(median(turn[shape][1] for turn in turns))
    return {shape: _row(runs[shape], ratios[shape]) for shape in options.shapes}


def _turn(
    target: LoadedModel, drafter: Drafter, prompt: str, options: argparse.Namespace
) -> dict[str, tuple[Trace, float]]:
    """One run of every shape, each just after one of the target alone, and its speedup over that one."""
    found = {}
    for shape in options.shapes:
        settings = settings_of(shape, options.tokens)
        plain = autoregressive_decode(target, prompt, settings)
        assert plain.autoregressive is not None
        trace = speculative_decode(target, drafter, prompt, settings, record=False)
        seconds = sum(known_seconds(round.seconds) for round in trace.rounds)
        alone = sum(plain.autoregressive.seconds_per_token) / len(plain.output.token_ids)
        found[shape] = trace, alone * len(trace.output.token_ids) / seconds
    return found


def _row(runs: Iterable[list[Trace]], ratios: list[float]) -> dict[str, float]:
    """Counts of one run of each prompt, and the times of all rounds of all repeats."""
    runs = list(runs)
    counts = count([round for repeats in runs for round in repeats[0].rounds])
    rounds: list[Round] = [round for repeats in runs for trace in repeats for round in trace.rounds]
    per_call = counts.tokens_per_target_call
    return {
        "tokens_per_target_call": round(per_call or 0.0, 2),
        "nodes_a_round": round(counts.drafted / counts.rounds, 1),
        "draft_ms": round(1000 * median(known_seconds(each.draft_seconds) for each in rounds), 2),
        "verify_ms": round(1000 * median(known_seconds(each.verify_seconds) for each in rounds), 2),
        "overhead_ms": round(1000 * median(known_seconds(each.overhead_seconds) for each in rounds), 2),
        "speedup": round(median(ratios), 2),
    }


if __name__ == "__main__":
    main()
