"""What the formula predicts for a sweep's rows, and how far off it is. Modelled from counts and the rows' own costs."""

import pandas as pd

from specviz.core.metrics import Costs
from specviz.core.theory import expected_tokens
from specviz.measure.sweep.points import of_kind


def predictions(rows: pd.DataFrame, costs: Costs) -> pd.DataFrame:
    """A row for each run with a fixed draft length, without a grammar, in which a drafted token was judged.

    Columns:
        speedup: as measured.
        counted: predicted from the run's counted tokens per target call and its mean number of drafted tokens.
        formula: E(γ) / (γc + v(γ+1) + o), as if every round drafted γ tokens.
    """
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
    """The mean time of a round in target steps, for rows or points: its drafted tokens, v(γ+1) and o.

    Speculation pays where the tokens per target call exceed it.
    """
    checked = its["draft_length"].map(lambda length: costs.verification[length + 1])
    steps: pd.Series[float] = its["drafted"] / its["rounds"] * costs.cost_ratio + checked + costs.overhead
    return steps


def errors(predicted: "pd.Series[float]", measured: "pd.Series[float]") -> "pd.Series[float]":
    """How far off each prediction is: 0.25 is a factor of 1.25, in either direction."""
    ratio = predicted / measured
    off: pd.Series[float] = ratio.where(ratio > 1, 1 / ratio) - 1
    return off
