"""The figures of "When it helps". Pure functions: frames of points in, a figure out; never colour alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from specviz.core.judge import EVEN, HELPS, HURTS, LOOKS, UNTOLD, VerdictWord
from specviz.core.metrics import Costs
from specviz.measure.sweep.sentences import percent, workload_title
from specviz.measure.sweep.study import ADAPTIVE, best_points, break_even_line, round_steps
from specviz.measure.sweep.table import iterate_rows
from specviz.ui.shared import figures as plot
from specviz.ui.shared.escaping import figure_text

OVERLAID = {**plot.HATCH, "fillmode": "overlay", "fgcolor": "#e8833a"}  # lighter than the bar: dark text stays readable
HOLLOW: plot.FigurePart = {"color": "rgba(0,0,0,0)", "line": {"color": plot.GREY, "width": 2}}
LEGEND: dict[VerdictWord, str] = {
    HELPS: "helps: faster than the target alone",
    EVEN: f"≈ {EVEN}, within 5 %",
    UNTOLD: f"? {UNTOLD}",
    HURTS: "hurts: slower",
}
BARS: dict[VerdictWord, plot.FigurePart] = {
    HELPS: {"color": LOOKS[HELPS].fill, "opacity": 0.85},
    EVEN: {"color": LOOKS[EVEN].fill},
    UNTOLD: HOLLOW,
    HURTS: {"color": LOOKS[HURTS].fill, "pattern": OVERLAID},
}
TEXT_ON = {HELPS: "#ffffff", EVEN: "#ffffff", UNTOLD: plot.GREY, HURTS: "#1b1f24"}  # readable on both grounds
HEIGHT, TALLER = 330, 380
TOKENS = "tokens per target call"
ROW, MARK = 42, 32  # px: of the map's rows and of the marks in them, which must not touch on a phone either
WIDER = {"diamond-open": 1.3}  # how much wider than its size Plotly draws a symbol
BREAK_EVEN = plot.level(1, "1×", beside=True)
SPEEDUP = plot.axis("speedup", ticksuffix="×", rangemode="tozero")


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
    data = [[figure_text(row.preset), _rate(row.acceptance_rate)] for row in iterate_rows(rows)]
    said, speedups = "%{customdata[0]}: %{y:.2f}×, %{customdata[1]} accepted<extra></extra>", rows["speedup"].to_list()
    dot = plot.marker("circle", 8, "#ffffff", edge="#1b1f24", width=1.5)
    dots: plot.FigurePart = {"mode": "markers", "marker": dot, "customdata": data}
    found.append(plot.scatter("a prompt", _titles(rows["workload"]), speedups, said, **dots))
    x = plot.axis(categoryorder="array", categoryarray=_titles(fair["workload"]))
    legible = {"mode": "hide", "minsize": 12}  # on a phone the bars are too narrow for words
    return plot.figure(found, HEIGHT, x=x, y=SPEEDUP, uniformtext=legible, **BREAK_EVEN)


def _bar_label(word: VerdictWord, speedup: float, lengths: Sequence[int]) -> str:
    several = ", ".join(map(str, lengths)) if len(lengths) < 4 else f"{lengths[0]} to {lengths[-1]}"
    return f"{LOOKS[word].mark}{speedup:.2f}×<br>γ = {several}"


def _group_outcomes(every: pd.DataFrame) -> dict[VerdictWord, pd.DataFrame]:
    return {word: every[every["outcome"] == word] for word in LEGEND}


def acceptance_figure(fair: pd.DataFrame) -> plot.Figure:
    titles = _titles(fair["workload"])
    rates = {"accepted / drafted": fair["acceptance_rate"], "per judgement, α": fair["per_judgement_rate"]}
    x = plot.axis(categoryorder="array", categoryarray=titles)
    return _rates_figure("acceptance", titles, rates, hatched="per judgement, α", x=x)


def length_figure(every: pd.DataFrame) -> plot.Figure:
    may_be = every[every["may_be_best"]]
    by_workload = dict(list(every.sort_values("draft_length").groupby("workload")))
    lines: list[plot.FigurePart] = []
    for place, (workload, title) in enumerate((name, _title(name)) for name in best_points(every)["workload"]):
        x, y = (by_workload[workload][column].to_list() for column in ("draft_length", "speedup"))
        dash = plot.DASHES[place // len(plot.COLORS) % len(plot.DASHES)]
        said = f"{title}, γ %{{x}}: %{{y:.2f}}×<extra></extra>"
        lines.append(plot.scatter(title, x, y, said, **plot.look(place, 9, dash=dash)))
    name, ring = "best, or too close to it to call", plot.marker("circle-open", 19, plot.GREY)
    at, speedups = may_be["draft_length"].to_list(), may_be["speedup"].to_list()
    rings = plot.scatter(name, at, speedups, mode="markers", marker=ring, hoverinfo="skip")
    lengths = plot.axis("draft length γ", tickvals=_lengths(every))
    return plot.figure([*lines, rings], TALLER, x=lengths, y=SPEEDUP, **BREAK_EVEN)


def grid_figure(every: pd.DataFrame) -> plot.Figure:
    grid = every.pivot(index="workload", columns="draft_length", values="speedup")
    slowest_first = grid.max(axis="columns").sort_values(kind="stable").index
    marks = [_grid_marks(word, its) for word, its in _group_outcomes(every).items()]
    categories: plot.FigurePart = {"type": "category", "categoryorder": "array", "showgrid": False}
    x = plot.axis("draft length γ", categoryarray=[str(length) for length in grid.columns], **categories)
    y = plot.axis(categoryarray=_titles(slowest_first), **categories)
    return plot.figure(marks, 130 + ROW * len(grid), x=x, y=y, legend={"itemsizing": "constant"})


def _grid_marks(word: VerdictWord, its: pd.DataFrame) -> plot.FigurePart:
    mark = LOOKS[word]
    return plot.scatter(
        LEGEND[word],
        its["draft_length"].astype("str").to_list(),
        _titles(its["workload"]),
        "%{y}, γ %{x}: %{customdata[0]:.2f}×, %{customdata[1]} accepted, %{customdata[2]} runs<extra></extra>",
        mode="markers+text",
        text=[f"{speedup:.1f}×" for speedup in its["speedup"]],
        textfont={"color": "#ffffff"} if mark.shape == "square" else {},
        marker=plot.marker(mark.shape, MARK / WIDER.get(mark.shape, 1), mark.fill),
        customdata=[[point.speedup, _rate(point.acceptance_rate), point.runs] for point in iterate_rows(its)],
    )


def break_even_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    lengths = _lengths(every)
    alphas = [1.0 if alpha is None else alpha for alpha in break_even_line(costs, lengths)]
    line = _break_even_line(lengths, alphas, "γ %{x}: breaks even at α = %{y:.2f}, modelled<extra></extra>")
    judged = every.dropna(subset="per_judgement_rate")
    measured = _measured_rates(judged, "per_judgement_rate", "α %{y:.2f}")
    y = plot.axis("α per judgement", range=[0, 1.03], tickformat=".1f")
    return plot.figure([line, *measured], TALLER, x=plot.axis("draft length γ", tickvals=lengths), y=y)


def break_even_tokens_figure(every: pd.DataFrame, costs: Costs) -> plot.Figure:
    """Tokens per target call by draft length, for drafts that often find fewer tokens, and the round's time."""
    pooled = every.groupby("draft_length")[["drafted", "rounds"]].sum().reset_index()
    tokens, said = round_steps(pooled, costs).to_list(), "%{y:.2f} tokens per target call"
    hover = f"γ %{{x}}: breaks even at {said}, modelled<extra></extra>"
    line = _break_even_line(pooled["draft_length"].to_list(), tokens, hover)
    measured = _measured_rates(every, "tokens_per_target_call", said)
    x, y = plot.axis("draft length γ, at most", tickvals=_lengths(every)), plot.axis(TOKENS, rangemode="tozero")
    return plot.figure([line, *measured], TALLER, x=x, y=y)


def _break_even_line(lengths: Sequence[int], values: Sequence[float], hover: str) -> plot.FigurePart:
    line = {"color": plot.GREY, "width": 3, "dash": "dash"}
    return plot.scatter("break-even, modelled", lengths, values, hover, mode="lines", line=line)


def _measured_rates(every: pd.DataFrame, column: str, said: str) -> list[plot.FigurePart]:
    faster, parts = every["speedup"] >= 1, []
    hover = f"%{{customdata[0]}}, γ %{{x}}: {said}, %{{customdata[1]:.2f}}× measured<extra></extra>"
    for name, its, color, symbol in (
        ("measured faster", every[faster], plot.BLUE, "square"),
        ("measured slower", every[~faster], plot.ORANGE, "x"),
    ):
        marker = plot.marker(symbol, 10, color, edge="#ffffff", width=1)
        points = [[_title(point.workload), point.speedup] for point in iterate_rows(its)]
        x, y = its["draft_length"].to_list(), its[column].to_list()
        parts.append(plot.scatter(name, x, y, hover, mode="markers", marker=marker, customdata=points))
    return parts


def grammar_figure(pairs: pd.DataFrame) -> plot.Figure:
    names = [figure_text(prompt) for prompt in pairs["prompt"]]
    ways = {f"{way} the grammar": pairs[f"acceptance_rate_{way}"] for way in ("without", "with")}
    return _rates_figure("accepted / drafted", names, ways, hatched="without the grammar", x=plot.axis())


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
        ("fixed γ, chosen on other prompts", "speedup", "lengths", {"color": plot.BLUE}),
        (ADAPTIVE["heuristic"], "heuristic", "heuristic_length", {"color": plot.ORANGE, "pattern": plot.HATCH}),
        (ADAPTIVE["confidence"], "confidence", "confidence_length", HOLLOW),
    ]
    shown: list[plot.FigurePart] = []
    for name, speedup, length, marker in looks:
        if found[speedup].notna().any():
            said = f"%{{x}}, {name} (γ %{{customdata}}): %{{y:.2f}}×<extra></extra>"
            more: plot.FigurePart = {"customdata": [written(value) for value in found[length]], "marker": marker}
            shown.append(plot.bars(name, _titles(found["workload"]), _or_none(found[speedup]), said, **more))
    return plot.figure(shown, HEIGHT, x=plot.axis(), y=SPEEDUP, **BREAK_EVEN)


def _or_none(values: "pd.Series[float]") -> list[float | None]:
    return [None if pd.isna(value) else float(value) for value in values]


def _rate(rate: float) -> str:
    return "nothing drafted, none" if pd.isna(rate) else percent(rate)


def _lengths(every: pd.DataFrame) -> list[int]:
    return sorted(int(length) for length in every["draft_length"].unique())


def _titles(workloads: Iterable[str]) -> list[str]:
    return [_title(workload) for workload in workloads]


def _title(workload: str) -> str:
    return figure_text(workload_title(workload))
