"""The same pair at other temperatures, beside the one in the figures: speedups, and how much the outputs repeat."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.measure.sweep.points import UNCLEAR
from specviz.measure.sweep.sentences import workload_title
from specviz.measure.sweep.study import Study
from specviz.measure.sweep.table import each_row
from specviz.ui.shared.tables import NOT_MEASURED, data_table


def show_temperatures(study: Study) -> None:
    """A table of all temperatures of this pair; nothing where only one was measured and no repetition is known."""
    studies = sorted([study, *study.others], key=lambda each: each.series.temperature)
    if len(studies) == 1 and study.fair["repetition"].isna().all():
        return
    table = temperature_table(study.fair["workload"].to_list(), studies)
    text = {name: st.column_config.TextColumn(alignment="right") for name in table.columns[1:]}
    data_table(
        table,
        hide_index=True,
        key="sweep_temperatures",
        column_config=text,
        placeholder=NOT_MEASURED,
        alt="Speedup with its interval and share of repeated 4-grams, by workload and temperature.",
    )
    st.caption(TEMPERATURES_CAPTION)


TEMPERATURES_CAPTION = (
    "Each figure is over prompts, at the draft length that did best on the other prompts, with the 95 % interval; a "
    "question mark: with these prompts it cannot be told whether it pays. Repeated: the share of an output’s 4-grams "
    "(four tokens in a row) that occurred earlier in it. Greedy decoding often falls into a loop, which is easy to "
    "draft; at temperature 1 a model of this size repeats itself less."
)


def temperature_table(workloads: Sequence[str], studies: Sequence[Study]) -> pd.DataFrame:
    """A row for each workload; for each study its speedup and its repetition."""
    columns: dict[str, list[str | None]] = {"workload": [workload_title(name) for name in workloads]}
    for study in studies:
        points = {point.workload: point for point in each_row(study.fair)}
        name = _temperature(study.series.temperature)
        columns[name] = [_speedup(points.get(workload)) for workload in workloads]
        columns[f"repeated, {name}"] = [_repeated(points.get(workload)) for workload in workloads]
    return pd.DataFrame(columns)


def _temperature(value: float) -> str:
    return "greedy" if value == 0 else f"temperature {value:g}"


def _speedup(point: object) -> str | None:
    if point is None:
        return None
    speedup, low, high, outcome = (getattr(point, name) for name in ("speedup", "low", "high", "outcome"))
    interval = "" if pd.isna(low) else f" ({low:.2f}–{high:.2f})"
    return f"{speedup:.2f}×{interval}{' ?' if outcome == UNCLEAR else ''}"


def _repeated(point: object) -> str | None:
    share = getattr(point, "repetition", None)
    return None if share is None or pd.isna(share) else f"{100 * share:.0f} %"
