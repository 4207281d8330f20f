"""Plotly figures that change with a run, not with the playhead. Pure functions: measurements in, a figure out."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.theory import realistic_speedup
from specviz.ui.shared.escaping import figure_text

NO_TOOLS = {"displayModeBar": False}  # Plotly's own buttons above a figure
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808a97"  # Okabe-Ito, legible on light and dark


@dataclass(frozen=True, slots=True)
class Dot:
    """One measured run."""

    draft_length: int
    speedup: float
    label: str  # what it was a run of
    current: bool  # the run on screen
    same_pair: bool  # as the run on screen
    recorded: bool  # measured elsewhere


def speedup_figure(dots: Sequence[Dot], alpha: float | None, costs: Costs | None) -> go.Figure:
    """Speedup against draft length: measured dots, and the line that the measured costs and alpha predict."""
    figure = go.Figure()
    if alpha is not None and costs is not None:
        figure.add_trace(_predicted(alpha, costs))
    for name, chosen, marker in _groups(dots):
        figure.add_trace(
            go.Scatter(
                x=[dot.draft_length for dot in chosen],
                y=[dot.speedup for dot in chosen],
                text=[figure_text(dot.label) for dot in chosen],
                mode="markers",
                marker=marker,
                name=name,
                hovertemplate="%{text}<br>draft length %{x}: %{y:.2f}× measured<extra></extra>",
            )
        )
    _add_level(figure, "break-even 1×")
    figure.update_xaxes(title="draft length γ", range=[0.5, MAX_DRAFT_LENGTH + 0.5], dtick=1)
    figure.update_yaxes(title="speedup", rangemode="tozero", ticksuffix="×")
    return _laid_out(figure)


def verification_figure(costs: Costs) -> go.Figure:
    """v(k), the target's time for k tokens at once in single-token steps, beside free and one-by-one checking."""
    lengths = sorted(costs.verification)
    figure = go.Figure()
    one_by_one = {"dash": "dash", "color": GREY}
    figure.add_trace(go.Scatter(x=lengths, y=lengths, mode="lines", line=one_by_one, name="one by one"))
    figure.add_trace(
        go.Scatter(
            x=lengths,
            y=[costs.verification[k] for k in lengths],
            mode="lines+markers",
            line={"color": BLUE, "width": 2},
            name="measured here",
            hovertemplate="%{x} tokens at once: %{y:.2f} steps, measured<extra></extra>",
        )
    )
    _add_level(figure, "free verification")
    figure.update_xaxes(title="tokens read at once, k", dtick=2)
    top = max(3.0, 1.2 * max(costs.verification.values()))
    figure.update_yaxes(title="v(k), target steps", range=[0, top])
    return _laid_out(figure)


def _add_level(figure: go.Figure, label: str) -> None:
    line = {"dash": "dot", "color": ORANGE}
    figure.add_hline(y=1, line=line, annotation_text=label, annotation_position="top right")


def _laid_out(figure: go.Figure) -> go.Figure:
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(height=300, showlegend=True, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
    return figure


def _predicted(alpha: float, costs: Costs) -> go.Scatter:
    lengths = list(range(1, MAX_DRAFT_LENGTH + 1))
    speedups = [
        realistic_speedup(alpha, length, costs.cost_ratio, costs.verification, costs.overhead) for length in lengths
    ]
    return go.Scatter(
        x=lengths,
        y=speedups,
        mode="lines",
        line={"dash": "dash", "color": GREY},
        name=f"predicted for α = {alpha:.2f}",
        hovertemplate="draft length %{x}: %{y:.2f}× predicted<extra></extra>",
    )


def _groups(dots: Sequence[Dot]) -> list[tuple[str, list[Dot], dict[str, object]]]:
    """Dots by what they are, with how they are drawn; colour never alone."""
    recorded = [dot for dot in dots if dot.recorded]
    others = [dot for dot in dots if not dot.recorded and not dot.same_pair]
    same = [dot for dot in dots if not dot.recorded and dot.same_pair and not dot.current]
    current = [dot for dot in dots if not dot.recorded and dot.current]
    groups: list[tuple[str, list[Dot], dict[str, object]]] = [
        ("recorded run", recorded, {"symbol": "diamond-open", "size": 12, "color": BLUE}),
        ("measured, another pair", others, {"symbol": "x-thin", "size": 9, "color": GREY, "line": {"width": 2}}),
        ("measured, this pair", same, {"symbol": "circle-open", "size": 9, "color": BLUE, "line": {"width": 2}}),
        ("this run", current, {"symbol": "circle", "size": 12, "color": BLUE}),
    ]
    return [group for group in groups if group[1]]
