"""Record the sweep that "When it helps" shows before anything is measured: python -m scripts.record_sweep [CSV]

All eight workloads on the bundled models, greedy and at temperature 1, written to assets/traces/sweep.csv. Every row is
a timing, so run it on a machine that does nothing else. If it is stopped, the next run continues; `--fresh` starts
again from nothing.
"""

import argparse
from pathlib import Path

from specviz.cli.main import main as specviz

FILE = Path(__file__).parent.parent / "assets" / "traces" / "sweep.csv"
PROMPTS, TOKENS = 10, 64
DRAFTS = ("wren-nano", "prompt-lookup")
GREEDY = ["--draft-lengths", "1,2,4,6,8", "--schedules", "fixed,heuristic,confidence", "--constrained"]
SAMPLED = ["--draft-lengths", "1,2,4,8", "--temperatures", "1"]


def main() -> int:
    """The rows as `python -m specviz sweep` makes them."""
    parser = argparse.ArgumentParser(description="Record the sweep that the page shows first.")
    parser.add_argument("csv", type=Path, nargs="?", default=FILE)
    parser.add_argument("--fresh", action="store_true", help="delete the rows that the file holds")
    parser.add_argument("--prompts", type=int, default=PROMPTS)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    options = parser.parse_args()
    if options.fresh:
        options.csv.unlink(missing_ok=True)
    drafts = [argument for draft in DRAFTS for argument in ("--draft", draft)]
    size = ["--prompts", str(options.prompts), "--max-new-tokens", str(options.tokens)]
    shared = ["sweep", "--target", "wren-base", *drafts, *size, "--csv", str(options.csv)]
    return specviz([*shared, *GREEDY]) or specviz([*shared, *SAMPLED])


if __name__ == "__main__":
    raise SystemExit(main())
