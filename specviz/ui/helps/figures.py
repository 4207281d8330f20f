"""The figures of "When it helps". Pure functions: frames of points in, a Plotly figure out; never colour alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from specviz.core.metrics import Costs
from specviz.measure.sweep.points import ADAPTIVE, best_points, break_even_line
from specviz.measure.sweep.sentences import percent, workload_title
from specviz.measure.sweep.table import each_row
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, ORANGE

# Okabe-Ito colours, readable on white and on a dark page; each has a symbol for those who cannot tell them apart.
COLORS = [BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808a97", "#b58900"]
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"]
DASHES = ["solid", "dash", "dot"]
SLATE = "#5f6b7a"
HATCH = {"shape": "/", "size": 6, "solidity": 0.35}
OVERLAID = {**HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}  # lighter than the bar: dark text stays readable
HOLLOW: dict[str, Any] = {"color": "rgba(0,0,0,0)", "line": {"color": GREY, "width": 2}}
RING: dict[str, Any] = {"symbol": "circle-open", "color": GREY, "line": {"width": 2, "color": GREY}}
FASTER, EVEN, SLOWER = "faster than the target alone", "≈ about even, within 5 %", "slower"


def workload_figure(fair: pd.DataFrame, rows: pd.DataFrame) -> go.Figure:
    """Speedup by workload with its draft lengths; what loses is hatched; every one of `rows` is a dot."""
    figure = go.Figure()
    bars: dict[str, dict[str, Any]] = {
        FASTER: {"color": BLUE, "opacity": 0.85},
        EVEN: {"color": SLATE},
        SLOWER: {"color": ORANGE, "pattern": OVERLAID},
    }
    for name, its in _by_outcome(fair).items():
        if len(its):
            figure.add_trace(
                go.Bar(
                    x=_titles(its["workload"]),
                    y=its["speedup"].to_list(),
                    text=[_bar_label(name, point.speedup, point.lengths) for point in each_row(its)],
                    textposition="inside",
                    insidetextanchor="start",
                    textfont={"color": "#1b1f24" if name == SLOWER else "#ffffff"},
                    marker=bars[name],
                    name=name,
                    hovertemplate="%{x}: %{y:.2f}×<extra></extra>",
                )
            )
    figure.add_trace(_prompt_dots(rows))
    _add_break_even(figure)
    figure.update_xaxes(categoryorder="array", categoryarray=_titles(fair["workload"]), automargin=True)
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure)


def _by_outcome(every: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The points that pay, those about even and those that lose, under their names in a legend."""
    pays, loses = every["pays"], every["loses"]
    return {FASTER: every[pays], EVEN: every[~pays & ~loses], SLOWER: every[loses]}


def _bar_label(name: str, speedup: float, lengths: Sequence[int]) -> str:
    several = ", ".join(map(str, lengths)) if len(lengths) < 4 else f"{lengths[0]} to {lengths[-1]}"
    return f"{'≈ ' if name == EVEN else ''}{speedup:.2f}×<br>γ = {several}"


def _prompt_dots(rows: pd.DataFrame) -> go.Scatter:
    names = [[figure_text(row.preset), _rate(row.acceptance_rate)] for row in each_row(rows)]
    return go.Scatter(
        x=_titles(rows["workload"]),
        y=rows["speedup"].to_list(),
        mode="markers",
        marker={**RING, "size": 8},
        name="a prompt",
        customdata=names,
        hovertemplate="%{customdata[0]}: %{y:.2f}×, %{customdata[1]} accepted<extra></extra>",
    )


def acceptance_figure(fair: pd.DataFrame) -> go.Figure:
    """Both acceptance rates by workload, at the same draft lengths as the speedups."""
    figure = go.Figure()
    titles = _titles(fair["workload"])
    figure.add_trace(_rate_bar("accepted / drafted", titles, fair["acceptance_rate"], hollow=False))
    figure.add_trace(_rate_bar("per judgement, α", titles, fair["per_judgement_rate"], hollow=True))
    figure.update_xaxes(categoryorder="array", categoryarray=titles, automargin=True)
    figure.update_yaxes(title="acceptance", range=[0, 1], tickformat=".0%")
    return _laid_out(figure)


def length_figure(every: pd.DataFrame) -> go.Figure:
    """Speedup against draft length, a line for each workload, with a ring around its best point."""
    figure = go.Figure()
    best = best_points(every)
    lines = dict(list(every.sort_values("draft_length").groupby("workload")))
    for place, workload in enumerate(best["workload"]):
        color, symbol = COLORS[place % len(COLORS)], SYMBOLS[place % len(SYMBOLS)]
        title = _title(workload)
        figure.add_trace(
            go.Scatter(
                x=lines[workload]["draft_length"].to_list(),
                y=lines[workload]["speedup"].to_list(),
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": DASHES[place // len(COLORS) % len(DASHES)]},
                marker={"symbol": symbol, "size": 9, "color": color},
                name=title,
                hovertemplate=f"{title}, γ %{{x}}: %{{y:.2f}}×<extra></extra>",
            )
        )
    figure.add_trace(
        go.Scatter(
            x=best["draft_length"].to_list(),
            y=best["speedup"].to_list(),
            mode="markers",
            marker={**RING, "size": 19},
            name="best of its workload",
            hoverinfo="skip",
        )
    )
    _add_break_even(figure)
    figure.update_xaxes(title="draft length γ", tickvals=_lengths(every))
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure, 380)


def grid_figure(every: pd.DataFrame) -> go.Figure:
    """The map, workload by draft length: a mark for each point with its speedup; full, round or hollow."""
    grid = every.pivot(index="workload", columns="draft_length", values="speedup")
    slowest_first = grid.max(axis="columns").sort_values(kind="stable").index
    marks = {FASTER: (BLUE, "square"), EVEN: (GREY, "circle-open"), SLOWER: (ORANGE, "square-open")}
    figure = go.Figure()
    for name, its in _by_outcome(every).items():
        color, symbol = marks[name]
        figure.add_trace(
            go.Scatter(
                x=its["draft_length"].astype("str").to_list(),
                y=_titles(its["workload"]),
                mode="markers+text",
                text=[f"{speedup:.1f}×" for speedup in its["speedup"]],
                textfont={"color": "#ffffff", "size": 12} if symbol == "square" else {"size": 12},
                marker={"symbol": symbol, "size": 36, "color": color, "line": {"width": 2, "color": color}},
                name=name,
                customdata=[[point.speedup, _rate(point.acceptance_rate), point.runs] for point in each_row(its)],
                hovertemplate="%{y}, γ %{x}: %{customdata[0]:.2f}×, %{customdata[1]} accepted, "
                "%{customdata[2]} runs<extra></extra>",
            )
        )
    categories = {"type": "category", "categoryorder": "array", "showgrid": False}
    figure.update_xaxes(title="draft length γ", categoryarray=[str(length) for length in grid.columns], **categories)
    figure.update_yaxes(categoryarray=_titles(slowest_first), automargin=True, **categories)
    return _laid_out(figure, 110 + 42 * len(grid)).update_layout(legend={"itemsizing": "constant"})


def break_even_figure(every: pd.DataFrame, costs: Costs) -> go.Figure:
    """α by draft length: the break-even line that the theory draws from these rows' costs, and the measured points."""
    lengths = _lengths(every)
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=lengths,
            y=[1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)],
            mode="lines",
            line={"color": GREY, "width": 3, "dash": "dash"},
            name="break-even, modelled",
            hovertemplate="γ %{x}: breaks even at α = %{y:.2f}, modelled<extra></extra>",
        )
    )
    judged = every.dropna(subset="per_judgement_rate")
    faster = judged["speedup"] >= 1
    for name, its, color, symbol in [
        ("measured faster", judged[faster], BLUE, "square"),
        ("measured slower", judged[~faster], ORANGE, "x"),
    ]:
        figure.add_trace(
            go.Scatter(
                x=its["draft_length"].to_list(),
                y=its["per_judgement_rate"].to_list(),
                mode="markers",
                marker={"symbol": symbol, "size": 10, "color": color, "line": {"width": 1, "color": "#ffffff"}},
                name=name,
                customdata=[[_title(point.workload), point.speedup] for point in each_row(its)],
                hovertemplate="%{customdata[0]}, γ %{x}: α %{y:.2f}, %{customdata[1]:.2f}× measured<extra></extra>",
            )
        )
    figure.update_xaxes(title="draft length γ", tickvals=lengths)
    figure.update_yaxes(title="α per judgement", range=[0, 1.03], tickformat=".1f")
    return _laid_out(figure, 380)


def grammar_figure(pairs: pd.DataFrame) -> go.Figure:
    """Acceptance of each prompt without and with its grammar, side by side."""
    figure = go.Figure()
    names = [figure_text(prompt) for prompt in pairs["prompt"]]
    figure.add_trace(_rate_bar("without the grammar", names, pairs["acceptance_rate_without"], hollow=True))
    figure.add_trace(_rate_bar("with the grammar", names, pairs["acceptance_rate_with"], hollow=False))
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(title="accepted / drafted", range=[0, 1], tickformat=".0%")
    return _laid_out(figure)


def adaptive_figure(found: pd.DataFrame) -> go.Figure:
    """Speedup of the best fixed draft length beside the schedules that choose it themselves."""
    figure = go.Figure()
    bars: list[tuple[str, str, str, dict[str, Any]]] = [
        ("best fixed γ", "speedup", "draft_length", {"color": BLUE}),
        (ADAPTIVE["heuristic"], "heuristic", "heuristic_length", {"color": ORANGE, "pattern": HATCH}),
        (ADAPTIVE["confidence"], "confidence", "confidence_length", HOLLOW),
    ]
    for name, speedup, length, marker in bars:
        if found[speedup].notna().any():
            figure.add_trace(
                go.Bar(
                    x=_titles(found["workload"]),
                    y=_or_none(found[speedup]),
                    customdata=_or_none(found[length]),
                    marker=marker,
                    name=name,
                    hovertemplate=f"%{{x}}, {name} (γ %{{customdata}}): %{{y:.2f}}×<extra></extra>",
                )
            )
    _add_break_even(figure)
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure)


def _rate_bar(name: str, x: Sequence[str], rates: "pd.Series[float]", *, hollow: bool) -> go.Bar:
    outline = {**HOLLOW, "pattern": {**HATCH, "fgcolor": GREY}}
    return go.Bar(
        x=list(x),
        y=_or_none(rates),
        marker=outline if hollow else {"color": BLUE, "opacity": 0.85},
        name=name,
        hovertemplate=f"%{{x}}, {name}: %{{y:.0%}}<extra></extra>",
    )


def _or_none(values: "pd.Series[float]") -> list[float | None]:
    """A figure has no bar for None."""
    return [None if pd.isna(value) else float(value) for value in values]


def _rate(rate: float) -> str:
    return "nothing drafted, none" if pd.isna(rate) else percent(rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _titles(workloads: Iterable[str]) -> list[str]:
    return [_title(workload) for workload in workloads]


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))


def _add_break_even(figure: go.Figure) -> None:
    line = {"dash": "dot", "color": ORANGE}
    figure.add_hline(y=1, line=line, annotation_text="1×", annotation_position="right")


def _laid_out(figure: go.Figure, height: int = 330) -> go.Figure:
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    return figure.update_layout(height=height, margin={"l": 8, "r": 24, "t": 8, "b": 8}, legend=legend)
