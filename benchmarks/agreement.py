"""Whether calibrated costs explain measured speedups: a run's own counts at these costs, against its own clock.

    python -m benchmarks.agreement [--repeats 5] [--tokens 64] [--tries 3] [--out FILE]

Three bundled pairs on the first prompt of each of the app's eight workloads; greedy, γ = 4, float32, one torch thread,
always to the full length. In every repeat a pair is calibrated as the app does it, and runs every prompt with both
decoders in turns, as on Watch. A repeat on a busy machine is measured again: the load average counts this program as
one, so others are above it.
"""

import os
from argparse import Namespace
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import torch

from benchmarks.quiet import in_turns, steady_calibration
from benchmarks.timing import asked, here, report, rounded
from specviz import DecodeSettings, load_model
from specviz.core.metrics import speedup, speedup_at
from specviz.data.prompts.workloads import WORKLOADS, Preset
from specviz.decoding import make_drafter
from specviz.measure.compare import PairedRuns

PAIRS = (("wren-base", "wren-nano"), ("wren-base", "wren-mini"), ("wren-mini", "wren-nano"))
DRAFT_LENGTH = 4
BUSY = 1 + 1.5  # this program, and so much of others


@dataclass(slots=True)
class Row:
    """One prompt of one pair: an entry for each repeat."""

    pair: str
    prompt: Preset
    measured: list[float] = field(default_factory=list)
    modelled: list[float] = field(default_factory=list)

    @property
    def off_by(self) -> float:
        return abs(median(self.modelled) / median(self.measured) - 1)

    def as_json(self) -> dict[str, Any]:
        figures = {"measured": median(self.measured), "modelled": median(self.modelled), "off_by": self.off_by}
        each = rounded(figures | {"measured_all": self.measured, "modelled_all": self.modelled})
        return {"pair": self.pair, "prompt": self.prompt.name} | each


def main() -> None:
    options = asked(__doc__, {"--repeats": 5, "--tokens": 64, "--tries": 3})
    torch.set_num_threads(1)
    rows, repeats = list[Row](), []
    for target, draft in PAIRS:
        its = [Row(f"{draft} → {target}", workload.prompts[0]) for workload in WORKLOADS]
        repeats += [repeat(target, draft, its, options) for _ in range(options.repeats)]
        rows += its
    ones = [abs(b / a - 1) for row in rows for a, b in zip(row.measured, row.modelled, strict=True)]
    found = {
        "tokens": options.tokens,
        "draft_length": DRAFT_LENGTH,
        "off_by_median": round(median(row.off_by for row in rows), 3),
        "off_by_median_of_one_run_and_one_calibration": round(median(ones), 3),  # as a visitor meets them
        "repeats": repeats,
        "rows": [row.as_json() for row in rows],
    }
    report(here() | found, options.out)


def repeat(target_name: str, draft: str, rows: list[Row], options: Namespace) -> dict[str, Any]:
    """Calibrate the pair and run its prompts; adds to the rows, and returns how busy the machine was."""
    target = load_model(target_name)
    drafter = make_drafter(draft, target)
    settings = DecodeSettings(max_new_tokens=options.tokens, draft_length=DRAFT_LENGTH, stop_at_eos=False)
    attempts, load = 0, {"after": BUSY + 1}
    while max(load.values()) > BUSY and attempts < options.tries:
        load = {"before": os.getloadavg()[0]}
        costs, traces = steady_calibration(target, drafter), []
        for row in rows:
            PairedRuns(target, drafter, row.prompt.text, settings).warm_up()
            traces.append(in_turns(target, drafter, row.prompt.text, settings))
        load["after"], attempts = os.getloadavg()[0], attempts + 1
    for row, trace in zip(rows, traces, strict=True):
        row.measured.append(speedup(trace) or 0.0)
        row.modelled.append(speedup_at(trace.rounds, costs) or 0.0)
    figures = {"step_ms": 1000 * costs.step_seconds, "c": costs.cost_ratio, "v5": costs.verification[5]}
    pair = {"pair": rows[0].pair, "attempts": attempts, "load_average": rounded(load)}
    return pair | rounded(figures | {"overhead": costs.overhead})


if __name__ == "__main__":
    main()
