"""The figures of "When it helps". Pure functions: frames of points in, a figure out; never colour alone."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
BREAK_EVEN = plot.level(1, "1×", beside=True)


def speedup_axis() -> plot.FigurePart:
    return plot.axis(SAYS["axis_speedup"], ticksuffix="×", rangemode="tozero")


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
    rows = [_summary_row(point, f", {_accepted(point.acceptance_rate)}") for point in points]
    names = [f"{row.name}, {labels[getattr(point, way)]}" for row, point in zip(rows, points, strict=True)]
    return speedup_figure([replace(row, name=name) for row, name in zip(rows, names, strict=True)])


def _summary_row(point: Any, more: str) -> SpeedupRow:
    """The row of a point of `study.summarise`: its first column says what it is of."""
    judged = Judgement(point.outcome, point.speedup, "interval", interval_of(point))
    return SpeedupRow(workload_title(point[0]), judged, more)


def interval_of(point: Any) -> Interval | None:
    return None if pd.isna(point.low) else (point.low, point.high)


def _lengths_of(lengths: Sequence[int]) -> str:
    return f", γ = {join_choices(lengths, 'and') if len(lengths) < 4 else describe_range(lengths)}"


def describe_range(lengths: Sequence[int]) -> str:
    return SAYS["length_range"].format(first=lengths[0], last=lengths[-1])


def acceptance_figure(fair: pd.DataFrame) -> plot.Figure:
    names = [_title(workload) for workload in fair["workload"]]
    both = [
        plot.bars(name, names, rates, f"%{{x}}, {name}: %{{y:.0%}}<extra></extra>", marker=marker)
        for name, column, marker in (
            (SAYS["of_drafted"], "acceptance_rate", {"color": plot.BLUE, "opacity": 0.85}),
            (SAYS["per_judgement"], "per_judgement_rate", plot.HATCHED),
        )
        for rates in [[None if pd.isna(rate) else float(rate) for rate in fair[column]]]
    ]
    y = plot.axis(SAYS["axis_acceptance"], range=[0, 1], tickformat=".0%")
    return plot.figure(both, HEIGHT, x=plot.axis(categoryorder="array", categoryarray=names), y=y)


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
    return plot.figure([*lines, rings], TALLER, x=lengths, y=speedup_axis(), **BREAK_EVEN)


def break_even_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    lengths = _lengths(every)
    alphas = [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)]
    line = _break_even_line(lengths, alphas, SAYS["hover_rate_needed"])
    judged = every.dropna(subset="per_judgement_rate")
    measured = _measured_rates(judged, "per_judgement_rate", SAYS["hover_rate"])
    y = plot.axis(SAYS["axis_alpha"], range=[0, 1.03], tickformat=".1f")
    return plot.figure([line, *measured], TALLER, x=plot.axis(SAYS["axis_length"], tickvals=lengths), y=y)


def break_even_tokens_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    """Tokens per target call by draft length, for drafts that often find fewer tokens, and the round's time."""
    sums = every.groupby("draft_length")[["drafted", "rounds"]].sum().reset_index()
    tokens = round_steps(sums, costs).to_list()
    line = _break_even_line(sums["draft_length"].to_list(), tokens, SAYS["hover_tokens_needed"])
    measured = _measured_rates(every, "tokens_per_target_call", SAYS["hover_tokens"])
    x = plot.axis(SAYS["axis_most_length"], tickvals=_lengths(every))
    y = plot.axis(page_texts("columns")["tokens per target call"], rangemode="tozero")
    return plot.figure([line, *measured], TALLER, x=x, y=y)


def _break_even_line(lengths: Sequence[int], values: Sequence[float], hover: str) -> plot.FigurePart:
    line = {"color": plot.GREY, "width": 3, "dash": "dash"}
    return plot.scatter(SAYS["break_even"], lengths, values, hover, mode="lines", line=line)


def _measured_rates(every: pd.DataFrame, column: str, hover: str) -> list[plot.FigurePart]:
    faster, parts = every["speedup"] >= 1, []
    for name, its, color, symbol in (
        (SAYS["measured_faster"], every[faster], plot.BLUE, "square"),
        (SAYS["measured_slower"], every[~faster], plot.ORANGE, "x"),
    ):
        marker = plot.marker(symbol, 10, color, edge="#ffffff", width=1)
        points = [[_title(point.workload), point.speedup] for point in iterate_rows(its)]
        x, y = its["draft_length"].to_list(), its[column].to_list()
        parts.append(plot.scatter(name, x, y, hover, mode="markers", marker=marker, customdata=points))
    return parts


def _accepted(rate: float) -> str:
    return SAYS["none_accepted"] if pd.isna(rate) else SAYS["share_accepted"].format(rate=rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))
