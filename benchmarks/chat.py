"""What a chat model accepts of prompt lookup, for each kind of prompt: counts only, so that no quiet machine is needed.

    make smollm2
    python -m specviz sweep --target smollm2 --draft lookup --prompt-format chat --draft-lengths 4 --max-new-tokens 96 \
        --workload correct change answer summarise reformat stories facts --csv rows.csv
    python -m benchmarks.chat rows.csv [--out FILE]

Tokens a pass are those written over the passes of the target, of each prompt; a kind has the mean, the least and the
most of its prompts.
"""

import argparse
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.timing import report
from specviz.measure.sweep.table import read_frame

SAME = ("target", "target_dtype", "draft", "machine", "max_new_tokens", "draft_length", "temperature")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--out")
    options = parser.parse_args()
    rows = read_frame(options.rows.read_bytes(), options.rows.name)
    settings = rows[list(SAME)].drop_duplicates()
    assert len(settings) == 1, "the rows have one setting"
    kinds = {str(kind): counts(own) for kind, own in rows.groupby("workload", sort=False)}
    report(settings.to_dict("records")[0] | {"kinds": kinds}, options.out)


def counts(rows: pd.DataFrame) -> dict[str, Any]:
    a_pass = rows["tokens_per_target_call"]
    shown = {"tokens_a_pass": a_pass.mean(), "least": a_pass.min(), "most": a_pass.max()}
    found = {name: round(float(value), 3) for name, value in shown.items()}
    return {"prompts": len(rows), "identical": int(rows["identical"].sum())} | found


if __name__ == "__main__":
    main()
