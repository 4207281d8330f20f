"""The worksheet's machines and its serving section: published costs beside this machine's, and pasted counters."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.data.page_texts import page_texts
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED, GpuCosts, GpuRound, PublishedRun
from specviz.data.serving_counters import read_counters
from specviz.measure.worksheet import advice
from specviz.measure.worksheet.runs import gap_of
from specviz.measure.worksheet.serving import (
    Length,
    Production,
    contain_load,
    costs_are_told,
    draft_lengths,
    measured_speedup,
    production,
    production_start,
)
from specviz.measure.worksheet.starts import OPENING_DRAFT_LENGTH, Start, calibrated
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import MOST_TYPED, NOT_MEASURED, TIMES, data_table, numbers, texts
from specviz.ui.shared.persistent_widgets import with_value
from specviz.ui.worksheet.controls import chosen_start, costs_named, is_shown, model_now, put_on_map
from specviz.ui.worksheet.figures import machines_figure, positions_figure
from specviz.ui.worksheet.worksheet_state import Worksheet

SAYS = page_texts("worksheet")


def show_machines(costs_by_pair: Mapping[tuple[str, str, str], Costs], finished: Sequence[Trace]) -> None:
    here = [_machine_row(*calibrated(pair, costs, finished)) for pair, costs in costs_by_pair.items()]
    rows = [*here, *map(_paper_row, PUBLISHED), *map(_round_row, GPU_ROUNDS), *map(_costs_row, GPU_COSTS)]
    data_table(pd.DataFrame(rows), "worksheet_machines", columns=_columns())
    if not here:
        st.caption("The row of this machine appears after a live run on the Watch page, when its pair is calibrated.")
    st.caption(SAYS["machines"])
    st.markdown("**Published speedups beside the formula’s**")
    chart(machines_figure(PUBLISHED), "worksheet_published")


def _columns() -> dict[str, Any]:
    return {
        **numbers("%d", "γ"),
        **numbers("%.2f", "c", "v(γ+1)", "o"),
        **texts("α"),  # some are in brackets
        **numbers(TIMES, "modelled", "measured"),
        "source": st.column_config.LinkColumn(display_text=r"https://(?:github\.com/)?(.*?)(?:/blob/main/.*)?$"),
    }


def _machine_row(start: Start, trace: Trace | None) -> dict[str, object]:
    model = start.model
    gap = gap_of(trace) if trace else None
    return {
        "pair": start.label.removeprefix("this machine, calibrated: "),
        "task": "this machine, calibrated",
        "γ": model.draft_length,
        "c": model.cost_ratio,
        "α": f"{model.alpha:.2f}" if trace else NOT_MEASURED,
        "modelled": model.realistic if trace else None,
        "measured": gap.measured if gap else None,
        "v(γ+1)": model.verification,
        "o": model.overhead,
        "machine": trace.recorded_on.machine if trace else "this one",
        "source": "",
    }


def _paper_row(run: PublishedRun) -> dict[str, object]:
    modelled, alpha = run.modelled_speedup, run.alpha
    return {
        "pair": run.pair,
        "task": f"{run.task}, {run.temperature}",
        "γ": run.draft_length,
        "c": run.cost_ratio,
        "α": f"{alpha:.2f}" if alpha is not None else f"({run.explaining_alpha:.2f})",
        "modelled": modelled,
        "measured": run.speedup,
        "v(γ+1)": None,
        "o": None,
        "machine": run.machine,
        "source": run.url,
    }


def _round_row(found: GpuRound) -> dict[str, object]:
    return {
        "pair": f"{found.method} → {found.target}",
        "task": f"{found.tokens:.2f} tokens in {found.cost:.2f} steps",
        "α": NOT_MEASURED,
        "measured": found.speedup,
        "machine": "one A100, batch 1",
        "source": found.url,
    }


def _costs_row(costs: GpuCosts) -> dict[str, object]:
    return {
        "pair": costs.pair,
        "task": "costs only",
        "γ": OPENING_DRAFT_LENGTH if costs.verification else None,
        "c": costs.cost_ratio,
        "α": NOT_MEASURED,
        "v(γ+1)": verification_steps(costs.verification, OPENING_DRAFT_LENGTH + 1) if costs.verification else None,
        "machine": costs.machine,
        "source": costs.url,
    }


def show_production(worksheet: Worksheet, starts: Sequence[Start]) -> None:
    box, verdict = st.columns(2, gap="large")

    def changed() -> None:
        """The page starts from what was pasted, so that its upper part speaks of the same counters."""
        with suppress(InputError):
            if (found := _pasted(worksheet, starts)) and _fits_the_map(found):
                put_on_map(worksheet, *_start_from(worksheet, starts, found))

    with box:
        text = st.text_area(
            "Counters, log lines or an answer in JSON",
            height=200,
            placeholder=SAYS["paste"],
            max_chars=MOST_TYPED,
            help=SAYS["paste_help"],
            on_change=changed,
            **with_value("worksheet_paste"),
        )
        st.caption(SAYS["read"])
        _speedup_fields(changed)
    with verdict:
        if not text.strip():
            st.info("Paste acceptance from production. The page then starts from it.")
            return
        try:
            shown = _pasted(worksheet, starts)
        except InputError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        assert shown
        _show(worksheet, starts, shown)


def _pasted(worksheet: Worksheet, starts: Sequence[Start]) -> Production | None:
    """What the fields hold; None for no text.

    Raises:
        InputError: the text or the speedup cannot be used.
    """
    state = st.session_state
    if not state.worksheet_paste.strip():
        return None
    counters = read_counters(state.worksheet_paste)
    given, without, speculative = (state[f"worksheet_{name}"] for name in ("speedup", "without", "with"))
    speedup = measured_speedup(given, without, speculative, counters.latency)
    return production(counters, model_now(worksheet, chosen_start(worksheet, starts)), speedup)


def _start_from(worksheet: Worksheet, starts: Sequence[Start], found: Production) -> tuple[Start, Production]:
    return production_start(found, costs_named(chosen_start(worksheet, starts))), found


def _fits_the_map(found: Production) -> bool:
    """Whether the map can show it: all calls draft, and no draft is longer than its axis."""
    return found.share == 1 and found.draft_length <= MAX_DRAFT_LENGTH


def _speedup_fields(changed: Callable[[], None]) -> None:
    """The measured speedup, or two latencies that give it. Empty fields are None."""
    with st.container(horizontal=True, gap="small", key="worksheet_measured"):
        for label, key, explanation in FIELDS:
            # None even if the state holds a number: a field with a default of its own could not be emptied
            st.number_input(
                label, 0.0, 1e9, None, placeholder="not measured", help=explanation, key=key, on_change=changed
            )


def _show(worksheet: Worksheet, starts: Sequence[Start], found: Production) -> None:
    costs = costs_named(chosen_start(worksheet, starts))
    told = costs_are_told(costs)
    st.markdown(advice.headline(found, plain(costs)))
    for title, text in advice.advice(found, costs):
        st.markdown(f"**{title}.** {text}")
    if found.speedup is not None:
        _show_lengths(draft_lengths(found))
    else:
        st.caption(SAYS["chosen"] if told else SAYS["not_yours"].format(plain(costs)))
    alpha = found.counters.alpha(found.draft_length)
    notes = [
        found.counters.reading,
        advice.counted_note(found, alpha),
        *found.counters.notes,
        advice.batch_note(found, loaded=contain_load(costs), told=told),
    ]
    st.caption(" ".join(plain(note) for note in notes if note))
    if found.counters.survival:
        figure = positions_figure(found.counters.position_rates, found.counters.survival)
        chart(figure, "worksheet_positions")
        st.caption("Per judgement counts only the rounds whose earlier guesses were all accepted.")
    if found.share < 1:
        st.caption("Not for the map: it shows calls that all draft, and here only some do.")
    else:
        _offer_map(worksheet, *_start_from(worksheet, starts, found))


def _show_lengths(lengths: Sequence[Length]) -> None:
    rows = [(each.draft_length, each.tokens, each.slowest, each.fastest) for each in lengths]
    table = pd.DataFrame(rows, columns=["γ", "tokens", "slowest", "fastest"])
    columns = numbers("%d", "γ") | numbers("%.2f", "tokens") | numbers(TIMES, "slowest", "fastest")
    data_table(table, "worksheet_lengths", columns=columns)
    st.caption(SAYS["lengths"])


def _offer_map(worksheet: Worksheet, start: Start, found: Production) -> None:
    if start.model.draft_length > MAX_DRAFT_LENGTH:
        st.caption(f"The map ends at γ = {MAX_DRAFT_LENGTH}: these drafts are too long for it.")
    elif is_shown(start):
        st.caption("The sliders and the map above show these values.")
    else:
        st.button("Put these on the map", on_click=put_on_map, args=(worksheet, start, found), key="worksheet_use")


FIELDS = [
    (
        "Measured speedup",
        "worksheet_speedup",
        SAYS["measured_help"],
    ),
    (
        "or latency without",
        "worksheet_without",
        SAYS["without_help"],
    ),
    (
        "latency with",
        "worksheet_with",
        SAYS["with_help"],
    ),
]
