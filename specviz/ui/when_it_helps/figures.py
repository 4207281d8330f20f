"""The figures of "When it helps". Pure functions: frames of points in, a figure out; never colour alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD, VerdictWord
from specviz.core.metrics import Costs
from specviz.core.numbers import localize, times
from specviz.data.texts import page_texts
from specviz.measure.sweep.sentences import workload_title
from specviz.measure.sweep.study import best_points, break_even_line, round_steps
from specviz.measure.sweep.table import iterate_rows
from specviz.ui.shared import figures as plot
from specviz.ui.shared.escaping import figure_text
from specviz.ui.shared.parts import COLUMNS

OVERLAID = {**plot.HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}  # lighter than the bar: dark text stays readable
HOLLOW: plot.FigurePart = {"color": "rgba(0,0,0,0)", "line": {"color": plot.GREY, "width": 2}}
SAYS = page_texts("when_it_helps")
SCHEDULES = page_texts("schedules")
LEGEND = page_texts("outcomes")  # by the judge's words
BARS: dict[VerdictWord, plot.FigurePart] = {
    HELPS: {"color": LOOKS[HELPS].fill, "opacity": 0.85},
    EVEN: {"color": LOOKS[EVEN].fill},
    UNTOLD: HOLLOW,
    HURTS: {"color": LOOKS[HURTS].fill, "pattern": OVERLAID},
}
TEXT_ON = {HELPS: "#ffffff", EVEN: "#ffffff", UNTOLD: plot.GREY, HURTS: "#1b1f24"}  # readable on both grounds
HEIGHT, TALLER = 330, 380
ROW, MARK = 42, 32  # px: of the map's rows and of the marks in them, which must not touch on a phone either
WIDER = {"diamond-open": 1.3}  # how much wider than its size Plotly draws a symbol
BREAK_EVEN = plot.level(1, "1×", beside=True)


def speedup_axis() -> plot.FigurePart:
    return plot.axis(SAYS["axis_speedup"], ticksuffix="×", rangemode="tozero")


def workload_figure(fair: pd.DataFrame, rows: pd.DataFrame) -> plot.Figure:
    found: list[plot.FigurePart] = []
    for word, its in _group_outcomes(fair).items():
        if len(its):
            # the 95 % intervals over prompts, as lines; a single prompt has none
            above, below = (_or_none(values) for values in (its["high"] - its["speedup"], its["speedup"] - its["low"]))
            ends = {**plot.interval([], [], [], plot.GREY, width=5), "array": above, "arrayminus": below}
            bar = plot.bars(
                LEGEND[word],
                _titles(its["workload"]),
                its["speedup"].to_list(),
                "%{x}: %{y:.2f}×<extra></extra>",
                text=[_bar_label(word, point.speedup, point.lengths) for point in iterate_rows(its)],
                textposition="inside",
                insidetextanchor="start",
                textangle=0,
                textfont={"color": TEXT_ON[word]},
                marker=BARS[word],
                error_y=ends,
            )
            found.append(bar)
    data = [[figure_text(row.preset), _accepted(row.acceptance_rate)] for row in iterate_rows(rows)]
    said, speedups = "%{customdata[0]}: %{y:.2f}×, %{customdata[1]}<extra></extra>", rows["speedup"].to_list()
    dot = plot.marker("circle", 8, "#ffffff", edge="#1b1f24", width=1.5)
    dots: plot.FigurePart = {"mode": "markers", "marker": dot, "customdata": data}
    found.append(plot.scatter(SAYS["a_prompt"], _titles(rows["workload"]), speedups, said, **dots))
    x = plot.axis(categoryorder="array", categoryarray=_titles(fair["workload"]))
    legible = {"mode": "hide", "minsize": 12}  # on a phone the bars are too narrow for words
    return plot.figure(found, HEIGHT, x=x, y=speedup_axis(), uniformtext=legible, **BREAK_EVEN)


def _bar_label(word: VerdictWord, speedup: float, lengths: Sequence[int]) -> str:
    several = ", ".join(map(str, lengths)) if len(lengths) < 4 else describe_range(lengths)
    return f"{LOOKS[word].mark}{times(speedup)}<br>γ = {several}"


def describe_range(lengths: Sequence[int]) -> str:
    return SAYS["length_range"].format(first=lengths[0], last=lengths[-1])


def _group_outcomes(every: pd.DataFrame) -> dict[VerdictWord, pd.DataFrame]:
    return {word: every[every["outcome"] == word] for word in BARS}


def acceptance_figure(fair: pd.DataFrame) -> plot.Figure:
    titles = _titles(fair["workload"])
    judged = SAYS["per_judgement"]
    rates = {SAYS["of_drafted"]: fair["acceptance_rate"], judged: fair["per_judgement_rate"]}
    x = plot.axis(categoryorder="array", categoryarray=titles)
    return _rates_figure(SAYS["axis_acceptance"], titles, rates, hatched=judged, x=x)


def length_figure(every: pd.DataFrame) -> plot.Figure:
    may_be = every[every["may_be_best"]]
    by_workload = dict(list(every.sort_values("draft_length").groupby("workload")))
    lines: list[plot.FigurePart] = []
    for place, (workload, title) in enumerate((name, _title(name)) for name in best_points(every)["workload"]):
        x, y = (by_workload[workload][column].to_list() for column in ("draft_length", "speedup"))
        dash = plot.DASHES[place // len(plot.COLORS) % len(plot.DASHES)]
        said = f"{title}, γ %{{x}}: %{{y:.2f}}×<extra></extra>"
        lines.append(plot.scatter(title, x, y, said, **plot.look(place, 9, dash=dash)))
    name, ring = SAYS["may_be_best"], plot.marker("circle-open", 19, plot.GREY)
    at, speedups = may_be["draft_length"].to_list(), may_be["speedup"].to_list()
    rings = plot.scatter(name, at, speedups, mode="markers", marker=ring, hoverinfo="skip")
    lengths = plot.axis(SAYS["axis_length"], tickvals=_lengths(every))
    return plot.figure([*lines, rings], TALLER, x=lengths, y=speedup_axis(), **BREAK_EVEN)


def grid_figure(every: pd.DataFrame) -> plot.Figure:
    grid = every.pivot(index="workload", columns="draft_length", values="speedup")
    slowest_first = grid.max(axis="columns").sort_values(kind="stable").index
    marks = [_grid_marks(word, its) for word, its in _group_outcomes(every).items()]
    categories: plot.FigurePart = {"type": "category", "categoryorder": "array", "showgrid": False}
    x = plot.axis(SAYS["axis_length"], categoryarray=[str(length) for length in grid.columns], **categories)
    y = plot.axis(categoryarray=_titles(slowest_first), **categories)
    return plot.figure(marks, 130 + ROW * len(grid), x=x, y=y, legend={"itemsizing": "constant"})


def _grid_marks(word: VerdictWord, its: pd.DataFrame) -> plot.FigurePart:
    mark = LOOKS[word]
    return plot.scatter(
        LEGEND[word],
        its["draft_length"].astype("str").to_list(),
        _titles(its["workload"]),
        SAYS["hover_cell"],
        mode="markers+text",
        text=[f"{localize(speedup, '.1f')}×" for speedup in its["speedup"]],
        textfont={"color": "#ffffff"} if mark.shape == "square" else {},
        marker=plot.marker(mark.shape, MARK / WIDER.get(mark.shape, 1), mark.fill),
        customdata=[[point.speedup, _accepted(point.acceptance_rate), point.runs] for point in iterate_rows(its)],
    )


def break_even_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    lengths = _lengths(every)
    alphas = [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)]
    line = _break_even_line(lengths, alphas, SAYS["hover_rate_needed"])
    judged = every.dropna(subset="per_judgement_rate")
    measured = _measured_rates(judged, "per_judgement_rate", SAYS["hover_rate"])
    y = plot.axis(SAYS["axis_alpha"], range=[0, 1.03], tickformat=".1f")
    return plot.figure([line, *measured], TALLER, x=plot.axis(SAYS["axis_length"], tickvals=lengths), y=y)


def break_even_tokens_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    """Tokens per target call by draft length, for drafts that often find fewer tokens, and the round's time."""
    pooled = every.groupby("draft_length")[["drafted", "rounds"]].sum().reset_index()
    tokens = round_steps(pooled, costs).to_list()
    line = _break_even_line(pooled["draft_length"].to_list(), tokens, SAYS["hover_tokens_needed"])
    measured = _measured_rates(every, "tokens_per_target_call", SAYS["hover_tokens"])
    x = plot.axis(SAYS["axis_most_length"], tickvals=_lengths(every))
    y = plot.axis(COLUMNS["tokens per target call"], rangemode="tozero")
    return plot.figure([line, *measured], TALLER, x=x, y=y)


def _break_even_line(lengths: Sequence[int], values: Sequence[float], hover: str) -> plot.FigurePart:
    line = {"color": plot.GREY, "width": 3, "dash": "dash"}
    return plot.scatter(SAYS["break_even"], lengths, values, hover, mode="lines", line=line)


def _measured_rates(every: pd.DataFrame, column: str, hover: str) -> list[plot.FigurePart]:
    faster, parts = every["speedup"] >= 1, []
    for name, its, color, symbol in (
        (SAYS["measured_faster"], every[faster], plot.BLUE, "square"),
        (SAYS["measured_slower"], every[~faster], plot.ORANGE, "x"),
    ):
        marker = plot.marker(symbol, 10, color, edge="#ffffff", width=1)
        points = [[_title(point.workload), point.speedup] for point in iterate_rows(its)]
        x, y = its["draft_length"].to_list(), its[column].to_list()
        parts.append(plot.scatter(name, x, y, hover, mode="markers", marker=marker, customdata=points))
    return parts


def grammar_figure(pairs: pd.DataFrame) -> plot.Figure:
    names = [figure_text(prompt) for prompt in pairs["prompt"]]
    ways = {SAYS[f"grammar_{way}"]: pairs[f"acceptance_rate_{way}"] for way in ("without", "with")}
    return _rates_figure(SAYS["of_drafted"], names, ways, hatched=SAYS["grammar_without"], x=plot.axis())


def _rates_figure(
    title: str, names: Sequence[str], rates: Mapping[str, "pd.Series[float]"], *, hatched: str, x: plot.FigurePart
) -> plot.Figure:
    """Bars of several rates beside each other; `hatched` is one of them."""
    both: list[plot.FigurePart] = []
    for name, values in rates.items():
        marker = plot.HATCHED if name == hatched else {"color": plot.BLUE, "opacity": 0.85}
        said = f"%{{x}}, {name}: %{{y:.0%}}<extra></extra>"
        both.append(plot.bars(name, names, _or_none(values), said, marker=marker))
    return plot.figure(both, HEIGHT, x=x, y=plot.axis(title, range=[0, 1], tickformat=".0%"))


def adaptive_figure(found: pd.DataFrame) -> plot.Figure:
    def written(value: Any) -> str:
        return ", ".join(map(str, value)) if isinstance(value, tuple) else "–" if pd.isna(value) else f"{value:.0f}"

    looks: list[tuple[str, str, str, plot.FigurePart]] = [
        (SAYS["fixed_on_others"], "speedup", "lengths", {"color": plot.BLUE}),
        (SCHEDULES["heuristic"], "heuristic", "heuristic_length", {"color": plot.ORANGE, "pattern": plot.HATCH}),
        (SCHEDULES["confidence"], "confidence", "confidence_length", HOLLOW),
    ]
    shown: list[plot.FigurePart] = []
    for name, speedup, length, marker in looks:
        if found[speedup].notna().any():
            said = f"%{{x}}, {name} (γ %{{customdata}}): %{{y:.2f}}×<extra></extra>"
            more: plot.FigurePart = {"customdata": [written(value) for value in found[length]], "marker": marker}
            shown.append(plot.bars(name, _titles(found["workload"]), _or_none(found[speedup]), said, **more))
    return plot.figure(shown, HEIGHT, x=plot.axis(), y=speedup_axis(), **BREAK_EVEN)


def _or_none(values: "pd.Series[float]") -> list[float | None]:
    return [None if pd.isna(value) else float(value) for value in values]


def _accepted(rate: float) -> str:
    return SAYS["none_accepted"] if pd.isna(rate) else SAYS["share_accepted"].format(rate=rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _titles(workloads: Iterable[str]) -> list[str]:
    return [_title(workload) for workload in workloads]


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))
