"""The figures of "When it helps". Pure functions: frames of points in, a figure out; never colour alone."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from specviz.core.judge import Interval, Judgement
from specviz.core.metrics import Costs
from specviz.core.texts import join_choices
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.figures.parts import figure_text
from specviz.figures.speedups import SpeedupRow, speedup_figure
from specviz.measure.sweep.rows import iterate_rows
from specviz.measure.sweep.study import best_points, break_even_line, round_steps, workload_title

SAYS = page_texts("when_it_helps")
HEIGHT, TALLER = 330, 380


def workload_figure(fair: pd.DataFrame, rows: pd.DataFrame) -> plot.Figure:
    """A bar for each workload, and on it a dot for each prompt."""
    bars = {point.workload: _summary_row(point, _lengths_of(point.lengths)) for point in iterate_rows(fair)}
    data = [[figure_text(row.preset), _accepted(row.acceptance_rate)] for row in iterate_rows(rows)]
    said = "%{customdata[0]}: %{x:.2f}×, %{customdata[1]}<extra></extra>"
    labels = [bars[workload].label for workload in rows["workload"]]
    dot = plot.marker("circle", 8, "#ffffff", edge="#1b1f24", width=1.5)
    dots = plot.scatter(SAYS["a_prompt"], rows["speedup"], labels, said, mode="markers", marker=dot, customdata=data)
    return speedup_figure([*bars.values()], [dots])


def ways_figure(found: pd.DataFrame, way: str, labels: Mapping[Any, str]) -> plot.Figure:
    """A bar for each text and each way to draft it; those of one text stand below each other."""
    order = {text: place for place, text in enumerate(dict.fromkeys(found.iloc[:, 0]))}
    points = sorted(iterate_rows(found), key=lambda point: order[point[0]])
    said = [(f", {_accepted(each.acceptance_rate)}", f", {labels[getattr(each, way)]}") for each in points]
    return speedup_figure([_summary_row(point, *more) for point, more in zip(points, said, strict=True)])


def _summary_row(point: Any, more: str, way: str = "") -> SpeedupRow:
    """The row of a point of `study.summarise`: its first column says what it is of."""
    judged = Judgement(point.outcome, point.speedup, "interval", interval_of(point))
    return SpeedupRow(f"{workload_title(point[0])}{way}", judged, more)


def interval_of(point: Any) -> Interval | None:
    return None if pd.isna(point.low) else (point.low, point.high)


def _lengths_of(lengths: Sequence[int]) -> str:
    return f", γ = {join_choices(lengths, 'and') if len(lengths) < 4 else describe_range(lengths)}"


def describe_range(lengths: Sequence[int]) -> str:
    return SAYS["length_range"].format(first=lengths[0], last=lengths[-1])


def acceptance_figure(fair: pd.DataFrame) -> plot.Figure:
    names, columns = [_title(workload) for workload in fair["workload"]], ("acceptance_rate", "per_judgement_rate")
    drafted, judged = ([None if pd.isna(rate) else float(rate) for rate in fair[column]] for column in columns)
    rates = {SAYS["of_drafted"]: drafted, SAYS["per_judgement"]: judged}
    x = plot.axis(categoryorder="array", categoryarray=names)
    return plot.rates_figure(names, rates, HEIGHT, x=x, y=SAYS["axis_acceptance"])


def length_figure(every: pd.DataFrame) -> plot.Figure:
    may_be = every[every["may_be_best"]]
    by_workload = dict(list(every.sort_values("draft_length").groupby("workload")))
    lines: list[plot.FigurePart] = []
    for place, (workload, title) in enumerate((name, _title(name)) for name in best_points(every)["workload"]):
        x, y = (by_workload[workload][column].to_list() for column in ("draft_length", "speedup"))
        dash = plot.DASHES[place // len(plot.COLORS) % len(plot.DASHES)]
        said = f"{title}, γ %{{x}}: %{{y:.2f}}×<extra></extra>"
        lines.append(plot.scatter(title, x, y, said, **plot.look(place, 9, dash=dash)))
    name, ring = SAYS["may_be_best"], plot.marker("circle-open", 19, plot.GREY)
    at, speedups = may_be["draft_length"].to_list(), may_be["speedup"].to_list()
    rings = plot.scatter(name, at, speedups, mode="markers", marker=ring, hoverinfo="skip")
    lengths = plot.axis(SAYS["axis_length"], tickvals=_lengths(every))
    speedup = plot.axis(SAYS["axis_speedup"], ticksuffix="×", rangemode="tozero")
    return plot.figure([*lines, rings], TALLER, x=lengths, y=speedup, **plot.level(1, "1×", beside=True))


def break_even_figure(every: pd.DataFrame, costs: Costs, *, lookup: bool = False) -> plot.Figure:
    """The per-judgement rate by draft length, and the one that breaks even.

    Of prompt lookup, which often finds fewer tokens: tokens per target call, and the round's time in target steps.
    """
    lengths = _lengths(every)
    if lookup:
        sums = every.groupby("draft_length")[["drafted", "rounds"]].sum().reset_index()
        column, needed, at = "tokens_per_target_call", "hover_tokens_needed", "hover_tokens"
        values = round_steps(sums, costs).to_list()
        x = plot.axis(SAYS["axis_most_length"], tickvals=lengths)
        y = plot.axis(page_texts("columns")["tokens per target call"], rangemode="tozero")
    else:
        column, needed, at = "per_judgement_rate", "hover_rate_needed", "hover_rate"
        values = [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)]
        x = plot.axis(SAYS["axis_length"], tickvals=lengths)
        y = plot.axis(SAYS["axis_alpha"], range=[0, 1.03], tickformat=".1f")
    dashed = {"color": plot.GREY, "width": 3, "dash": "dash"}
    drawn = [plot.scatter(SAYS["break_even"], lengths, values, SAYS[needed], mode="lines", line=dashed)]
    known = every.dropna(subset=column)
    faster = known["speedup"] >= 1
    for name, its, color, symbol in (
        (SAYS["measured_faster"], known[faster], plot.BLUE, "square"),
        (SAYS["measured_slower"], known[~faster], plot.ORANGE, "x"),
    ):
        marker = plot.marker(symbol, 10, color, edge="#ffffff", width=1)
        told = [[_title(point.workload), point.speedup] for point in iterate_rows(its)]
        points = its["draft_length"].to_list(), its[column].to_list()
        drawn.append(plot.scatter(name, *points, SAYS[at], mode="markers", marker=marker, customdata=told))
    return plot.figure(drawn, TALLER, x=x, y=y)


def _accepted(rate: float) -> str:
    return SAYS["none_accepted"] if pd.isna(rate) else SAYS["share_accepted"].format(rate=rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))
