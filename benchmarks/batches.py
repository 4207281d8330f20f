"""What speculation brings in batches of 1 to 16 texts, and what a check costs there.

    python -m benchmarks.batches [--target wren-base] [--draft wren-nano] [--batches 1 2 4 8 16] [--draft-lengths 1 2 4]
        [--prompts 4] [--repeats 6] [--new-tokens 64] [--out assets/measured/batches.json]

The prompts are the app's own (`data/prompts/workloads.py`), the first few of each of four kinds, so that the texts of a
batch are accepted at different rates. Every batch size decodes all of them, greedy and to the full length, by the
target alone and with each draft length in turn. One torch thread; decoding only. A speedup is the geometric mean of the
ratios of the repeats, with its 95 % interval. It is measured twice: until the slowest text of each batch has ended, and
while every text still writes, as on a server that gives a free place to the next text at once.

With `--clock processor` the times are what the one computing thread was given, so that other programs on a busy
machine hardly count. Without it they are what a person waits.

The app shows the file assets/measured/batches.json: When it helps, Learn and the Worksheet.
"""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from benchmarks.batching.measuring import BatchPlan, measure_batches
from benchmarks.quiet import quiet_machine
from benchmarks.timing import asked, report
from specviz import load_model
from specviz.data.prompts.workloads import find_workload

KINDS = ("story", "code", "structured", "prose")


def main() -> None:
    """Measure and print JSON; what is measured now goes to standard error."""
    plan = BatchPlan()
    given = {"--target": "wren-base", "--target-dtype": "float32", "--draft": "wren-nano", "--prompts": 4}
    of_plan = ("batches", "draft_lengths", "new_tokens", "repeats", "pass_repeats", "clock")
    values = {name: getattr(plan, name) for name in of_plan}
    varied = {name: ([int], value) if isinstance(value, tuple) else value for name, value in values.items()}
    options = asked(__doc__, given | {f"--{name.replace('_', '-')}": each for name, each in varied.items()})
    torch.set_num_threads(1)
    plan = BatchPlan(**{name: getattr(options, name) for name in of_plan})
    target, draft = load_model(options.target, options.target_dtype), load_model(options.draft)
    with quiet_machine(options.target, options.target_dtype) as quiet:
        study = measure_batches(target, draft, prompts(options.prompts), plan, lambda now: print(now, file=sys.stderr))
    if options.out:
        Path(options.out).parent.mkdir(exist_ok=True)
    report(asdict(study) | {"quiet": quiet.said()}, options.out)


def prompts(each: int) -> dict[str, str | Sequence[int]]:
    """So many prompts of each kind, by name."""
    found: dict[str, str | Sequence[int]] = {}
    for kind in KINDS:
        workload = find_workload(kind)
        assert workload is not None
        found |= {preset.name: preset.text for preset in workload.prompts[:each]}
    return found


if __name__ == "__main__":
    main()
