"""In batches: what a draft brings when a server decodes several texts at once. A recorded study; needs no sweep."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.judge import LOOKS
from specviz.data.measured.batches import BatchPass, BatchStudy, Ratio, recorded_batches
from specviz.data.texts import page_texts
from specviz.measure.batch_sentences import compared, describe_place, outcome, reading, times
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import GREY, Figure, FigurePart, axis, figure, interval, level, look, scatter, two_charts
from specviz.ui.shared.parts import PERCENT, TIMES, data_table, note, notices, numbers

SAYS = page_texts("when_it_helps")
HEIGHT = 340


def batch_figure(study: BatchStudy) -> Figure:
    lines: list[FigurePart] = []
    for number, length in enumerate(study.draft_lengths):
        points = [study.at(size, length) for size in study.batches]
        until_end, full = [each.speedup for each in points], [each.full_speedup for each in points]
        lines.append(_line(study.batches, until_end, f"γ = {length}", **look(number, 8)))
        thin = {**look(number, 7, width=1, open="-open"), "showlegend": False}  # the caption says what thin lines are
        lines.append(_line(study.batches, full, SAYS["while_all_write"].format(length=length), **thin))
    x = axis(SAYS["axis_batch"], type="category")
    y = axis(SAYS["axis_speedup"], ticksuffix="×", rangemode="tozero")
    return figure(lines, HEIGHT, x=x, y=y, showlegend=True, **level(1, "1×", beside=True))


def check_figure(passes: Sequence[BatchPass]) -> Figure:
    tokens = sorted({check.tokens for each in passes for check in each.checks})
    one_by_one: FigurePart = {"mode": "lines", "line": {"color": GREY, "dash": "dot"}, "hoverinfo": "skip"}
    lines = [scatter(SAYS["one_by_one"], tokens, tokens, **one_by_one)]
    for number, each in enumerate(passes):
        name = SAYS["one_text" if each.batch == 1 else "several_texts"].format(count=each.batch)
        x, steps = [check.tokens for check in each.checks], [check.steps for check in each.checks]
        lines.append(_line(x, steps, name, **look(number, 7)))
    y = axis(SAYS["axis_check"], rangemode="tozero")
    return figure(lines, HEIGHT, x=axis(SAYS["axis_read"], dtick=1), y=y, showlegend=True)


def _line(x: Sequence[int], ratios: Sequence[Ratio], name: str, **how: FigurePart) -> FigurePart:
    values, low, high = ([getattr(each, end) for each in ratios] for end in ("value", "low", "high"))
    error = interval(values, low, high, how["line"]["color"], thickness=1)
    return scatter(name, x, values, f"%{{x}}: %{{y:.2f}}<extra>{name}</extra>", error_y=error, **how)


def _columns() -> dict[str, Any]:
    return {
        **numbers("%d", "texts", "γ"),
        **numbers(TIMES, "modelled"),
        **numbers("%.2f", "c", "v(γ+1)", "o"),
        **numbers(PERCENT, "empty places", explanation=SAYS["waiting_help"]),
        **numbers("%.0f", "tokens / s"),
        **numbers("%.0f", "alone", explanation=SAYS["alone_help"]),
    }


def show_batches() -> None:
    try:
        study = recorded_batches()
    except InputError as error:
        return notices([str(error)], "info")
    st.markdown(f"**{plain(reading(study))}**")
    st.caption(SAYS["batches_place"].format(place=plain(describe_place(study))))
    two_charts((batch_figure(study), "batches-speedup", ""), (check_figure(study.passes), "batches-checks", ""))
    data_table(batch_table(study), "batches_table", columns=_columns())
    note(f"{SAYS['batches']} {compared(study)}", "batches")


def batch_table(study: BatchStudy) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "texts": each.batch,
            "γ": each.draft_length,
            "speedup": times(each.speedup),
            "outcome": LOOKS[outcome(each.speedup)].said,
            "while every text writes": times(each.full_speedup),
            "modelled": each.modelled,
            "c": each.cost_ratio.value,
            "v(γ+1)": each.verification.value,
            "o": each.overhead.value,
            "empty places": 100 * each.empty_places,
            "tokens / s": each.tokens_per_second,
            "alone": each.plain_tokens_per_second,
        }
        for each in study.speedups
    )
