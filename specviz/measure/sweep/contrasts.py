"""Which draft lengths can be told apart: the same prompts at two lengths, compared prompt by prompt."""

import math

import pandas as pd

from specviz.core.intervals import student_t
from specviz.measure.sweep.points import PROMPT, best_points, of_kind


def with_rivals(every: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """`points(rows)` with a column `may_be_best`: whether the prompts do not tell it apart from its workload's best.

    The best is the highest of these very figures. Another length is told apart from it if the 95 % t-interval of the
    paired ratio, best / other on the same prompt, lies above 1. A single prompt tells nothing apart.
    """
    if every.empty:
        return every.assign(may_be_best=pd.Series(dtype="bool"))
    prompt = ["workload", *PROMPT]
    logs = of_kind(rows).assign(log=lambda its: its["speedup"].map(math.log))
    own = logs.groupby([*prompt, "draft_length"], sort=False)["log"].mean().reset_index()
    best = best_points(every)[["workload", "draft_length"]]
    top = own.merge(best, on=["workload", "draft_length"])[[*prompt, "log"]].rename(columns={"log": "top"})
    pairs = own.merge(top, on=prompt)
    behind = (pairs["top"] - pairs["log"]).groupby([pairs["workload"], pairs["draft_length"]])
    mean, half = behind.mean(), half_width(behind.std(), behind.size())
    told_apart = (mean - half > 0).rename("told_apart").reset_index()
    joined = every.merge(told_apart, on=["workload", "draft_length"], how="left")
    return every.assign(may_be_best=~joined["told_apart"].fillna(False).astype("bool").to_numpy())


def half_width(deviation: "pd.Series[float]", count: "pd.Series[int]") -> "pd.Series[float]":
    """Half of the 95 % t-interval of a mean; NaN for a single value."""
    quantile = count.map(lambda values: student_t(values - 1) if values > 1 else math.nan)
    half: pd.Series[float] = quantile * deviation / count**0.5
    return half
