"""In batches: the speedup and the cost of a check, by the size of the batch. A study in, a figure out."""

from collections.abc import Sequence

from specviz.data.batches import BatchPass, BatchStudy, Ratio
from specviz.ui.helps.by_draft_figures import LOOKS
from specviz.ui.shared.figures import GREY, Figure, Part, axis, figure, level

HEIGHT = 340
MARGIN = {"r": 24}  # for what stands beside the break-even line


def batch_figure(study: BatchStudy) -> Figure:
    """Speedup against the size of the batch, two lines for each draft length, with intervals."""
    lines: list[Part] = []
    for length, (color, dash, symbol) in zip(study.draft_lengths, LOOKS, strict=False):
        points = [study.at(size, length) for size in study.batches]
        until_end, full = [each.speedup for each in points], [each.full_speedup for each in points]
        solid = {"line": {"color": color, "dash": dash, "width": 2}, "marker": {"symbol": symbol, "size": 8}}
        thin = {"line": {"color": color, "dash": dash, "width": 1}, "marker": {"symbol": f"{symbol}-open", "size": 7}}
        lines.append(_line(study.batches, until_end, f"γ = {length}", color, **solid))
        while_all_write = _line(study.batches, full, f"γ = {length}, while every text writes", color, **thin)
        lines.append({**while_all_write, "showlegend": False})  # the caption says what thin lines are
    x = axis("texts in a batch", type="category")
    y = axis("speedup", ticksuffix="×", rangemode="tozero")
    return figure(lines, HEIGHT, x=x, y=y, showlegend=True, margin=MARGIN, **level(1, "1×", beside=True))


def check_figure(passes: Sequence[BatchPass]) -> Figure:
    """v(k) against k, a line for each size of the batch, and what it would be one by one."""
    tokens = sorted({check.tokens for each in passes for check in each.checks})
    lines: list[Part] = [
        {
            "type": "scatter",
            "x": tokens,
            "y": tokens,
            "mode": "lines",
            "name": "one by one",
            "line": {"color": GREY, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    for each, (color, dash, symbol) in zip(passes, LOOKS, strict=False):
        look = {"line": {"color": color, "dash": dash, "width": 2}, "marker": {"symbol": symbol, "size": 7}}
        name = "one text" if each.batch == 1 else f"{each.batch} texts"
        lines.append(
            _line([check.tokens for check in each.checks], [check.steps for check in each.checks], name, color, **look)
        )
    x = axis("tokens of each text in one pass, k", dtick=1)
    return figure(lines, HEIGHT, x=x, y=axis("v(k), in passes over one token", rangemode="tozero"), showlegend=True)


def _line(x: Sequence[int], ratios: Sequence[Ratio], name: str, color: str, **look: Part) -> Part:
    interval: Part = {
        "type": "data",
        "symmetric": False,
        "array": [each.high - each.value for each in ratios],
        "arrayminus": [each.value - each.low for each in ratios],
        "color": color,
        "thickness": 1,
        "width": 4,
    }
    return {
        "type": "scatter",
        "x": list(x),
        "y": [each.value for each in ratios],
        "error_y": interval,
        "mode": "lines+markers",
        "name": name,
        "hovertemplate": f"%{{x}}: %{{y:.2f}}<extra>{name}</extra>",
        **look,
        "marker": {**look["marker"], "color": color},
    }
