"""The chart: plotly.js draws it in the browser. Its HTML, CSS and JavaScript live in assets/chart/."""

from functools import cache
from typing import Any, TypedDict

from specviz.ui.shared.components import component, html_of
from specviz.ui.shared.figures import Figure


class ChartPayload(TypedDict):
    """A figure, and what it shows in words."""

    figure: Figure
    alt: str


def chart(figure: Figure, key: str, alt: str) -> None:
    """Mount a chart.

    Args:
        figure: what to draw.
        key: of the component, so that it stays when the figure changes.
        alt: what the figure shows, for a screen reader.
    """
    payload: ChartPayload = {"figure": figure, "alt": alt}
    _component()(key=key, data=payload, height=figure["layout"]["height"])


@cache
def _component() -> Any:
    return component("specviz_chart", html_of("chart/chart.html"), ("chart/chart.css",), "chart/chart.js")
