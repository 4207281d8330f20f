"""Everything that the page says about a sweep's rows, computed once for each file and only where it is looked at."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd

from specviz.core.intervals import student_t
from specviz.core.judge import UNTOLD
from specviz.core.metrics import Costs
from specviz.core.theory import expected_tokens
from specviz.measure.sweep.points import (
    PROMPT,
    Series,
    adaptive_points,
    best_points,
    costs_of,
    fair_points,
    fair_rows,
    grammar_pairs,
    impossible,
    of_kind,
    points,
    split_by_series,
)
from specviz.measure.sweep.table import each_row

RISK = 0.05  # at most so often is any of k equal lengths told apart from the best


def rivals_t(freedom: int, lengths: int) -> float:
    """The t above which a length is told apart from the best of `lengths`, with `RISK` for all of them together.

    The best is itself chosen by these figures, so it may be any of them: Bonferroni's bound over all ordered pairs,
    RISK / (k (k - 1)) each. RISK / 2 / (k - 1), for a best that is known before, would tell a length apart in more than
    RISK of simulated equal cases (tests/unit/test_study.py).
    """
    if lengths < 2:
        return math.inf
    return student_t(freedom, 1 - RISK / (lengths * (lengths - 1)))


def with_rivals(every: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """`points(rows)` with a column `may_be_best`: whether the prompts do not tell it apart from its workload's best.

    The best is the highest of these very figures. Another length is told apart from it if the simultaneous t-interval
    of the paired ratio, best / other on the same prompt, lies above 1: see `rivals_t`. A single prompt tells nothing
    apart.
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
    found = every.merge(behind.agg(["mean", "std", "size"]).reset_index(), how="left")
    found["lengths"] = every.groupby("workload")["draft_length"].transform("size").to_numpy()
    return every.assign(may_be_best=[not _told_apart(point) for point in each_row(found)])


def _told_apart(point: Any) -> bool:
    if not point.size > 1:  # a single prompt, or none
        return False
    return bool(point.mean > rivals_t(int(point.size) - 1, point.lengths) * point.std / point.size**0.5)


def predictions(rows: pd.DataFrame, costs: Costs) -> pd.DataFrame:
    """For each judged run of a fixed length: its speedup, and as predicted from counted tokens and by E(γ)."""
    its = of_kind(rows).dropna(subset="per_judgement_rate")
    checked = its["draft_length"].map(lambda length: costs.verification[length + 1])
    expected = [
        expected_tokens(alpha, length)
        for alpha, length in zip(its["per_judgement_rate"], its["draft_length"], strict=True)
    ]
    return pd.DataFrame(
        {
            "speedup": its["speedup"],
            "counted": its["new_tokens"] / its["rounds"] / round_steps(its, costs),
            "formula": expected / (its["draft_length"] * costs.cost_ratio + checked + costs.overhead),
        }
    )


def round_steps(its: pd.DataFrame, costs: Costs) -> "pd.Series[float]":
    """The mean time of a round in target steps: speculation pays where the tokens per target call exceed it."""
    checked = its["draft_length"].map(lambda length: costs.verification[length + 1])
    steps: pd.Series[float] = its["drafted"] / its["rounds"] * costs.cost_ratio + checked + costs.overhead
    return steps


def errors(predicted: "pd.Series[float]", measured: "pd.Series[float]") -> "pd.Series[float]":
    ratio = predicted / measured
    off: pd.Series[float] = ratio.where(ratio > 1, 1 / ratio) - 1
    return off


class Study:
    def __init__(self, series: Series, rows: pd.DataFrame) -> None:
        self.series, self.rows = series, rows
        self.others: Sequence[Study] = ()  # the same pair at other temperatures

    @property
    def lookup(self) -> bool:
        return self.series.draft_dtype is None

    @cached_property
    def spoilt(self) -> "pd.Series[bool]":
        return impossible(self.rows)

    @cached_property
    def possible(self) -> pd.DataFrame:
        return self.rows[~self.spoilt]

    @cached_property
    def points(self) -> pd.DataFrame:
        return with_rivals(points(self.possible), self.possible)

    @cached_property
    def fair_rows(self) -> pd.DataFrame:
        """Each prompt at the draft length that did best on the other prompts."""
        return fair_rows(self.possible)

    @cached_property
    def fair(self) -> pd.DataFrame:
        return fair_points(self.fair_rows)

    def as_sure(self, found: pd.DataFrame) -> pd.DataFrame:
        """Points to be drawn: with outcomes that cannot be told where the machine was busy."""
        return found.assign(outcome=UNTOLD, sure=False) if self.spoilt.any() else found

    @cached_property
    def costs(self) -> Costs | None:
        return costs_of(self.possible)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        assert self.costs is not None
        return predictions(self.possible, self.costs)

    @cached_property
    def grammar(self) -> pd.DataFrame:
        return grammar_pairs(self.possible)

    @cached_property
    def adaptive(self) -> pd.DataFrame:
        return adaptive_points(self.possible)


def studies_of(rows: pd.DataFrame) -> list[Study]:
    """One for each series of the rows, each knowing the same pair at other temperatures."""
    studies = [Study(series, its) for series, its in split_by_series(rows).items()]
    pairs: dict[Series, list[Study]] = defaultdict(list)
    for study in studies:
        pairs[replace(study.series, temperature=0.0)].append(study)
    for same in pairs.values():
        for study in same:
            study.others = [other for other in same if other is not study]
    return studies
