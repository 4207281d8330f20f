"""What each bundled draft costs on this machine while nothing else runs: c, v(k) and o, with all their repeats.

    python -m benchmarks.quiet_costs [--target wren-base] [--drafts NAME ...] [--dtype float32] [--repeats 2]
        [--out benchmarks/results/quiet_costs.json]

Where a visitor's machine is too busy to time a run, the app ranks drafts by these costs: those of the processor that is
most like the visitor's. The file has one line for each machine, target and number format, and a new measurement takes
the place of the older one. The drafts take turns; each is calibrated as the app does it, `--repeats` times. One torch
thread, greedy. Medusa's heads are not among them: all their guesses share one pass, so they have no cost a guess.

On a busy machine nothing is stored (`benchmarks/quiet.py`), and neither where repeats do not agree. A run with the
default options takes a few minutes.
"""

import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import torch

from benchmarks.quiet import quiet_machine, steady_calibration
from benchmarks.timing import asked
from specviz import load_model
from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import DisturbedError
from specviz.core.files import read_stored
from specviz.core.metrics import Costs
from specviz.data.measured.measured_methods import Quiet
from specviz.data.measured.quiet_costs import FILE, MachineCosts, QuietCosts
from specviz.decoding import Drafter, make_drafter
from specviz.models.catalogue import bundled_models, stepping_heads
from specviz.models.devices import describe_machine, processor
from specviz.models.loaded_model import LoadedModel

DIGITS = 4
EARLY_EXITS = ("early-exit:1", "early-exit:2", "early-exit:4")  # those of the Draft menu


def main() -> None:
    given = {"--target": "wren-base", "--drafts": ([str], None), "--dtype": "float32", "--repeats": 2}
    options = asked(__doc__, given)
    torch.set_num_threads(1)
    target = load_model(options.target, options.dtype)
    names = options.drafts or drafts_of(options.target)
    drafters = {name: make_drafter(name, target, dtype=options.dtype) for name in names}
    with quiet_machine(options.target, options.dtype) as quiet:
        try:
            found = costs_of(target, drafters, options.repeats)
        except DisturbedError as error:
            raise SystemExit(f"Not stored: {error}") from None
        quiet.add_steps(block.step_seconds for costs in found.values() for block in costs.blocks)
    here = MachineCosts(
        created=datetime.now(UTC).date().isoformat(),
        processor=processor(),
        machine=describe_machine(),
        target=options.target,
        dtype=options.dtype,
        quiet=Quiet(**quiet.said()),
        drafts=found,
    )
    store(here, Path(options.out or FILE))


def drafts_of(target: str) -> list[str]:
    """The bundled drafts for a target whose guesses cost one step each."""
    sizes = {model.name: model.parameters for model in bundled_models()}
    models = [name for name, parameters in sizes.items() if parameters < sizes[target]]
    return [*models, *stepping_heads(target), PROMPT_LOOKUP, *EARLY_EXITS]


def costs_of(target: LoadedModel, drafters: dict[str, Drafter], repeats: int) -> dict[str, Costs]:
    """Each draft's costs. DisturbedError: the repeats of a calibration do not agree."""
    blocks: dict[str, list[Costs]] = {name: [] for name in drafters}
    for _ in range(repeats):
        for name, drafter in drafters.items():
            blocks[name] += steady_calibration(target, drafter).blocks
    return {name: _rounded(Costs.from_blocks(its)) for name, its in blocks.items()}


def _rounded(costs: Costs) -> Costs:
    return replace(
        costs,
        step_seconds=round(costs.step_seconds, 6),
        cost_ratio=round(costs.cost_ratio, DIGITS),
        verification={k: round(v, DIGITS) for k, v in costs.verification.items()},
        overhead=round(costs.overhead, DIGITS),
        blocks=tuple(map(_rounded, costs.blocks)),
    )


def store(here: MachineCosts, path: Path) -> None:
    """Write the file with this measurement in it."""
    others = read_stored(path, QuietCosts, "the quiet costs").machines if path.exists() else []
    machines = [*(each for each in others if each.key != here.key), here]
    shown = [asdict(each) for each in machines]
    for block in (block for each in shown for costs in each["drafts"].values() for block in costs["blocks"]):
        del block["blocks"]  # empty in every block
    lines = map(json.dumps, shown)  # a line for each machine
    path.write_text('{"schema": 1, "machines": [\n' + ",\n".join(lines) + "\n]}\n")


if __name__ == "__main__":
    main()
