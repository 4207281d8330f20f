"""What a chat model accepts of prompt lookup, for each kind of prompt, and with `--times` how much faster it was.

    make smollm2
    python -m specviz sweep --target smollm2 --draft lookup --prompt-format chat --draft-lengths 4 --max-new-tokens 96 \
        --workload correct change answer summarise reformat stories facts --csv rows.csv
    python -m benchmarks.chat rows.csv [--out FILE]

Tokens per target call are those written over the passes of the target, of each prompt; a kind has the mean, the least
and the most of its prompts. These are counts, so that no quiet machine is needed. For `--times` the rows may have
more than one draft and draft length. A run and the plain run beside it make a ratio; a kind has their geometric mean,
with the 95 % interval over its prompts. The draft and the check of a round are medians over prompts, in steps of that
plain run; rounds without a guess count too.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.timing import asked, mean_ratio, report, rounded
from specviz.measure.sweep.rows import read_frame

VARIED = ("draft", "draft_length")
SAME = ("target", "target_dtype", "draft", "machine", "max_new_tokens", "draft_length", "temperature")


def main() -> None:
    options = asked(__doc__, {"rows": Path, "--times": False})
    rows = read_frame(options.rows.read_bytes(), options.rows.name)
    settings = rows[[name for name in SAME if not (options.times and name in VARIED)]].drop_duplicates()
    assert len(settings) == 1, "the rows have one setting"
    measure = times if options.times else counts
    kinds = {str(kind): measure(own) for kind, own in rows.groupby("workload", sort=False)}
    kinds |= {"all": times(rows)} if options.times else {}
    report(settings.to_dict("records")[0] | {"kinds": kinds}, options.out)


def times(rows: pd.DataFrame) -> dict[str, Any]:
    """Draft → draft length → its figures."""
    found: dict[str, Any] = {}
    for (draft, length), own in rows.groupby(["draft", "draft_length"], sort=False):
        speedup = mean_ratio(own["speedup"].tolist())
        as_plain = own["rounds"] * own["autoregressive_seconds"] / own["plain_tokens"]  # if each took a plain step
        found.setdefault(str(draft), {})[str(length)] = {
            **counts(own),
            "acceptance": round(float(own["accepted"].sum() / own["drafted"].sum()), 3),
            "draft": round(float((own["draft_seconds"] / as_plain).median()), 3),
            "check": round(float((own["verify_seconds"] / as_plain).median()), 3),
            "speedup": speedup["value"],
            "interval": [speedup["low"], speedup["high"]],
        }
    return found


def counts(rows: pd.DataFrame) -> dict[str, Any]:
    a_pass = rows["tokens_per_target_call"]
    shown = {"tokens_a_pass": float(a_pass.mean()), "least": float(a_pass.min()), "most": float(a_pass.max())}
    return {"prompts": len(rows), "identical": int(rows["identical"].sum())} | rounded(shown)


if __name__ == "__main__":
    main()
