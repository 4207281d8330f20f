"""The worksheet's figures. Pure functions: a model and runs in, a figure out."""

import math
from collections.abc import Sequence

from specviz.core.numbers import times
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.measure.worksheet.model import WorksheetModel
from specviz.measure.worksheet.runs import Gap, MeasuredRun, MeasuringPage, signed

ALPHAS = [step / 40 for step in range(41)]
LENGTHS = list(range(1, MAX_DRAFT_LENGTH + 1))
SYMBOLS: dict[MeasuringPage, str] = {"watch": "circle", "race": "square", "when_it_helps": "triangle-up"}
SAYS = page_texts("worksheet")


def speedup_map(
    model: WorksheetModel, points: Sequence[MeasuredRun], loaded: WorksheetModel | None = None
) -> plot.Figure:
    """Speedup over acceptance and draft length at the model's costs, the break-even line, the runs and the setting."""
    speedups = [[model.speedup_at(alpha, length) for length in LENGTHS] for alpha in ALPHAS]
    even, dashed = [model.at(length).break_even for length in LENGTHS], {"color": plot.INK, "width": 3, "dash": "dash"}
    look: plot.FigurePart = {"mode": "lines", "line": dashed}
    line = plot.scatter(SAYS["break_even"], LENGTHS, even, SAYS["hover_break_even"], **look)
    parts = [_ground(speedups), _levels(speedups), line]
    for source in dict.fromkeys(point.source for point in points):
        parts.append(_dots([point for point in points if point.source == source]))
    for name, at, symbol in (("loaded_at", loaded, "diamond-open"), ("sliders_at", model, "circle-open")):
        if at:
            ring: plot.FigurePart = {"mode": "markers", "marker": plot.marker(symbol, 22, plot.INK, width=3)}
            said = SAYS["hover_setting"].format(name=SAYS[name], speedup=at.terms.speedup)
            parts.append(plot.scatter(SAYS[name], [at.draft_length], [at.alpha], said, **ring))
    x = plot.axis(SAYS["axis_length"], range=[0.5, MAX_DRAFT_LENGTH + 0.5], tick0=2, dtick=2)
    y = plot.axis(SAYS["axis_accepted"], range=[0, 1.012], tickformat=".0%", showgrid=False)
    return plot.figure(parts, 450, x=x, y=y, margin={"b": 100})


def _ground(speedups: list[list[float]]) -> plot.FigurePart:
    """Coloured by the logarithm, so that 2× and ½× are equally far from 1×; limits at ¼× and 4×."""
    return {
        "type": "heatmap",
        "x": LENGTHS,
        "y": ALPHAS,
        "z": [[math.log2(speedup) for speedup in row] for row in speedups],
        "customdata": speedups,
        "zmin": -2,
        "zmax": 2,
        "colorscale": [[0, plot.ORANGE], [0.5, plot.PALE], [1, plot.BLUE]],
        "colorbar": {
            "orientation": "h",
            "title": {"text": SAYS["axis_modelled"], "side": "bottom"},
            "yref": "container",  # below the axis title, however much room the legend takes on a phone
            "y": 0,
            "yanchor": "bottom",
            "tickvals": [-2, -1, 0, 1, 2],
            "ticktext": ["¼×", "½×", "1×", "2×", "4×"],
            "thickness": 8,
            "outlinewidth": 0,
        },
        "hovertemplate": SAYS["hover_map"],
    }


def _levels(speedups: list[list[float]]) -> plot.FigurePart:
    return {
        "type": "contour",
        "x": LENGTHS,
        "y": ALPHAS,
        "z": speedups,
        "contours": {
            "coloring": "none",
            "start": 2,
            "end": 12,
            "size": 1,
            "showlabels": True,
            "labelformat": ".0f",
            "labelfont": {"color": plot.INK, "size": 11},
        },
        "line": {"color": plot.INK, "width": 0.7},
        "hoverinfo": "skip",
        "showscale": False,
        "showlegend": False,
    }


def _dots(points: Sequence[MeasuredRun]) -> plot.FigurePart:
    """The points of one source. Recorded points are paler and have a dot inside."""
    first = points[0]
    symbol, fill = SYMBOLS[first.where], plot.GROUND if first.recorded else "#F0E442"
    size, inside = 8 if first.where == "when_it_helps" else 11, "-dot" if first.recorded else ""
    return plot.scatter(
        first.source,
        [point.terms.draft_length for point in points],
        [point.terms.alpha for point in points],
        f"{SAYS['hover_run']}<extra>{first.source}</extra>",
        mode="markers",
        marker=plot.marker(f"{symbol}{inside}", size, fill, edge=plot.INK, width=1.5),
        customdata=[[point.measured, point.terms.speedup, plot.figure_text(point.label)] for point in points],
    )


def gap_figure(gap: Gap) -> plot.Figure:
    changes = [gap.clustering, gap.verification, gap.overhead, gap.rest]
    names = [SAYS[f"gap_{name}"] for name in ("formula", "position", "checks", "overhead", "rest", "measured")]
    causes: plot.FigurePart = {
        "type": "waterfall",
        "x": names,
        "y": [gap.ideal, *changes, gap.measured],
        "measure": ["absolute", *["relative"] * len(changes), "total"],
        "text": [times(gap.ideal), *map(signed, changes), times(gap.measured)],
        "textposition": "outside",
        "increasing": {"marker": {"color": plot.BLUE}},
        "decreasing": {"marker": {"color": plot.ORANGE}},
        "totals": {"marker": {"color": plot.GREY}},
        "connector": {"line": {"color": plot.GREY, "width": 1}},
        "hovertemplate": "%{x}: %{text}<extra></extra>",
        "cliponaxis": False,
    }
    y = plot.axis(SAYS["axis_speedup"], ticksuffix="×", rangemode="tozero")
    return plot.figure([causes], 300, x=plot.axis(), y=y, **plot.level(1))


def positions_figure(rates: Sequence[float], survival: Sequence[float]) -> plot.Figure:
    positions = [str(place) for place in range(1, len(rates) + 1)]
    shown = {SAYS["per_judgement"]: rates, SAYS["of_all_drafts"]: survival[: len(rates)]}
    return plot.rates_figure(positions, shown, 260, x=plot.axis(SAYS["axis_position"], type="category"))
