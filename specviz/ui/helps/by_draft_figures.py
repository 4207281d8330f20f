"""By drafter: what each drafter would reach on the same output at every draft length. Prospects in, a figure out."""

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.core.replay import Prospect, counts_of, modelled_speedup
from specviz.core.request import PROMPT_LOOKUP
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import Figure, Part, axis, figure, level

LENGTHS = range(1, MAX_DRAFT_LENGTH + 1)
HEIGHT = 320
X = axis("draft length γ", range=[0.5, MAX_DRAFT_LENGTH + 0.5], dtick=3, tick0=1)
# Okabe-Ito colours, each with a dash and a symbol, so that colour never stands alone.
LOOKS = (
    ("#0072B2", "solid", "circle"),
    ("#D55E00", "dash", "square"),
    ("#009E73", "dot", "diamond"),
    ("#CC79A7", "dashdot", "triangle-up"),
    ("#808a97", "longdash", "x"),
    ("#E69F00", "longdashdot", "triangle-down"),
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


def tokens_figure(drafts: Sequence[Sequence[Point]]) -> Figure:
    """Tokens per target call against draft length: counted, not modelled."""
    lines = [
        _line(points, [point.per_call for point in points], look, "%{y:.2f} tokens per target call")
        for points, look in zip(drafts, LOOKS, strict=False)
    ]
    return figure(lines, HEIGHT, x=X, y=axis("tokens per target call", rangemode="tozero"), showlegend=True)


def prospects_figure(drafts: Sequence[Sequence[Point]]) -> Figure:
    """Modelled speedup against draft length, each draft's best point marked."""
    lines: list[Part] = []
    for points, look in zip(drafts, LOOKS, strict=False):
        lines.append(_line(points, [point.speedup for point in points], look, "%{y:.2f}× modelled"))
        lines.append(_star(best_of(points), look[0]))
    y = axis("speedup, modelled", rangemode="tozero", ticksuffix="×")
    return figure(lines, HEIGHT, x=X, y=y, showlegend=True, **level(1, "break-even 1×"))


def _line(points: Sequence[Point], values: list[float], look: tuple[str, str, str], hover: str) -> Part:
    color, dash, symbol = look
    name = figure_text(draft_name(points[0].draft))
    return {
        "type": "scatter",
        "x": [point.draft_length for point in points],
        "y": values,
        "mode": "lines+markers",
        "name": name,
        "line": {"color": color, "dash": dash, "width": 2},
        "marker": {"symbol": symbol, "size": 7, "color": color},
        "hovertemplate": f"γ = %{{x}}: {hover}<extra>{name}</extra>",
    }


def _star(best: Point, color: str) -> Part:
    name = figure_text(draft_name(best.draft))
    return {
        "type": "scatter",
        "x": [best.draft_length],
        "y": [best.speedup],
        "mode": "markers",
        "marker": {"symbol": "star", "size": 15, "color": color, "line": {"width": 1, "color": "#ffffff"}},
        "name": f"{name}, best",
        "hovertemplate": f"{name}: best at γ = {best.draft_length}, {best.speedup:.2f}× modelled<extra></extra>",
        "showlegend": False,
    }
