"""By method: the figures. Measured methods in, a figure out; never colour alone."""

from collections.abc import Sequence

from specviz.data.measured_methods import POSITIONS_AT, AtBest, MeasuredMethod, Outcome
from specviz.ui.helps.figures import FASTER, HOLLOW, NOT_TOLD, OVERLAID, SLOWER
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, DOTTED, GREY, ORANGE, Figure, Part, axis, figure

HEIGHT = 400
ROW, AROUND = 34, 90  # px of a bar, and of what is around the bars
GROUPS: dict[str, tuple[set[str], str, str]] = {  # their families, colour and symbol
    "small models": ({"small model"}, "#0072B2", "circle"),
    "heads on the target": ({"eagle", "medusa"}, "#D55E00", "square"),
    "no model": ({"prompt lookup", "early exit"}, "#00765a", "diamond"),
    "trees": ({"tree"}, "#a3478a", "hexagon"),
    "other ways to draw or verify": ({"argmax", "block"}, "#5f6b7a", "octagon"),
}
BARS: dict[Outcome, tuple[str, Part]] = {
    "pays": (FASTER, {"color": BLUE, "opacity": 0.85}),
    "unclear": (NOT_TOLD, HOLLOW),
    "loses": (SLOWER, {"color": ORANGE, "pattern": OVERLAID}),
}
LINES = (("#D55E00", "solid", "square"), ("#0072B2", "dash", "circle"), ("#00765a", "dot", "diamond"))


def costs_figure(methods: Sequence[MeasuredMethod], kind: str) -> Figure:
    """Tokens per target call against the cost of a draft step; a method has its number in the table."""
    numbers = {method.name: number for number, method in enumerate(methods, start=1)}
    parts: list[Part] = []
    for group, (families, color, symbol) in GROUPS.items():
        its = [method for method in methods if method.family in families]
        found = [(method, method.kinds[kind].best.costs) for method in its]
        drawn = [(method, costs) for method, costs in found if costs.draft_step is not None]
        if drawn:
            parts.append(
                {
                    "type": "scatter",
                    "x": [costs.draft_step for _, costs in drawn],
                    "y": [costs.tokens_per_target_call for _, costs in drawn],
                    "mode": "markers+text",
                    "marker": {"symbol": symbol, "size": 21, "color": color, "line": {"width": 1, "color": "#ffffff"}},
                    "text": [str(numbers[method.name]) for method, _ in drawn],
                    "textfont": {"color": "#ffffff", "size": 11},
                    "name": group,
                    "customdata": [figure_text(method.title) for method, _ in drawn],
                    "hovertemplate": "%{customdata}: %{y:.2f} tokens per target call, c = %{x:.2f}<extra></extra>",
                }
            )
    x = axis("c: a draft step in target steps", rangemode="tozero")
    return figure(parts, HEIGHT, x=x, y=axis("tokens per target call", rangemode="tozero"), showlegend=True)


def speedups_figure(methods: Sequence[MeasuredMethod], kind: str) -> Figure:
    """A bar for each method with the interval over prompts, the fastest at the top."""
    ranked = sorted(methods, key=lambda method: method.kinds[kind].best.speedup)
    numbers = {method.name: number for number, method in enumerate(methods, start=1)}
    labels = {method.name: f"{numbers[method.name]} {_in_two_lines(method.title)}" for method in ranked}
    parts: list[Part] = []
    for outcome, (name, marker) in BARS.items():
        its = [(method, method.kinds[kind].best) for method in ranked if method.kinds[kind].best.outcome == outcome]
        if its:
            parts.append(_bars([labels[method.name] for method, _ in its], [best for _, best in its], name, marker))
    line = {"type": "line", "yref": "y domain", "x0": 1, "x1": 1, "y0": 0, "y1": 1, "line": DOTTED}
    y = axis(categoryorder="array", categoryarray=list(labels.values()), showgrid=False)
    x = axis("speedup, measured", ticksuffix="×", rangemode="tozero")
    return figure(parts, AROUND + ROW * len(ranked), x=x, y=y, showlegend=True, shapes=[line])


def _in_two_lines(title: str) -> str:
    """The manner of a method below its drafter, so that bars have room on a phone."""
    return figure_text(title).replace(" (", "<br>(")


def _bars(labels: Sequence[str], found: Sequence[AtBest], name: str, marker: Part) -> Part:
    return {
        "type": "bar",
        "orientation": "h",
        "y": list(labels),
        "x": [best.speedup for best in found],
        "marker": marker,
        "name": name,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [best.high - best.speedup for best in found],
            "arrayminus": [best.speedup - best.low for best in found],
            "color": GREY,
            "thickness": 1.5,
            "width": 4,
        },
        "customdata": [[best.low, best.high] for best in found],
        "hovertemplate": "%{y}: %{x:.2f}× [%{customdata[0]:.2f} to %{customdata[1]:.2f}]<extra></extra>",
    }


def positions_figure(methods: Sequence[MeasuredMethod], kind: str) -> Figure:
    """Acceptance by position in a draft of four, a line for each method, with its interval."""
    parts = [_positions(method, kind, look) for method, look in zip(methods, LINES, strict=False)]
    x = axis("position in the draft", tickvals=list(range(1, POSITIONS_AT + 1)))
    y = axis("accepted / judged", range=[0, 1], tickformat=".0%")
    return figure([part for part in parts if part], 300, x=x, y=y, showlegend=True)


def _positions(method: MeasuredMethod, kind: str, look: tuple[str, str, str]) -> Part:
    at = method.kinds[kind].at(POSITIONS_AT)
    if at is None:
        return {}
    color, dash, symbol = look
    shown = [
        (number, rate, interval, judged)
        for number, (rate, interval, judged) in enumerate(zip(at.by_position, at.intervals, at.judged, strict=True), 1)
        if rate is not None and interval is not None
    ]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [number for number, *_ in shown],
        "y": [rate for _, rate, *_ in shown],
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [interval[1] - rate for _, rate, interval, _ in shown],
            "arrayminus": [rate - interval[0] for _, rate, interval, _ in shown],
            "color": color,
            "thickness": 1.5,
            "width": 4,
        },
        "line": {"color": color, "dash": dash, "width": 2},
        "marker": {"symbol": symbol, "size": 9, "color": color},
        "name": figure_text(method.title),
        "customdata": [judged for *_, judged in shown],
        "hovertemplate": "position %{x}: %{y:.0%} of %{customdata} judged<extra></extra>",
    }
