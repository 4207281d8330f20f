"""The figures of "When it helps". Pure functions: points in, a Plotly figure out. Colour never speaks alone."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from specviz.core.metrics import Costs
from specviz.measure.sweep.summary import Adaptive, Held, Point, best_points, break_even_line, workload_title
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, ORANGE

# Okabe-Ito, those that read on white and on a dark page; with a symbol each, for who cannot tell them apart.
COLORS = [BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808a97", "#b58900"]
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"]
SLATE = "#5f6b7a"
HATCH = {"shape": "/", "size": 6, "solidity": 0.35}
OVERLAID = {**HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}  # lighter than its ground: dark text stays readable
HOLLOW: dict[str, Any] = {"color": "rgba(0,0,0,0)", "line": {"color": GREY, "width": 2}}


def workload_figure(fair: Sequence[Point]) -> go.Figure:
    """Speedup by workload, its prompts' draft lengths written in; every prompt a dot, what loses hatched."""
    figure = go.Figure()
    bars: list[tuple[str, list[Point], dict[str, Any]]] = [
        ("quicker than the target alone", [point for point in fair if point.pays], {"color": BLUE, "opacity": 0.85}),
        ("≈ about even, within 5 %", [point for point in fair if not point.pays and not point.loses], {"color": SLATE}),
        ("slower", [point for point in fair if point.loses], {"color": ORANGE, "pattern": OVERLAID}),
    ]
    for name, chosen, bar in bars:
        if chosen:
            figure.add_trace(
                go.Bar(
                    x=[_title(point.workload) for point in chosen],
                    y=[point.speedup for point in chosen],
                    text=[_bar_label(point) for point in chosen],
                    textposition="inside",
                    insidetextanchor="start",
                    textfont={"color": "#1b1f24" if bar["color"] == ORANGE else "#ffffff"},
                    marker=bar,
                    name=name,
                    hovertemplate="%{x}: %{y:.2f}×<extra></extra>",
                )
            )
    _add_prompts(figure, [(_title(point.workload), point) for point in fair])
    order = [_title(point.workload) for point in fair]
    _add_break_even(figure)
    figure.update_xaxes(categoryorder="array", categoryarray=order, automargin=True)
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure)


def _bar_label(point: Point) -> str:
    even = "" if point.pays or point.loses else "≈ "
    return f"{even}{point.speedup:.2f}×<br>γ = {_several(point.lengths)}"


def _several(lengths: Sequence[int]) -> str:
    return ", ".join(map(str, lengths)) if len(lengths) < 4 else f"{lengths[0]} to {lengths[-1]}"


def acceptance_figure(best: Sequence[Point]) -> go.Figure:
    """Both acceptance rates by workload, at the same draft lengths."""
    figure = go.Figure()
    x = [_title(point.workload) for point in best]
    rates = [[point.acceptance_rate, point.per_judgement_rate] for point in best]
    figure.add_trace(_rate_bar("accepted / drafted", x, [first for first, _ in rates], hollow=False))
    figure.add_trace(_rate_bar("per judgement, α", x, [second for _, second in rates], hollow=True))
    figure.update_xaxes(categoryorder="array", categoryarray=x, automargin=True)
    figure.update_yaxes(title="acceptance", range=[0, 1], tickformat=".0%")
    return _laid_out(figure)


def length_figure(every: Sequence[Point]) -> go.Figure:
    """Speedup against draft length, a line for each workload, its best point ringed."""
    figure = go.Figure()
    order = [point.workload for point in best_points(every)]
    for place, workload in enumerate(order):
        its = sorted((point for point in every if point.workload == workload), key=lambda point: point.draft_length)
        color, symbol = COLORS[place % len(COLORS)], SYMBOLS[place % len(SYMBOLS)]
        figure.add_trace(
            go.Scatter(
                x=[point.draft_length for point in its],
                y=[point.speedup for point in its],
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": ["solid", "dash", "dot"][place // len(COLORS) % 3]},
                marker={"symbol": symbol, "size": 9, "color": color},
                name=_title(workload),
                hovertemplate=f"{_title(workload)}, γ %{{x}}: %{{y:.2f}}×<extra></extra>",
            )
        )
    best = best_points(every)
    figure.add_trace(
        go.Scatter(
            x=[point.draft_length for point in best],
            y=[point.speedup for point in best],
            mode="markers",
            marker={"symbol": "circle-open", "size": 19, "color": GREY, "line": {"width": 2, "color": GREY}},
            name="best of its workload",
            hoverinfo="skip",
        )
    )
    _add_break_even(figure)
    lengths = sorted({point.draft_length for point in every})
    figure.update_xaxes(title="draft length γ", tickvals=lengths)
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure, 380)


def grid_figure(every: Sequence[Point]) -> go.Figure:
    """Workload by draft length: a mark each, its speedup written in it: full, round or hollow."""
    order = [point.workload for point in reversed(best_points(every))]
    lengths = sorted({point.draft_length for point in every})
    figure = go.Figure()
    even = [point for point in every if not point.pays and not point.loses]
    for name, chosen, color, symbol in [
        ("quicker than the target alone", [point for point in every if point.pays], BLUE, "square"),
        ("≈ about even, within 5 %", even, GREY, "circle-open"),
        ("slower", [point for point in every if point.loses], ORANGE, "square-open"),
    ]:
        figure.add_trace(
            go.Scatter(
                x=[str(point.draft_length) for point in chosen],
                y=[_title(point.workload) for point in chosen],
                mode="markers+text",
                text=[f"{point.speedup:.1f}×" for point in chosen],
                textfont={"color": "#ffffff", "size": 12} if symbol == "square" else {"size": 12},
                marker={"symbol": symbol, "size": 36, "color": color, "line": {"width": 2, "color": color}},
                name=name,
                customdata=[[point.speedup, _rate(point.acceptance_rate), len(point.rows)] for point in chosen],
                hovertemplate="%{y}, γ %{x}: %{customdata[0]:.2f}×, %{customdata[1]} accepted, "
                "%{customdata[2]} runs<extra></extra>",
            )
        )
    figure.update_xaxes(
        title="draft length γ",
        type="category",
        categoryorder="array",
        categoryarray=[str(length) for length in lengths],
        showgrid=False,
    )
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[_title(name) for name in order],
        automargin=True,
        showgrid=False,
    )
    figure = _laid_out(figure, 110 + 42 * len(order))
    return figure.update_layout(legend={"itemsizing": "constant"})


def break_even_figure(every: Sequence[Point], costs: Costs) -> go.Figure:
    """α by draft length: the break-even line that the theory draws from these rows' costs, and the measured points."""
    lengths = sorted({point.draft_length for point in every})
    line = [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=lengths,
            y=line,
            mode="lines",
            line={"color": GREY, "width": 3, "dash": "dash"},
            name="break-even, modelled",
            hovertemplate="γ %{x}: breaks even at α = %{y:.2f}, modelled<extra></extra>",
        )
    )
    for name, chosen, color, symbol in [
        ("measured quicker", [point for point in every if point.speedup >= 1], BLUE, "square"),
        ("measured slower", [point for point in every if point.speedup < 1], ORANGE, "x"),
    ]:
        judged = [point for point in chosen if point.per_judgement_rate is not None]
        figure.add_trace(
            go.Scatter(
                x=[point.draft_length for point in judged],
                y=[point.per_judgement_rate for point in judged],
                mode="markers",
                marker={"symbol": symbol, "size": 10, "color": color, "line": {"width": 1, "color": "#ffffff"}},
                name=name,
                customdata=[[_title(point.workload), point.speedup] for point in judged],
                hovertemplate="%{customdata[0]}, γ %{x}: α %{y:.2f}, %{customdata[1]:.2f}× measured<extra></extra>",
            )
        )
    figure.update_xaxes(title="draft length γ", tickvals=lengths)
    figure.update_yaxes(title="α per judgement", range=[0, 1.03], tickformat=".1f")
    return _laid_out(figure, 380)


def held_figure(pairs: Sequence[Held]) -> go.Figure:
    """Acceptance of each prompt without and with its grammar, side by side."""
    figure = go.Figure()
    names = [figure_text(pair.prompt) for pair in pairs]
    figure.add_trace(
        _rate_bar("without the grammar", names, [pair.free.acceptance_rate for pair in pairs], hollow=True)
    )
    figure.add_trace(
        _rate_bar("held to its grammar", names, [pair.held.acceptance_rate for pair in pairs], hollow=False)
    )
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(title="accepted / drafted", range=[0, 1], tickformat=".0%")
    return _laid_out(figure)


def adaptive_figure(found: Sequence[Adaptive]) -> go.Figure:
    """Speedup of the best fixed draft length beside the schedules that choose it themselves."""
    figure = go.Figure()
    x = [_title(each.workload) for each in found]
    bars: list[tuple[str, list[Point | None], dict[str, Any]]] = [
        ("best fixed γ", [each.fixed for each in found], {"color": BLUE}),
        (
            "heuristic",
            [each.schedules.get("heuristic") for each in found],
            {"color": ORANGE, "pattern": HATCH},
        ),
        ("confidence stop", [each.schedules.get("confidence") for each in found], HOLLOW),
    ]
    for name, chosen, marker in bars:
        if any(chosen):
            figure.add_trace(
                go.Bar(
                    x=x,
                    y=[point.speedup if point else None for point in chosen],
                    customdata=[point.draft_length if point else 0 for point in chosen],
                    marker=marker,
                    name=name,
                    hovertemplate=f"%{{x}}, {name} (γ %{{customdata}}): %{{y:.2f}}×<extra></extra>",
                )
            )
    _add_break_even(figure)
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(title="speedup", ticksuffix="×", rangemode="tozero")
    return _laid_out(figure)


def _add_prompts(figure: go.Figure, named: Sequence[tuple[str, Point]]) -> None:
    every = [(title, row) for title, point in named for row in point.rows]
    figure.add_trace(
        go.Scatter(
            x=[title for title, _ in every],
            y=[row.speedup for _, row in every],
            mode="markers",
            marker={"symbol": "circle-open", "size": 8, "color": GREY, "line": {"width": 2, "color": GREY}},
            name="a prompt",
            customdata=[[figure_text(row.preset), _rate(row.acceptance_rate)] for _, row in every],
            hovertemplate="%{customdata[0]}: %{y:.2f}×, %{customdata[1]} accepted<extra></extra>",
        )
    )


def _rate_bar(name: str, x: Sequence[str], rates: Sequence[float | None], *, hollow: bool) -> go.Bar:
    outline = {**HOLLOW, "pattern": {**HATCH, "fgcolor": GREY}}
    return go.Bar(
        x=list(x),
        y=list(rates),
        marker=outline if hollow else {"color": BLUE, "opacity": 0.85},
        name=name,
        hovertemplate=f"%{{x}}, {name}: %{{y:.0%}}<extra></extra>",
    )


def _rate(rate: float | None) -> str:
    return "nothing drafted, none" if rate is None else f"{100 * rate:.0f} %"


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))


def _add_break_even(figure: go.Figure) -> None:
    line = {"dash": "dot", "color": ORANGE}
    figure.add_hline(y=1, line=line, annotation_text="1×", annotation_position="right")


def _laid_out(figure: go.Figure, height: int = 330) -> go.Figure:
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    return figure.update_layout(height=height, margin={"l": 8, "r": 24, "t": 8, "b": 8}, legend=legend)
