"""The figures of "When it helps". Pure functions: frames of points in, a figure out; never colour alone."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from specviz.core.metrics import Costs
from specviz.measure.sweep.points import ADAPTIVE, EVEN, LOSES, PAYS, UNCLEAR, best_points, break_even_line
from specviz.measure.sweep.predictions import round_steps
from specviz.measure.sweep.sentences import percent, workload_title
from specviz.measure.sweep.table import each_row
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.figures import BLUE, GREY, HATCH, HATCHED, ORANGE, Figure, Part, axis, figure, level

# Okabe-Ito colours, readable on white and on a dark page; each has a symbol for those who cannot tell them apart.
COLORS = [BLUE, ORANGE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808a97", "#b58900"]
SYMBOLS = ["circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "x", "star"]
DASHES = ["solid", "dash", "dot"]
SLATE = "#5f6b7a"
OVERLAID = {**HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}  # lighter than the bar: dark text stays readable
DOT: Part = {"symbol": "circle", "size": 8, "color": "#ffffff", "line": {"width": 1.5, "color": "#1b1f24"}}
RING: Part = {"symbol": "circle-open", "color": GREY, "line": {"width": 2, "color": GREY}}
HOLLOW: Part = {"color": "rgba(0,0,0,0)", "line": {"color": GREY, "width": 2}}
FASTER, ABOUT_EVEN, SLOWER = "faster than the target alone", "≈ about even, within 5 %", "slower"
NOT_TOLD = "? cannot be told with these prompts"
HEIGHT, TALLER = 330, 380
MARGIN = {"r": 24}  # for what stands beside the break-even line
BREAK_EVEN = level(1, "1×", beside=True)
SPEEDUP = axis("speedup", ticksuffix="×", rangemode="tozero")


def workload_figure(fair: pd.DataFrame, rows: pd.DataFrame) -> Figure:
    """Speedup by workload with its draft lengths; what loses is hatched; every one of `rows` is a dot."""
    looks: dict[str, Part] = {
        FASTER: {"color": BLUE, "opacity": 0.85},
        ABOUT_EVEN: {"color": SLATE},
        NOT_TOLD: HOLLOW,
        SLOWER: {"color": ORANGE, "pattern": OVERLAID},
    }
    bars: list[Part] = [
        {
            "type": "bar",
            "x": _titles(its["workload"]),
            "y": its["speedup"].to_list(),
            "text": [_bar_label(name, point.speedup, point.lengths) for point in each_row(its)],
            "textposition": "inside",
            "insidetextanchor": "start",
            "textangle": 0,
            "textfont": {"color": TEXT_ON[name]} if name in TEXT_ON else {},
            "marker": looks[name],
            "error_y": _intervals(its),
            "name": name,
            "hovertemplate": "%{x}: %{y:.2f}×<extra></extra>",
        }
        for name, its in _by_outcome(fair).items()
        if len(its)
    ]
    x = axis(categoryorder="array", categoryarray=_titles(fair["workload"]))
    legible = {"mode": "hide", "minsize": 12}  # on a phone the bars are too narrow for words
    layout = {"uniformtext": legible, "margin": MARGIN, **BREAK_EVEN}
    return figure([*bars, _prompt_dots(rows)], HEIGHT, x=x, y=SPEEDUP, **layout)


TEXT_ON = {FASTER: "#ffffff", ABOUT_EVEN: "#ffffff", SLOWER: "#1b1f24", NOT_TOLD: GREY}  # readable on both grounds


def _by_outcome(every: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The points that pay, those about even, those that cannot be told and those that lose, by legend name."""
    names = {FASTER: PAYS, ABOUT_EVEN: EVEN, NOT_TOLD: UNCLEAR, SLOWER: LOSES}
    return {name: every[every["outcome"] == outcome] for name, outcome in names.items()}


def _intervals(its: pd.DataFrame) -> Part:
    """The 95 % intervals over prompts, as lines; a single prompt has none."""
    above, below = its["high"] - its["speedup"], its["speedup"] - its["low"]
    lines: Part = {"type": "data", "symmetric": False, "array": _or_none(above), "arrayminus": _or_none(below)}
    return {**lines, "color": GREY, "thickness": 1.5, "width": 5}


def _bar_label(name: str, speedup: float, lengths: Sequence[int]) -> str:
    several = ", ".join(map(str, lengths)) if len(lengths) < 4 else f"{lengths[0]} to {lengths[-1]}"
    return f"{ {ABOUT_EVEN: '≈ ', NOT_TOLD: '? '}.get(name, '') }{speedup:.2f}×<br>γ = {several}"


def _prompt_dots(rows: pd.DataFrame) -> Part:
    return {
        "type": "scatter",
        "x": _titles(rows["workload"]),
        "y": rows["speedup"].to_list(),
        "mode": "markers",
        "marker": DOT,
        "name": "a prompt",
        "customdata": [[figure_text(row.preset), _rate(row.acceptance_rate)] for row in each_row(rows)],
        "hovertemplate": "%{customdata[0]}: %{y:.2f}×, %{customdata[1]} accepted<extra></extra>",
    }


def acceptance_figure(fair: pd.DataFrame) -> Figure:
    """Both acceptance rates by workload, at the same draft lengths as the speedups."""
    titles = _titles(fair["workload"])
    bars = [
        _rate_bar("accepted / drafted", titles, fair["acceptance_rate"], hatched=False),
        _rate_bar("per judgement, α", titles, fair["per_judgement_rate"], hatched=True),
    ]
    y = axis("acceptance", range=[0, 1], tickformat=".0%")
    return figure(bars, HEIGHT, x=axis(categoryorder="array", categoryarray=titles), y=y, margin=MARGIN)


def length_figure(every: pd.DataFrame) -> Figure:
    """Speedup against draft length, a line for each workload, with a ring around each point that may be its best."""
    best = best_points(every)
    may_be = every[every["may_be_best"]]
    by_workload = dict(list(every.sort_values("draft_length").groupby("workload")))
    lines = [_length_line(place, name, by_workload[name]) for place, name in enumerate(best["workload"])]
    rings: Part = {
        "type": "scatter",
        "x": may_be["draft_length"].to_list(),
        "y": may_be["speedup"].to_list(),
        "mode": "markers",
        "marker": {**RING, "size": 19},
        "name": "best, or not told apart from it",
        "hoverinfo": "skip",
    }
    x = axis("draft length γ", tickvals=_lengths(every))
    return figure([*lines, rings], TALLER, x=x, y=SPEEDUP, margin=MARGIN, **BREAK_EVEN)


def _length_line(place: int, workload: str, its: pd.DataFrame) -> Part:
    color, title = COLORS[place % len(COLORS)], _title(workload)
    return {
        "type": "scatter",
        "x": its["draft_length"].to_list(),
        "y": its["speedup"].to_list(),
        "mode": "lines+markers",
        "line": {"color": color, "width": 2, "dash": DASHES[place // len(COLORS) % len(DASHES)]},
        "marker": {"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 9, "color": color},
        "name": title,
        "hovertemplate": f"{title}, γ %{{x}}: %{{y:.2f}}×<extra></extra>",
    }


def grid_figure(every: pd.DataFrame) -> Figure:
    """The map, workload by draft length: a mark for each point with its speedup; full, round or hollow."""
    grid = every.pivot(index="workload", columns="draft_length", values="speedup")
    slowest_first = grid.max(axis="columns").sort_values(kind="stable").index
    marks = [_grid_marks(name, its) for name, its in _by_outcome(every).items()]
    categories: Part = {"type": "category", "categoryorder": "array", "showgrid": False}
    x = axis("draft length γ", categoryarray=[str(length) for length in grid.columns], **categories)
    y = axis(categoryarray=_titles(slowest_first), **categories)
    return figure(marks, 110 + 42 * len(grid), x=x, y=y, margin=MARGIN, legend={"itemsizing": "constant"})


GRID_MARKS = {
    FASTER: (BLUE, "square"),
    ABOUT_EVEN: (GREY, "circle-open"),
    NOT_TOLD: (GREY, "diamond-open"),
    SLOWER: (ORANGE, "square-open"),
}


def _grid_marks(name: str, its: pd.DataFrame) -> Part:
    color, symbol = GRID_MARKS[name]
    return {
        "type": "scatter",
        "x": its["draft_length"].astype("str").to_list(),
        "y": _titles(its["workload"]),
        "mode": "markers+text",
        "text": [f"{speedup:.1f}×" for speedup in its["speedup"]],
        "textfont": {"color": "#ffffff"} if symbol == "square" else {},
        "marker": {"symbol": symbol, "size": 36, "color": color, "line": {"width": 2, "color": color}},
        "name": name,
        "customdata": [[point.speedup, _rate(point.acceptance_rate), point.runs] for point in each_row(its)],
        "hovertemplate": "%{y}, γ %{x}: %{customdata[0]:.2f}×, %{customdata[1]} accepted, "
        "%{customdata[2]} runs<extra></extra>",
    }


def break_even_figure(every: pd.DataFrame, costs: Costs) -> Figure:
    """α by draft length: the break-even line that the theory draws from these rows' costs, and the measured points."""
    lengths = _lengths(every)
    line: Part = {
        "type": "scatter",
        "x": lengths,
        "y": [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)],
        "mode": "lines",
        "line": {"color": GREY, "width": 3, "dash": "dash"},
        "name": "break-even, modelled",
        "hovertemplate": "γ %{x}: breaks even at α = %{y:.2f}, modelled<extra></extra>",
    }
    judged = every.dropna(subset="per_judgement_rate")
    faster = judged["speedup"] >= 1
    measured = [
        _measured_rates("measured faster", judged[faster], BLUE, "square", "per_judgement_rate", "α %{y:.2f}"),
        _measured_rates("measured slower", judged[~faster], ORANGE, "x", "per_judgement_rate", "α %{y:.2f}"),
    ]
    y = axis("α per judgement", range=[0, 1.03], tickformat=".1f")
    return figure([line, *measured], TALLER, x=axis("draft length γ", tickvals=lengths), y=y, margin=MARGIN)


def break_even_tokens_figure(every: pd.DataFrame, costs: Costs) -> Figure:
    """Tokens per target call by draft length, for drafts that often find fewer tokens, and the round's time."""
    pooled = every.groupby("draft_length")[["drafted", "rounds"]].sum().reset_index()
    line: Part = {
        "type": "scatter",
        "x": pooled["draft_length"].to_list(),
        "y": round_steps(pooled, costs).to_list(),
        "mode": "lines",
        "line": {"color": GREY, "width": 3, "dash": "dash"},
        "name": "break-even, modelled",
        "hovertemplate": "γ %{x}: breaks even at %{y:.2f} tokens per target call, modelled<extra></extra>",
    }
    faster = every["speedup"] >= 1
    column, said = "tokens_per_target_call", "%{y:.2f} tokens per target call"
    measured = [
        _measured_rates("measured faster", every[faster], BLUE, "square", column, said),
        _measured_rates("measured slower", every[~faster], ORANGE, "x", column, said),
    ]
    x, y = axis("draft length γ, at most", tickvals=_lengths(every)), axis("tokens per target call", rangemode="tozero")
    return figure([line, *measured], TALLER, x=x, y=y, margin=MARGIN)


def _measured_rates(name: str, its: pd.DataFrame, color: str, symbol: str, column: str, said: str) -> Part:
    return {
        "type": "scatter",
        "x": its["draft_length"].to_list(),
        "y": its[column].to_list(),
        "mode": "markers",
        "marker": {"symbol": symbol, "size": 10, "color": color, "line": {"width": 1, "color": "#ffffff"}},
        "name": name,
        "customdata": [[_title(point.workload), point.speedup] for point in each_row(its)],
        "hovertemplate": f"%{{customdata[0]}}, γ %{{x}}: {said}, %{{customdata[1]:.2f}}× measured<extra></extra>",
    }


def grammar_figure(pairs: pd.DataFrame) -> Figure:
    """Acceptance of each prompt without and with its grammar, side by side."""
    names = [figure_text(prompt) for prompt in pairs["prompt"]]
    bars = [
        _rate_bar("without the grammar", names, pairs["acceptance_rate_without"], hatched=True),
        _rate_bar("with the grammar", names, pairs["acceptance_rate_with"], hatched=False),
    ]
    y = axis("accepted / drafted", range=[0, 1], tickformat=".0%")
    return figure(bars, HEIGHT, x=axis(), y=y, margin=MARGIN)


def adaptive_figure(found: pd.DataFrame) -> Figure:
    """Speedup of fixed draft lengths, chosen on other prompts, beside the schedules that choose it themselves."""
    looks: list[tuple[str, str, str, Part]] = [
        ("fixed γ, chosen on other prompts", "speedup", "lengths", {"color": BLUE}),
        (ADAPTIVE["heuristic"], "heuristic", "heuristic_length", {"color": ORANGE, "pattern": HATCH}),
        (ADAPTIVE["confidence"], "confidence", "confidence_length", HOLLOW),
    ]
    bars: list[Part] = [
        {
            "type": "bar",
            "x": _titles(found["workload"]),
            "y": _or_none(found[speedup]),
            "customdata": [_length_text(value) for value in found[length]],
            "marker": marker,
            "name": name,
            "hovertemplate": f"%{{x}}, {name} (γ %{{customdata}}): %{{y:.2f}}×<extra></extra>",
        }
        for name, speedup, length, marker in looks
        if found[speedup].notna().any()
    ]
    return figure(bars, HEIGHT, x=axis(), y=SPEEDUP, margin=MARGIN, **BREAK_EVEN)


def _length_text(value: Any) -> str:
    """One draft length, or the several that were chosen for the prompts of a workload."""
    return ", ".join(map(str, value)) if isinstance(value, tuple) else "–" if pd.isna(value) else f"{value:.0f}"


def _rate_bar(name: str, x: Sequence[str], rates: "pd.Series[float]", *, hatched: bool) -> Part:
    return {
        "type": "bar",
        "x": list(x),
        "y": _or_none(rates),
        "marker": HATCHED if hatched else {"color": BLUE, "opacity": 0.85},
        "name": name,
        "hovertemplate": f"%{{x}}, {name}: %{{y:.0%}}<extra></extra>",
    }


def _or_none(values: "pd.Series[float]") -> list[float | None]:
    """A figure has no bar for None."""
    return [None if pd.isna(value) else float(value) for value in values]


def _rate(rate: float) -> str:
    return "nothing drafted, none" if pd.isna(rate) else percent(rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _titles(workloads: Iterable[str]) -> list[str]:
    return [_title(workload) for workload in workloads]


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))
