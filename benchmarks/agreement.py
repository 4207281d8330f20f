"""Whether calibrated costs explain measured speedups: a run's own counts at these costs, against its own clock.

    python -m benchmarks.agreement [--repeats 5] [--tokens 64] [--tries 3] [--out FILE]

Three bundled pairs on the first prompt of each of the app's eight workloads; greedy, γ = 4, float32, one torch thread,
always to the full length. In every repeat a pair is calibrated as the app does it, and runs every prompt with both
decoders in turns, as on Watch. A repeat on a busy machine is measured again: the load average counts this program as
one, so others are above it.
"""

import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import torch

from benchmarks.quiet import steady_calibration
from benchmarks.timing import asked, here, report
from specviz import DecodeSettings, load_model
from specviz.core.metrics import speedup, speedup_at
from specviz.core.trace import Trace
from specviz.data.prompts.workloads import WORKLOADS
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, make_drafter
from specviz.decoding.speculative import alternate
from specviz.measure.compare import PairedRuns
from specviz.models.loaded_model import LoadedModel

PAIRS = (("wren-base", "wren-nano"), ("wren-base", "wren-mini"), ("wren-mini", "wren-nano"))
DRAFT_LENGTH = 4
BUSY = 1 + 1.5  # this program, and so much of others


@dataclass(slots=True)
class Row:
    """One prompt of one pair: an entry for each repeat."""

    pair: tuple[str, str]
    prompt: str
    measured: list[float] = field(default_factory=list)
    modelled: list[float] = field(default_factory=list)

    @property
    def off_by(self) -> float:
        return abs(median(self.modelled) / median(self.measured) - 1)

    def as_json(self) -> dict[str, Any]:
        figures = {"measured": median(self.measured), "modelled": median(self.modelled), "off_by": self.off_by}
        each = {"measured_all": self.measured, "modelled_all": self.modelled}
        return {"pair": " → ".join(reversed(self.pair)), "prompt": self.prompt} | _rounded(figures | each)


def main() -> None:
    options = asked(__doc__, {"--repeats": 5, "--tokens": 64, "--tries": 3})
    torch.set_num_threads(1)
    rows = {pair: [Row(pair, workload.prompts[0].name) for workload in WORKLOADS] for pair in PAIRS}
    repeats = [_repeat(rows[pair], options.tokens, options.tries) for pair in PAIRS for _ in range(options.repeats)]
    every = [row for its in rows.values() for row in its]
    ones = [abs(b / a - 1) for row in every for a, b in zip(row.measured, row.modelled, strict=True)]
    found = {
        "tokens": options.tokens,
        "draft_length": DRAFT_LENGTH,
        "off_by_median": round(median(row.off_by for row in every), 3),
        "off_by_median_of_one_run_and_one_calibration": round(median(ones), 3),  # as a visitor meets them
        "repeats": repeats,
        "rows": [row.as_json() for row in every],
    }
    report(here() | found, options.out)


def _repeat(rows: Sequence[Row], tokens: int, tries: int) -> dict[str, Any]:
    """Calibrate the pair and run its prompts; adds to the rows, and returns how busy the machine was."""
    target = load_model(rows[0].pair[0])
    drafter = make_drafter(rows[0].pair[1], target)
    prompts = {each.name: each.text for workload in WORKLOADS for each in workload.prompts}
    attempts, quiet = 0, False
    while not quiet and attempts < tries:
        before = os.getloadavg()[0]
        costs = steady_calibration(target, drafter)
        traces = [_in_turns(target, drafter, prompts[row.prompt], tokens) for row in rows]
        load = {"before": before, "after": os.getloadavg()[0]}
        attempts, quiet = attempts + 1, max(load.values()) <= BUSY
    for row, trace in zip(rows, traces, strict=True):
        row.measured.append(speedup(trace) or 0.0)
        row.modelled.append(speedup_at(trace.rounds, costs.costs) or 0.0)
    figures = {"step_ms": 1000 * costs.step_seconds, "c": costs.cost_ratio, "v5": costs.verification[5]}
    pair = {"pair": f"{drafter.info.name} → {target.name}", "attempts": attempts, "load_average": _rounded(load)}
    return pair | _rounded(figures | {"overhead": costs.overhead})


def _in_turns(target: LoadedModel, drafter: Drafter, prompt: str, tokens: int) -> Trace:
    settings = DecodeSettings(max_new_tokens=tokens, draft_length=DRAFT_LENGTH, stop_at_eos=False)
    PairedRuns(target, drafter, prompt, settings).warm_up()
    ours, plain = SpeculativeRun(target, drafter, prompt, settings), AutoregressiveRun(target, prompt, settings)
    for run in (ours, plain):
        deque(run.read_prompt(), maxlen=0)
    deque(alternate(ours, plain), maxlen=0)
    return replace(ours.trace(), autoregressive=plain.trace().autoregressive)


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {
        name: [round(one, 3) for one in value] if isinstance(value, list) else round(value, 3)
        for name, value in figures.items()
    }


if __name__ == "__main__":
    main()
