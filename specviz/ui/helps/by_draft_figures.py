"""By drafter: what each drafter would reach on the same output at every draft length. Prospects in, a figure out."""

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from specviz.core.replay import Prospect, counts_of, modelled_speedup
from specviz.core.request import PROMPT_LOOKUP
from specviz.core.settings import MAX_DRAFT_LENGTH

LENGTHS = range(1, MAX_DRAFT_LENGTH + 1)
# Okabe-Ito colours, each with a dash and a symbol, so that colour never stands alone.
LOOKS = (
    ("#0072B2", "solid", "circle"),
    ("#D55E00", "dash", "square"),
    ("#009E73", "dot", "diamond"),
    ("#CC79A7", "dashdot", "triangle-up"),
    ("#808a97", "longdash", "x"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """One draft at one draft length."""

    draft: str
    draft_length: int
    per_call: float  # tokens per target call: exact
    speedup: float  # modelled
    acceptance_rate: float | None  # accepted / drafted
    per_judgement_rate: float | None


def draft_name(draft: str) -> str:
    """The drafter's name on screen."""
    return "prompt lookup" if draft == PROMPT_LOOKUP else draft


def points_of(prospect: Prospect) -> list[Point]:
    """Every draft length from 1 to 16."""
    points: list[Point] = []
    for length in LENGTHS:
        rounds = prospect.replay(length)
        counts = counts_of(rounds)
        points.append(
            Point(
                prospect.draft,
                length,
                counts.tokens_per_target_call or 0.0,
                modelled_speedup(rounds, prospect.costs) or 0.0,
                counts.acceptance_rate,
                counts.per_judgement_rate,
            )
        )
    return points


def best_of(points: Sequence[Point]) -> Point:
    """The point with the highest modelled speedup; of equal ones, the one with the shortest draft."""
    return max(points, key=lambda point: point.speedup)


def tokens_figure(drafts: Sequence[Sequence[Point]]) -> go.Figure:
    """Tokens per target call against draft length: counted, not modelled."""
    figure = go.Figure()
    for points, look in zip(drafts, LOOKS, strict=False):
        figure.add_trace(_line(points, [point.per_call for point in points], look, "%{y:.2f} tokens per target call"))
    figure.update_yaxes(title="tokens per target call", rangemode="tozero")
    return _laid_out(figure)


def prospects_figure(drafts: Sequence[Sequence[Point]]) -> go.Figure:
    """Modelled speedup against draft length, each draft's best point marked."""
    figure = go.Figure()
    for points, look in zip(drafts, LOOKS, strict=False):
        figure.add_trace(_line(points, [point.speedup for point in points], look, "%{y:.2f}× modelled"))
        best = best_of(points)
        marker = {"symbol": "star", "size": 15, "color": look[0], "line": {"width": 1, "color": "#ffffff"}}
        text = f"{draft_name(best.draft)}: best at γ = {best.draft_length}, {best.speedup:.2f}× modelled<extra></extra>"
        star = go.Scatter(x=[best.draft_length], y=[best.speedup], mode="markers", marker=marker, hovertemplate=text)
        figure.add_trace(star.update(showlegend=False, name=f"{best.draft}, best"))
    figure.add_hline(
        y=1,
        line={"dash": "dot", "color": "#D55E00"},
        annotation_text="break-even 1×",
        annotation_position="top right",
    )
    figure.update_yaxes(title="speedup, modelled", rangemode="tozero", ticksuffix="×")
    return _laid_out(figure)


def _line(points: Sequence[Point], values: list[float], look: tuple[str, str, str], hover: str) -> go.Scatter:
    color, dash, symbol = look
    return go.Scatter(
        x=[point.draft_length for point in points],
        y=values,
        mode="lines+markers",
        name=draft_name(points[0].draft),
        line={"color": color, "dash": dash, "width": 2},
        marker={"symbol": symbol, "size": 7, "color": color},
        hovertemplate=f"γ = %{{x}}: {hover}<extra>{draft_name(points[0].draft)}</extra>",
    )


def _laid_out(figure: go.Figure) -> go.Figure:
    figure.update_xaxes(title="draft length γ", range=[0.5, MAX_DRAFT_LENGTH + 0.5], dtick=3, tick0=1)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    figure.update_layout(height=320, showlegend=True, margin={"l": 8, "r": 8, "t": 8, "b": 8}, legend=legend)
    return figure
