"""Record the sweep that "When it helps" shows before anything is measured: python -m scripts.record_sweep [CSV]

All eight workloads on the bundled models, greedy and at temperature 1, written to assets/traces/sweep.csv. Every row is
a timing, so run it on a machine that does nothing else: where something else runs, the new rows are deleted. If it is
stopped, the next run continues; `--fresh` starts again from nothing. A prompt with a pair of runs that is faster than
possible is measured again, with all its pairs: a moment in which the machine did something else slowed its plain run.
"""

import argparse
import shutil
from pathlib import Path

import pandas as pd

from benchmarks.quiet import quiet_machine
from specviz.cli.main import main as specviz
from specviz.measure.sweep.study import impossible

FILE = Path(__file__).parent.parent / "assets" / "traces" / "sweep.csv"
TARGET = "wren-base"
PROMPTS, TOKENS = 10, 64
DRAFTS = ("wren-nano", "wren-mini", "prompt-lookup")
GREEDY = ["--draft-lengths", "1,2,4,6,8", "--schedules", "fixed,heuristic,confidence", "--constrained"]
SAMPLED = ["--draft-lengths", "1,2,4,8", "--temperatures", "1"]
PAIR = ["draft", "preset", "temperature", "constrained"]  # what shares one plain run
TRIES = 3


def main() -> int:
    """The rows as `python -m specviz sweep` makes them."""
    parser = argparse.ArgumentParser(description="Record the sweep that the page shows first.")
    parser.add_argument("csv", type=Path, nargs="?", default=FILE)
    parser.add_argument("--fresh", action="store_true", help="delete the rows that the file holds")
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    options = parser.parse_args()
    working = options.csv.with_suffix(".measuring.csv")
    if options.csv.exists() and not working.exists() and not options.fresh:
        shutil.copy(options.csv, working)
    try:
        with quiet_machine(TARGET) as quiet:
            failed = measure(working, options.prompts, options.tokens)
            rows = pd.read_csv(working)
            quiet.add_steps(rows.autoregressive_seconds / rows.plain_tokens)
    except SystemExit:
        working.unlink(missing_ok=True)
        raise
    if not failed:
        working.replace(options.csv)
    return failed


def measure(file: Path, prompts: int, tokens: int) -> int:
    """Add the rows that the file lacks; return the exit status."""
    drafts = [argument for draft in DRAFTS for argument in ("--draft", draft)]
    size = ["--prompts", str(prompts), "--max-new-tokens", str(tokens)]
    shared = ["sweep", "--target", TARGET, *drafts, *size, "--csv", str(file)]
    for _ in range(TRIES):
        if failed := specviz([*shared, *GREEDY]) or specviz([*shared, *SAMPLED]):
            return failed
        if not without_spoilt(file):
            return 0
    print("The machine is busy: some pairs are still faster than possible.")
    return 1


def without_spoilt(file: Path) -> int:
    """Take the rows of prompts with an impossible pair out of the file; return how many prompts that were."""
    rows = pd.read_csv(file)
    spoilt = rows.loc[impossible(rows), PAIR].drop_duplicates()
    if spoilt.empty:
        return 0
    print(f"{len(spoilt)} prompts have pairs that are faster than possible. They are measured again.")
    kept = ~pd.MultiIndex.from_frame(rows[PAIR]).isin(pd.MultiIndex.from_frame(spoilt))
    pd.read_csv(file, dtype=str, keep_default_na=False)[kept].to_csv(file, index=False, lineterminator="\r\n")
    return len(spoilt)


if __name__ == "__main__":
    raise SystemExit(main())
