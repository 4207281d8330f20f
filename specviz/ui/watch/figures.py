"""The figures below the stage, which change with a run. Pure functions: measurements in, a figure out."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.theory import realistic_speedup
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, Figure, Part, axis, figure, level

HEIGHT = 300


@dataclass(frozen=True, slots=True)
class Dot:
    """One measured run."""

    draft_length: int
    speedup: float
    label: str  # what it was a run of
    current: bool  # the run on screen
    same_pair: bool  # as the run on screen
    recorded: bool  # measured elsewhere


def speedup_figure(dots: Sequence[Dot], alpha: float | None, costs: Costs | None) -> Figure:
    """Speedup against draft length: measured dots, and the line that the measured costs and alpha predict."""
    line = [_predicted(alpha, costs)] if alpha is not None and costs is not None else []
    measured = [_measured(name, chosen, marker) for name, chosen, marker in _groups(dots)]
    x = axis("draft length γ", range=[0.5, MAX_DRAFT_LENGTH + 0.5], dtick=1)
    y = axis("speedup", rangemode="tozero", ticksuffix="×")
    return figure([*line, *measured], HEIGHT, x=x, y=y, showlegend=True, **level(1, "break-even 1×"))


def verification_figure(costs: Costs) -> Figure:
    """v(k), the target's time for k tokens at once in single-token steps, beside free and one-by-one checking."""
    lengths = sorted(costs.verification)
    measured = [costs.verification[k] for k in lengths]
    one_by_one: Part = {
        "type": "scatter",
        "x": lengths,
        "y": lengths,
        "mode": "lines",
        "line": {"dash": "dash", "color": GREY},
        "name": "one by one",
    }
    here: Part = {
        "type": "scatter",
        "x": lengths,
        "y": measured,
        "mode": "lines+markers",
        "line": {"color": BLUE, "width": 2},
        "name": "measured here",
        "hovertemplate": "%{x} tokens at once: %{y:.2f} steps, measured<extra></extra>",
    }
    x = axis("tokens read at once, k", dtick=2 if lengths[-1] <= 20 else 8)
    y = axis("v(k), target steps", range=[0, max(3.0, 1.2 * max(measured))])
    return figure([one_by_one, here], HEIGHT, x=x, y=y, **level(1, "free verification"))


def _predicted(alpha: float, costs: Costs) -> Part:
    lengths = list(range(1, MAX_DRAFT_LENGTH + 1))
    speedups = [
        realistic_speedup(alpha, length, costs.cost_ratio, costs.verification, costs.overhead) for length in lengths
    ]
    return {
        "type": "scatter",
        "x": lengths,
        "y": speedups,
        "mode": "lines",
        "line": {"dash": "dash", "color": GREY},
        "name": f"predicted for α = {alpha:.2f}",
        "hovertemplate": "draft length %{x}: %{y:.2f}× predicted<extra></extra>",
    }


def _measured(name: str, dots: Sequence[Dot], marker: Part) -> Part:
    return {
        "type": "scatter",
        "x": [dot.draft_length for dot in dots],
        "y": [dot.speedup for dot in dots],
        "text": [figure_text(dot.label) for dot in dots],
        "mode": "markers",
        "marker": marker,
        "name": name,
        "hovertemplate": "%{text}<br>draft length %{x}: %{y:.2f}× measured<extra></extra>",
    }


def _groups(dots: Sequence[Dot]) -> list[tuple[str, list[Dot], Part]]:
    """Dots by what they are, with how they are drawn; colour never alone."""
    recorded = [dot for dot in dots if dot.recorded]
    others = [dot for dot in dots if not dot.recorded and not dot.same_pair]
    same = [dot for dot in dots if not dot.recorded and dot.same_pair and not dot.current]
    current = [dot for dot in dots if not dot.recorded and dot.current]
    groups: list[tuple[str, list[Dot], Part]] = [
        ("recorded run", recorded, {"symbol": "diamond-open", "size": 12, "color": BLUE}),
        ("measured, another pair", others, {"symbol": "x-thin", "size": 9, "color": GREY, "line": {"width": 2}}),
        ("measured, this pair", same, {"symbol": "circle-open", "size": 9, "color": BLUE, "line": {"width": 2}}),
        ("this run", current, {"symbol": "circle", "size": 12, "color": BLUE}),
    ]
    return [group for group in groups if group[1]]
