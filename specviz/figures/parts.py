"""Plotly figures as the dictionaries that plotly.js reads: their parts, and text that is no markup in them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, TypedDict

from specviz.core.judge import Judgement

_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # they would turn the sentence around the text too
JOINER = "\u2060"  # has no width

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808a97"  # Okabe-Ito, legible on light and dark
# Of the theme: the browser puts its own colour there (assets/browser/chart/chart.ts).
INK, PALE, GROUND = "var(--ink)", "var(--line)", "var(--background)"
# Several lines: each colour has a symbol and a dash, so that colour never stands alone.
COLORS = (BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", GREY, "#b58900")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

FigurePart = dict[str, Any]  # of a figure: JSON only, so None for a number that is not known

DOTTED: FigurePart = {"dash": "dot", "color": ORANGE}
UPRIGHT: FigurePart = {"type": "line", "yref": "y domain", "y0": 0, "y1": 1, "x0": 1, "x1": 1, "line": DOTTED}  # at 1×
# Bars that are told apart without their colour.
HATCH: FigurePart = {"shape": "/", "size": 6, "solidity": 0.35}
HATCHED: FigurePart = {
    "color": "rgba(0,0,0,0)",
    "line": {"color": GREY, "width": 2},
    "pattern": {**HATCH, "fgcolor": GREY},
}


class Figure(TypedDict):
    """What Plotly calls traces, and the layout around them."""

    data: list[FigurePart]
    layout: FigurePart


def figure(data: Sequence[FigurePart], height: int, *, x: FigurePart, y: FigurePart, **layout: Any) -> Figure:
    return {"data": list(data), "layout": {"height": height, "xaxis": x, "yaxis": y, **layout}}


def scatter(name: str, x: Iterable[Any], y: Iterable[Any], hover: str = "", **more: Any) -> FigurePart:
    """Points with lines between them, unless `mode` says otherwise; `hover` is what stands beside the pointer."""
    shown = {"hovertemplate": hover} if hover else {}
    return {"type": "scatter", "mode": "lines+markers", "name": name, "x": list(x), "y": list(y), **shown, **more}


def bars(name: str, x: Iterable[Any], y: Iterable[Any], hover: str, **more: Any) -> FigurePart:
    return {"type": "bar", "name": name, "x": list(x), "y": list(y), "hovertemplate": hover, **more}


def rates_figure(
    labels: Sequence[str], rates: Mapping[str, Sequence[float | None]], height: int, *, x: FigurePart, y: str = ""
) -> Figure:
    """Shares from 0 to 1 as bars at these labels: one, or by their names two beside each other, filled and hatched."""
    said, looks = "%{x}{of}: %{y:.0%}<extra></extra>", ({"color": BLUE}, HATCHED)
    drawn = [
        bars(name, labels, shares, said.replace("{of}", f", {name}" if name else ""), marker=marker)
        for (name, shares), marker in zip(rates.items(), looks, strict=False)
    ]
    return figure(drawn, height, x=x, y=axis(y, range=[0, 1.03], tickformat=".0%"), showlegend=len(rates) > 1)


def look(number: int, size: int, *, width: int = 2, dash: str = "", open: str = "") -> FigurePart:
    """The line of this number and its points; `open` is the ending of a symbol's name: "-open"."""
    color, symbol = COLORS[number % len(COLORS)], f"{SYMBOLS[number % len(SYMBOLS)]}{open}"
    line = {"color": color, "dash": dash or DASHES[number % len(DASHES)], "width": width}
    return {"line": line, "marker": {"symbol": symbol, "size": size, "color": color}}


def marker(symbol: str | Sequence[str], size: float, color: str, edge: str = "", width: float = 2) -> FigurePart:
    """Of a point; its edge has the same colour unless another is given."""
    return {"symbol": symbol, "size": size, "color": color, "line": {"width": width, "color": edge or color}}


def intervals(speedups: Sequence[Judgement], color: str, **more: Any) -> FigurePart:
    """A bar across each speedup, as long as its 95 % interval; none where that is not known."""
    ends = [(each.speedup, *(each.interval or 2 * (each.speedup,))) for each in speedups]
    lengths = {
        "array": [high - speedup for speedup, _, high in ends],
        "arrayminus": [speedup - low for speedup, low, _ in ends],
    }
    return {"type": "data", "symmetric": False, **lengths, "color": color, "thickness": 1.5, "width": 4, **more}


def axis(title: str = "", **more: Any) -> FigurePart:
    return {"title": {"text": title}, **more} if title else more


def level(value: float, label: str = "", *, beside: bool = False) -> FigurePart:
    """A dotted line across the figure, as parts of a layout; its label is above the right end, or beside it."""
    line = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": value, "y1": value, "line": DOTTED}
    above = {"xanchor": "right", "yanchor": "bottom", "yshift": 3}  # its background must not lie on the line
    place = {"xanchor": "left", "yanchor": "middle"} if beside else above
    text = {"text": label, "xref": "x domain", "x": 1, "y": value, "showarrow": False, **place}
    return {"shapes": [line], "annotations": [text] if label else []}


def one_way(text: str) -> str:
    """Without characters that change the direction of writing; right-to-left letters need none."""
    return _TURNS.sub("\N{REPLACEMENT CHARACTER}", text)


def figure_text(text: str) -> str:
    """The text for a label, a legend or a hover text of Plotly, which reads some HTML and the fields of templates."""
    return escape(one_way(text), quote=False).replace("%{", f"%{JOINER}{{")
