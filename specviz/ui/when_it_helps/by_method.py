"""By method: all drafting methods on the same prompts, as they were measured for everyone."""

import math
from collections.abc import Iterator, Sequence

import streamlit as st

from specviz.core.drafters import METHODS
from specviz.core.intervals import student_t
from specviz.core.judge import HELPS
from specviz.core.numbers import localize
from specviz.core.texts import join_choices, spell_count
from specviz.data.measured.measured_methods import (
    ALL,
    MeasuredMethods,
    TemperatureFigures,
    stored_methods,
)
from specviz.data.measured.measured_methods import MeasuredMethod as Method
from specviz.data.texts import page_texts
from specviz.measure.sweep.study import rivals_t
from specviz.ui.shared import figures as plot
from specviz.ui.shared.escaping import figure_text, plain
from specviz.ui.shared.parts import COLUMNS, TIMES, Options, data_table, note, numbers
from specviz.ui.when_it_helps.figures import BARS, LEGEND

SAYS = page_texts("when_it_helps")
HEIGHT = 400
ROW, AROUND = 36, 120  # px of a bar, and of what is around the bars


def _groups() -> Iterator[tuple[str, set[str], str, str]]:
    """Each group's name, the families in it, its colour and its symbol."""
    for group in dict.fromkeys(method.group for method in METHODS if method.group):
        its = [method for method in METHODS if method.group == group]
        title = (its[0].here.group or group).title
        yield f"{title[0].lower()}{title[1:]}", {each.family for each in its}, group.colour, group.symbol
    yield SAYS["group_trees"], {"tree"}, "#a3478a", "hexagon"
    yield SAYS["group_others"], {"argmax", "block"}, "#5f6b7a", "octagon"


def costs_figure(methods: Sequence[Method], kind: str) -> plot.Figure:
    numbers = {method.name: number for number, method in enumerate(methods, start=1)}
    parts: list[plot.FigurePart] = []
    for group, families, color, symbol in _groups():
        its = [method for method in methods if method.family in families]
        found = [(method, method.kinds[kind].best.costs) for method in its]
        drawn = [(method, costs) for method, costs in found if costs.draft_step is not None]
        if drawn:
            points = plot.scatter(
                group,
                [costs.draft_step for _, costs in drawn],
                [costs.tokens_per_target_call for _, costs in drawn],
                SAYS["hover_method"],
                mode="markers+text",
                marker=plot.marker(symbol, 21, color, edge="#ffffff", width=1),
                text=[str(numbers[method.name]) for method, _ in drawn],
                textfont={"color": "#ffffff", "size": 11},
                customdata=[figure_text(method.title) for method, _ in drawn],
            )
            parts.append(points)
    costs = [step for part in parts for step in part["x"]]
    tokens = [each for part in parts for each in part["y"]]
    x = plot.axis(SAYS["axis_cost"], range=_around([0, *costs]))  # a mark at 0 is whole
    y = plot.axis(COLUMNS["tokens per target call"], range=_around([1, *tokens]))  # there is never less than one
    return plot.figure(parts, HEIGHT, x=x, y=y, showlegend=True)


def _around(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    room = 0.08 * (high - low or 1)
    return [low - room, high + room]


def speedups_figure(methods: Sequence[Method], kind: str) -> plot.Figure:
    ranked = sorted(methods, key=lambda method: method.kinds[kind].best.speedup)
    numbers = {method.name: number for number, method in enumerate(methods, start=1)}
    # the manner of a method below its drafter, so that bars have room on a phone
    titles = {method.name: figure_text(method.title).replace(" (", "<br>(") for method in ranked}
    labels = {name: f"{numbers[name]} {title}" for name, title in titles.items()}
    said = SAYS["hover_between"]
    its = {labels[method.name]: method.kinds[kind].best for method in ranked}
    parts: list[plot.FigurePart] = []
    for word in BARS:
        found = {label: best for label, best in its.items() if best.outcome == word}
        if found:
            speedups, low, high = zip(*((best.speedup, best.low, best.high) for best in found.values()), strict=True)
            ends: plot.FigurePart = {"customdata": list(zip(low, high, strict=True)), "marker": BARS[word]}
            ends["error_x"] = plot.interval(speedups, low, high, plot.GREY)
            parts.append(plot.bars(LEGEND[word], speedups, found, said, orientation="h", **ends))
    y = plot.axis(categoryorder="array", categoryarray=list(labels.values()), showgrid=False)
    x = plot.axis(SAYS["axis_measured"], ticksuffix="×", rangemode="tozero")
    return plot.figure(parts, AROUND + ROW * len(ranked), x=x, y=y, showlegend=True, shapes=[plot.UPRIGHT])


KINDS = page_texts("method_kinds")


def show_by_method() -> None:
    measured = stored_methods()
    if measured is None:
        st.info(SAYS["no_methods"])
        return
    st.caption(where(measured))
    parts = {localize(part.temperature, "g"): part for part in measured.temperatures}
    with st.container(horizontal=True, vertical_alignment="bottom", key="methods_choice"):
        chosen = next(iter(parts))
        if len(parts) > 1:
            options: Options = {"key": "methods_temperature", "required": True}
            chosen = str(st.segmented_control(SAYS["temperature"], list(parts), default=chosen, **options))
        part, labels = parts[chosen], lambda kind: str(KINDS.get(kind, kind))
        always: Options = {"key": "methods_kind", "required": True, "wrap": True}
        kind = str(st.segmented_control(SAYS["kind_of_text"], part.kinds(), default=ALL, format_func=labels, **always))
    st.markdown(f"**{plain(reading(part, kind))}**")
    plot.two_charts(
        (costs_figure(part.methods, kind), "methods_costs", SAYS["costs"]),
        (speedups_figure(part.methods, kind), "methods_speedups", SAYS["speedups"]),
    )
    rows = [_row(number, method, kind) for number, method in enumerate(part.methods, start=1)]
    data_table(rows, "methods_table", columns=FORMATS)
    note(SAYS["methods"], "methods")


FORMATS = {
    **numbers(
        "%.2f", "tokens per target call", "guesses a round", "c, a draft step", "the draft", "the check", "the rest"
    ),
    **numbers(TIMES, "speedup", "low", "high"),
    **numbers("%d", "no."),
}


def _row(number: int, method: Method, kind: str) -> dict[str, object]:
    best, costs = method.kinds[kind].best, method.kinds[kind].best.costs
    return {
        "no.": number,
        "method": method.title,
        "speedup": best.speedup,
        "low": best.low,
        "high": best.high,
        "tokens per target call": costs.tokens_per_target_call,
        "guesses a round": costs.guesses,
        "c, a draft step": costs.draft_step,
        "the draft": costs.draft,
        "the check": costs.verify,
        "the rest": costs.overhead,
        "settings": best.labels,
    }


def where(measured: MeasuredMethods) -> str:
    disturbed = [SAYS["disturbed"].format(times=localize(measured.slowdown, ".1f"))] * measured.disturbed
    figures = {"prompts": measured.prompts, "tokens": measured.tokens, "repeats": measured.repeats}
    names = (measured.machine.machine, measured.created, measured.target, measured.target_dtype)
    named = dict(zip(("machine", "day", "target", "dtype"), map(plain, names), strict=True))
    recorded = SAYS["methods_recorded"].format(**named, **figures)
    return " ".join([":material/history:", recorded, SAYS["read_before"], *disturbed])


def reading(part: TemperatureFigures, kind: str) -> str:
    ranked = sorted(part.methods, key=lambda method: -method.kinds[kind].best.speedup)
    best = ranked[0].kinds[kind].best
    said = [SAYS["highest"].format(method=ranked[0].title, best=best)]
    if near := [method.title for method in ranked if method in rivals(part.methods, kind)]:
        said.append(SAYS["too_close"].format(names=join_choices(near, "and")))
    helping = sum(method.kinds[kind].best.outcome == HELPS for method in ranked)
    counted = spell_count(helping).capitalize()
    said.append(SAYS["methods_help" if helping else "no_method"].format(count=helping, counted=counted))
    return " ".join(said)


def rivals(methods: Sequence[Method], kind: str) -> list[Method]:
    """The methods that these intervals do not tell apart from the highest, which was chosen among all of them.

    Only intervals are stored, not the prompts' ratios: so the two standard errors are added, which is right for any
    correlation, and `rivals_t` is for all methods at once. That tells fewer apart, never more. Half the width of an
    interval is taken in logarithms, up to the end that was rounded less.
    """
    first = max(methods, key=lambda method: method.kinds[kind].best.speedup)

    def behind(method: Method) -> bool:
        freedom = method.kinds[kind].prompts - 1
        best, highest = method.kinds[kind].best, first.kinds[kind].best
        halves = sum(math.log(each.high / each.speedup) for each in (highest, best))
        gap = math.log(highest.speedup / best.speedup)
        return gap > rivals_t(freedom, len(methods)) * halves / student_t(freedom)

    return [method for method in methods if method is not first and not behind(method)]
