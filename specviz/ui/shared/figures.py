"""Plotly figures as the dictionaries that plotly.js reads; `chart` draws them. What they share is in assets/chart/."""

from collections.abc import Sequence
from typing import Any, TypedDict

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#808a97"  # Okabe-Ito, legible on light and dark

Part = dict[str, Any]  # of a figure: JSON only, so None for a number that is not known

DOTTED: Part = {"dash": "dot", "color": ORANGE}
# Bars that are told apart without their colour.
HATCH: Part = {"shape": "/", "size": 6, "solidity": 0.35}
HATCHED: Part = {"color": "rgba(0,0,0,0)", "line": {"color": GREY, "width": 2}, "pattern": {**HATCH, "fgcolor": GREY}}


class Figure(TypedDict):
    """What Plotly calls traces, and the layout around them."""

    data: list[Part]
    layout: Part


def figure(data: Sequence[Part], height: int, *, x: Part, y: Part, **layout: Any) -> Figure:
    """A figure with its axes; `height` is in pixels."""
    return {"data": list(data), "layout": {"height": height, "xaxis": x, "yaxis": y, **layout}}


def axis(title: str = "", **more: Any) -> Part:
    """One axis."""
    return {"title": {"text": title}, **more} if title else more


def level(value: float, label: str = "", *, beside: bool = False) -> Part:
    """A dotted line across the figure, as parts of a layout; its label is above the right end, or beside it."""
    line = {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": value, "y1": value, "line": DOTTED}
    above = {"xanchor": "right", "yanchor": "bottom", "yshift": 3}  # its background must not lie on the line
    place = {"xanchor": "left", "yanchor": "middle"} if beside else above
    text = {"text": label, "xref": "x domain", "x": 1, "y": value, "showarrow": False, **place}
    return {"shapes": [line], "annotations": [text] if label else []}
