"""Figures as the browser gets them: what is not JSON would arrive there as one long text."""

import json
from typing import Any

from specviz.figures.parts import Figure, FigurePart


def layout_of(figure: Figure) -> dict[str, Any]:
    """The layout; fails where the figure is not JSON."""
    json.dumps(figure, allow_nan=False)
    return figure["layout"]


def parts_of(figure: Figure) -> list[FigurePart]:
    """What Plotly calls traces; fails where the figure is not JSON."""
    json.dumps(figure, allow_nan=False)
    return figure["data"]


def by_name(figure: Figure) -> dict[str, FigurePart]:
    return {part["name"]: part for part in parts_of(figure) if "name" in part}
