"""Figures as the browser gets them: what is not JSON would arrive there as one long text. For snapshots, as lines."""

import json
import re
from typing import Any

from specviz.figures.parts import Figure, FigurePart


def parts_of(figure: Figure) -> list[FigurePart]:
    """What Plotly calls traces; fails where the figure is not JSON."""
    json.dumps(figure, allow_nan=False)
    return figure["data"]


def rounded(text: object) -> str:
    """A text whose long numbers have four digits: the last ones of a sum are another processor's own."""
    return re.sub(r"\d+\.\d{4,}(?:e-?\d+)?", lambda digits: _short(float(digits[0])), str(text))


def _short(number: float) -> str:
    said = f"{number:.4g}"
    return said if "." in said else f"{said}.0"  # as 3.0 is written, which 3.0000000000000004 may be


def lines_of(figure: Figure) -> str:
    """What is drawn: the axes, and each part with its look and its points, with the ends of their intervals."""
    around: dict[str, dict[str, Any]] = {"xaxis": {}, "yaxis": {}, "rest": {}}
    for name, value in figure["layout"].items():
        around[name if name in around else "rest"] |= value if name in around else {name: value}
    lines = [f"{name}: {' '.join(f'{key}={value}' for key, value in its.items())}" for name, its in around.items()]
    for part in parts_of(figure):
        looks = [
            f"{name}={part[name]}" for name in ("mode", "marker", "line", "opacity", "orientation") if name in part
        ]
        lines.append(" ".join([part["type"], repr(part["name"]), *looks]))
        for place, (x, y) in enumerate(zip(part["x"], part["y"], strict=True)):
            told = [part["customdata"][place]] if "customdata" in part else []
            lines.append(" ".join(map(str, ("   ", x, "|", y, *_ends(part, place, x, y), *told))))
        lines.append(f"    {part.get('hovertemplate')}")
    return rounded("\n".join(lines))


def _ends(part: FigurePart, place: int, x: Any, y: Any) -> list[str]:
    return [
        f"from {value - part[name]['arrayminus'][place]:.4g} to {value + part[name]['array'][place]:.4g}"
        for name, value in (("error_x", x), ("error_y", y))
        if name in part
    ]
