"""By method: all drafting methods on the same prompts, as they were measured for everyone."""

import math
from collections.abc import Sequence

import streamlit as st

from specviz.core.intervals import student_t
from specviz.core.judge import HELPS
from specviz.core.numbers import localize
from specviz.core.texts import join_choices, spell_count
from specviz.data.measured.measured_methods import ALL, MeasuredMethods, TemperatureFigures, stored_methods
from specviz.data.measured.measured_methods import MeasuredMethod as Method
from specviz.data.texts import page_texts
from specviz.figures import parts as plot
from specviz.figures.speedups import SpeedupRow, speedup_figure
from specviz.measure.sweep.study import rivals_t
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import COLUMNS, choice, data_table, note, numbers, texts, two_charts

SAYS = page_texts("when_it_helps")
HEIGHT = 400


def costs_figure(methods: Sequence[Method], kind: str) -> plot.Figure:
    parts: list[plot.FigurePart] = []
    for number, method in enumerate(methods, start=1):
        costs, name = method.kinds[kind].best.costs, f"{number} {plot.figure_text(method.title)}"
        if costs.draft_step is not None:
            marker = plot.look(number - 1, 13, open="-open" * (number > len(plot.COLORS)))["marker"]
            more: plot.FigurePart = {"mode": "markers", "marker": marker, "customdata": [name]}
            at = [costs.draft_step], [costs.tokens_per_target_call]
            parts.append(plot.scatter(name, *at, SAYS["hover_method"], **more))
    x_axis, y_axis = plot.axis(SAYS["axis_cost"]), plot.axis(COLUMNS["tokens per target call"])
    return plot.figure(parts, HEIGHT, x=x_axis, y=y_axis, showlegend=True)


def speedups_figure(methods: Sequence[Method], kind: str) -> plot.Figure:
    ranked = sorted(enumerate(methods, start=1), key=lambda each: -each[1].kinds[kind].best.speedup)
    rows = [
        SpeedupRow(f"{number} {name}", best.judged, f"{gap}{manner}")
        for number, method in ranked
        for best, (name, gap, manner) in [(method.kinds[kind].best, method.title.partition(" ("))]
    ]
    return speedup_figure(rows, axis=SAYS["axis_measured"])


KINDS = page_texts("method_kinds")


def show_by_method() -> None:
    measured = stored_methods()
    if measured is None:
        st.info(SAYS["no_methods"])
        return
    st.caption(where(measured))
    parts = {localize(part.temperature, "g"): part for part in measured.temperatures}
    with st.container(horizontal=True, vertical_alignment="bottom", key="methods_choice"):
        part = parts[choice(SAYS["temperature"], {name: name for name in parts}, "methods_temperature")]
        kinds = {kind: str(KINDS.get(kind, kind)) for kind in part.kinds()}
        kind = choice(SAYS["kind_of_text"], kinds, "methods_kind", ALL, wrap=True)
    st.markdown(f"**{plain(reading(part, kind))}**")
    two_charts(
        (costs_figure(part.methods, kind), "methods_costs", SAYS["costs"]),
        (speedups_figure(part.methods, kind), "methods_speedups", SAYS["speedups"]),
    )
    rows = [
        {
            "no.": number,
            "method": method.title,
            "speedup": best.judged.shown,
            "tokens per target call": best.costs.tokens_per_target_call,
            "guesses a round": best.costs.guesses,
            "c, a draft step": best.costs.draft_step,
            "the draft": best.costs.draft,
            "the check": best.costs.verify,
            "the rest": best.costs.overhead,
            "settings": best.labels,
        }
        for number, method in enumerate(part.methods, start=1)
        for best in [method.kinds[kind].best]
    ]
    costs = ("tokens per target call", "guesses a round", "c, a draft step", "the draft", "the check", "the rest")
    data_table(rows, "methods_table", columns=numbers("%.2f", *costs) | texts("speedup") | numbers("%d", "no."))
    note(SAYS["methods"], "methods")


def where(measured: MeasuredMethods) -> str:
    figures = {"prompts": measured.prompts, "tokens": measured.tokens, "repeats": measured.repeats}
    names = (measured.machine.machine, measured.created, measured.target, measured.target_dtype)
    named = dict(zip(("machine", "day", "target", "dtype"), map(plain, names), strict=True))
    recorded = SAYS["methods_recorded"].format(**named, **figures)
    return " ".join([":material/history:", recorded, SAYS["read_before"]])


def reading(part: TemperatureFigures, kind: str) -> str:
    ranked = sorted(part.methods, key=lambda method: -method.kinds[kind].best.speedup)
    best = ranked[0].kinds[kind].best
    said = [SAYS["highest"].format(method=ranked[0].title, speedup=best.judged.shown)]
    if near := [method.title for method in ranked if method in rivals(part.methods, kind)]:
        said.append(SAYS["too_close"].format(names=join_choices(near, "and")))
    helping = sum(method.kinds[kind].best.judged.word == HELPS for method in ranked)
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
