"""The worksheet's figures. Pure functions: a model and runs in, a Plotly figure out."""

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.published import PublishedRun
from specviz.measure.worksheet.gap import Gap, signed
from specviz.measure.worksheet.model import Model
from specviz.measure.worksheet.runs import Measured, Where
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, ORANGE

PALE, INK = "#eef0f2", "#1b1f24"
ALPHAS = [step / 40 for step in range(41)]
LENGTHS = list(range(1, MAX_DRAFT_LENGTH + 1))


SYMBOLS: dict[Where, str] = {"Watch": "circle", "Race": "square", "When it helps": "triangle-up"}


def speedup_map(model: Model, points: Sequence[Measured]) -> go.Figure:
    """Realistic speedup over α and γ at the model's costs, the break-even line, the runs and the setting."""
    figure = go.Figure()
    speedups = [[model.speedup_at(alpha, length) for length in LENGTHS] for alpha in ALPHAS]
    figure.add_trace(_ground(speedups))
    figure.add_trace(_levels(speedups))
    figure.add_trace(_break_even_line(model))
    for source in dict.fromkeys(point.source for point in points):
        figure.add_trace(_dots([point for point in points if point.source == source]))
    figure.add_trace(_setting(model))
    figure.update_xaxes(title="draft length γ", range=[0.5, MAX_DRAFT_LENGTH + 0.5], tick0=2, dtick=2, showgrid=False)
    figure.update_yaxes(title="α per judgement", range=[0, 1.012], tickformat=".1f", showgrid=False)
    on_pale = {"bgcolor": PALE, "font": {"color": INK}}  # its dark lines and rings would vanish on a dark page
    return _laid_out(figure, 450).update_layout(legend=on_pale, margin={"b": 100})


def _ground(speedups: list[list[float]]) -> go.Heatmap:
    """Coloured by the logarithm, so that 2× and ½× are equally far from 1×; limits at ¼× and 4×."""
    return go.Heatmap(
        x=LENGTHS,
        y=ALPHAS,
        z=[[math.log2(speedup) for speedup in row] for row in speedups],
        customdata=speedups,
        zmin=-2,
        zmax=2,
        colorscale=[[0, ORANGE], [0.5, PALE], [1, BLUE]],
        colorbar={
            "orientation": "h",
            "title": {"text": "speedup, modelled", "side": "bottom"},
            "yref": "container",  # below the axis title, however much room the legend takes on a phone
            "y": 0,
            "yanchor": "bottom",
            "tickvals": [-2, -1, 0, 1, 2],
            "ticktext": ["¼×", "½×", "1×", "2×", "4×"],
            "thickness": 8,
            "outlinewidth": 0,
        },
        hovertemplate="γ %{x}, α %{y:.2f}: %{customdata:.2f}× modelled<extra></extra>",
        showlegend=False,
    )


def _levels(speedups: list[list[float]]) -> go.Contour:
    return go.Contour(
        x=LENGTHS,
        y=ALPHAS,
        z=speedups,
        contours={
            "coloring": "none",
            "start": 2,
            "end": 12,
            "size": 1,
            "showlabels": True,
            "labelformat": ".0f",
            "labelfont": {"color": INK, "size": 11},
        },
        line={"color": INK, "width": 0.7},
        hoverinfo="skip",
        showscale=False,
        showlegend=False,
    )


def _break_even_line(model: Model) -> go.Scatter:
    line = [model.break_even_at(length) for length in LENGTHS]
    return go.Scatter(
        x=LENGTHS,
        y=line,
        mode="lines",
        line={"color": INK, "width": 3, "dash": "dash"},
        name="break-even, 1×",
        hovertemplate="γ %{x}: breaks even at α = %{y:.2f}<extra></extra>",
    )


def _dots(points: Sequence[Measured]) -> go.Scatter:
    """The points of one source. Recorded points are paler and have a dot inside."""
    first = points[0]
    symbol, fill = SYMBOLS[first.where], "#ffffff" if first.recorded else "#F0E442"
    return go.Scatter(
        x=[point.terms.draft_length for point in points],
        y=[point.terms.alpha for point in points],
        mode="markers",
        marker={
            "symbol": f"{symbol}-dot" if first.recorded else symbol,
            "size": 8 if first.where == "When it helps" else 11,
            "color": fill,
            "line": {"color": INK, "width": 1.5},
        },
        name=first.source,
        customdata=[[point.measured, point.terms.speedup, figure_text(point.label)] for point in points],
        hovertemplate="%{customdata[2]}<br>α %{y:.2f}, γ %{x}: %{customdata[0]:.2f}× measured, "
        f"%{{customdata[1]:.2f}}× predicted at its own costs<extra>{first.source}</extra>",
    )


def _setting(model: Model) -> go.Scatter:
    return go.Scatter(
        x=[model.draft_length],
        y=[model.alpha],
        mode="markers",
        marker={"symbol": "circle-open", "size": 22, "color": INK, "line": {"color": INK, "width": 3}},
        name="the sliders",
        hovertemplate=f"the sliders: {model.realistic:.2f}× modelled<extra></extra>",
    )


def gap_figure(gap: Gap) -> go.Figure:
    """From the paper's prediction to the measured speedup, with a bar for each cause."""
    steps = [
        ("paper’s formula", gap.ideal, "absolute"),
        ("by position", gap.clustering, "relative"),
        ("verification", gap.verification, "relative"),
        ("overhead", gap.overhead, "relative"),
        ("the rest", gap.rest, "relative"),
        ("measured", gap.measured, "total"),
    ]
    figure = go.Figure(
        go.Waterfall(
            x=[name for name, _, _ in steps],
            y=[value for _, value, _ in steps],
            measure=[measure for _, _, measure in steps],
            text=[signed(value) if measure == "relative" else f"{value:.2f}×" for _, value, measure in steps],
            textposition="outside",
            increasing={"marker": {"color": BLUE}},
            decreasing={"marker": {"color": ORANGE}},
            totals={"marker": {"color": GREY}},
            connector={"line": {"color": GREY, "width": 1}},
            hovertemplate="%{x}: %{text}<extra></extra>",
            cliponaxis=False,
        )
    )
    figure.add_hline(y=1, line={"dash": "dot", "color": ORANGE})
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure, 300)


def machines_figure(runs: Sequence[PublishedRun]) -> go.Figure:
    """Published speedups beside the modelled ones, a line for each configuration."""
    figure = go.Figure()
    known = [run for run in runs if run.modelled_speedup is not None]
    groups = [
        ("modelled, E(γ)/(γc+1)", "circle-open", known, [run.modelled_speedup for run in known]),
        ("published, measured by the authors", "diamond", list(runs), [run.speedup for run in runs]),
    ]
    for name, symbol, chosen, values in groups:
        marker = {"symbol": symbol, "size": 12, "color": BLUE, "line": {"width": 2, "color": BLUE}}
        y = [short_label(run) for run in chosen]
        hover = "%{y}: %{x:.2f}×<extra>" + name + "</extra>"
        figure.add_trace(go.Scatter(x=values, y=y, mode="markers", marker=marker, name=name, hovertemplate=hover))
    figure.add_vline(x=1, line={"dash": "dot", "color": ORANGE})
    figure.update_xaxes(title="speedup", ticksuffix="×", range=[0.9, 4])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return _laid_out(figure, 90 + 42 * len(runs))


def short_label(run: PublishedRun) -> str:
    """Two short lines for an axis."""
    return f"{run.pair}<br>{run.task}, {run.temperature}"


def positions_figure(rates: Sequence[float], survival: Sequence[float]) -> go.Figure:
    """Acceptance by position of a serving engine: per judgement, and as vLLM counts it."""
    positions = list(range(1, len(rates) + 1))
    figure = go.Figure()
    figure.add_trace(
        go.Bar(
            x=positions,
            y=list(rates),
            marker={"color": BLUE},
            name="per judgement",
            hovertemplate="position %{x}: %{y:.0%} of the judged accepted<extra></extra>",
        )
    )
    figure.add_trace(
        go.Bar(
            x=positions,
            y=list(survival)[: len(positions)],
            marker={
                "color": "rgba(0,0,0,0)",
                "line": {"color": GREY, "width": 2},
                "pattern": {"shape": "/", "fgcolor": GREY},
            },
            name="of all drafts, as counted",
            hovertemplate="position %{x}: accepted in %{y:.0%} of the drafts<extra></extra>",
        )
    )
    figure.update_xaxes(title="position in the draft", dtick=1)
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    return _laid_out(figure, 260)


def _laid_out(figure: go.Figure, height: int) -> go.Figure:
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(height=height, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
    return figure
