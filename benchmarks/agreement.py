"""Whether calibrated costs explain measured speedups: a run's own counts at these costs, against its own clock.

    python -m benchmarks.agreement [--repeats 5] [--tokens 64] [--tries 3] [--clock wall] [--out FILE]

Three bundled pairs on the first prompt of each of the app's eight workloads; greedy, γ = 4, float32, one torch thread,
always to the full length. In every repeat a pair is calibrated as the app does it, and runs every prompt with both
decoders in turns, as on Watch. A repeat on a busy machine is measured again: the load average counts this program as
one, so others are above it. The clock of the processor counts only the time that this program had a core; what others
do to the caches and the memory stays in it.
"""

import argparse
import os
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from statistics import median
from typing import Any

import torch

from benchmarks.quiet import steady_calibration
from benchmarks.timing import report
from specviz import DecodeSettings, load_model
from specviz.core.metrics import speedup, speedup_at
from specviz.core.trace import Trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, autoregressive, make_drafter, speculative
from specviz.decoding.alternating import alternate
from specviz.measure.compare import PairedRuns
from specviz.models import pass_timing
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel

PAIRS = (("wren-base", "wren-nano"), ("wren-base", "wren-mini"), ("wren-mini", "wren-nano"))
DRAFT_LENGTH = 4
BUSY = 1 + 1.5  # this program, and so much of others
CLOCKS = {"wall": time.perf_counter, "processor": time.thread_time}


@dataclass(slots=True)
class Row:
    """One prompt of one pair: an entry for each repeat."""

    target: str
    draft: str
    prompt: str
    measured: list[float] = field(default_factory=list)
    modelled: list[float] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        measured, modelled = median(self.measured), median(self.modelled)
        figures = {"measured": measured, "modelled": modelled, "off_by": abs(modelled / measured - 1)}
        each = {f"{name}_all": [round(one, 3) for one in getattr(self, name)] for name in ("measured", "modelled")}
        return {"pair": f"{self.draft} → {self.target}", "prompt": self.prompt} | _rounded(figures) | each


def main() -> None:
    options = _options()
    torch.set_num_threads(1)
    for module in (autoregressive, speculative, pass_timing):
        module.perf_counter = CLOCKS[options.clock]  # type: ignore[attr-defined]
    rows, repeats = list[Row](), list[dict[str, Any]]()
    for pair in PAIRS:
        its = [Row(*pair, workload.prompts[0].name) for workload in WORKLOADS]
        repeats += [_repeat(its, options.tokens, options.tries) for _ in range(options.repeats)]
        rows += its
    pairs = {
        f"{draft} → {target}": [row for row in rows if (row.target, row.draft) == (target, draft)]
        for target, draft in PAIRS
    }
    result: dict[str, Any] = {
        "machine": asdict(describe_machine()),
        "created": datetime.now(UTC).date().isoformat(),
        "clock": options.clock,
        "tokens": options.tokens,
        "draft_length": DRAFT_LENGTH,
        "off_by_median": _off_by(rows),
        "off_by_median_of_one_run_and_one_calibration": _off_by_of_one(rows),
        "off_by_median_of_pairs": {name: _off_by(its) for name, its in pairs.items()},
        "repeats": repeats,
        "rows": [row.as_json() for row in rows],
    }
    report(result, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--tries", type=int, default=3, help="of a repeat on a busy machine")
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    parser.add_argument("--out")
    return parser.parse_args()


def _repeat(rows: Sequence[Row], tokens: int, tries: int) -> dict[str, Any]:
    """Calibrate the pair and run its prompts; adds to the rows, and returns how busy the machine was."""
    target = load_model(rows[0].target)
    drafter = make_drafter(rows[0].draft, target)
    prompts = {each.name: each.text for workload in WORKLOADS for each in workload.prompts}
    attempts, quiet = 0, False
    while not quiet and attempts < tries:
        before = os.getloadavg()[0]
        costs = steady_calibration(target, drafter)
        traces = [_in_turns(target, drafter, prompts[row.prompt], tokens) for row in rows]
        after = os.getloadavg()[0]
        attempts, quiet = attempts + 1, max(before, after) <= BUSY
    for row, trace in zip(rows, traces, strict=True):
        row.measured.append(speedup(trace) or 0.0)
        row.modelled.append(speedup_at(trace.rounds, costs.costs) or 0.0)
    load = {"before": round(before, 2), "after": round(after, 2)}
    figures = {"step_ms": 1000 * costs.step_seconds, "c": costs.cost_ratio, "v5": costs.verification[5]}
    pair = {"pair": f"{drafter.info.name} → {target.name}", "attempts": attempts, "load_average": load}
    return pair | _rounded(figures | {"overhead": costs.overhead})


def _in_turns(target: LoadedModel, drafter: Drafter, prompt: str, tokens: int) -> Trace:
    settings = DecodeSettings(max_new_tokens=tokens, draft_length=DRAFT_LENGTH, stop_at_eos=False)
    PairedRuns(target, drafter, prompt, settings).warm_up()
    ours, plain = SpeculativeRun(target, drafter, prompt, settings), AutoregressiveRun(target, prompt, settings)
    for run in (ours, plain):
        deque(run.read_prompt(), maxlen=0)
    deque(alternate(ours, plain), maxlen=0)
    return replace(ours.trace(), autoregressive=plain.trace().autoregressive)


def _off_by(rows: Sequence[Row]) -> float:
    """The median over prompts; each one's medians over repeats are compared."""
    return round(median(abs(median(row.modelled) / median(row.measured) - 1) for row in rows), 3)


def _off_by_of_one(rows: Sequence[Row]) -> float:
    """The same for a single run and the calibration just before it, as a visitor meets them."""
    ones = [(a, b) for row in rows for a, b in zip(row.measured, row.modelled, strict=True)]
    return round(median(abs(modelled / measured - 1) for measured, modelled in ones), 3)


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in figures.items()}


if __name__ == "__main__":
    main()
