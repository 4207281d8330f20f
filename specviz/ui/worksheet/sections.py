"""The worksheet's machines and its serving section: published costs beside this machine's, and pasted counters."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.metrics import Costs
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.data.published import GPU_COSTS, GPU_ROUNDS, PUBLISHED, GpuCosts, GpuRound, PublishedRun
from specviz.data.serving_counters import read_counters
from specviz.data.texts import page_texts
from specviz.measure.worksheet import advice, serving
from specviz.measure.worksheet.runs import gap_of
from specviz.measure.worksheet.starts import OPENING_DRAFT_LENGTH, Start, calibrated
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import MOST_TYPED, NOT_MEASURED, TIMES, Options, data_table, numbers, texts
from specviz.ui.shared.persistent_widgets import with_value
from specviz.ui.worksheet.controls import chosen_start, costs_named, is_shown, model_now, put_on_map
from specviz.ui.worksheet.figures import machines_figure, positions_figure
from specviz.ui.worksheet.worksheet_state import Worksheet

SAYS = page_texts("worksheet")


def show_machines(costs_by_pair: Mapping[tuple[str, str, str], Costs], finished: Sequence[Trace]) -> None:
    here = [_machine_row(*calibrated(pair, costs, finished)) for pair, costs in costs_by_pair.items()]
    rows = [*here, *map(_paper_row, PUBLISHED), *map(_round_row, GPU_ROUNDS), *map(_costs_row, GPU_COSTS)]
    data_table(pd.DataFrame(rows, columns=MACHINE_COLUMNS), "worksheet_machines", columns=FORMATS)
    if not here:
        st.caption("The row of this machine appears after a live run on the Watch page, when its pair is calibrated.")
    st.caption(SAYS["machines"])
    st.markdown("**Published speedups beside the formula’s**")
    chart(machines_figure(PUBLISHED), "worksheet_published")


FORMATS = {
    **numbers("%d", "γ"),
    **numbers("%.2f", "c", "v(γ+1)", "o"),
    **texts("α"),  # some are in brackets
    **numbers(TIMES, "modelled", "measured"),
    "source": st.column_config.LinkColumn(display_text=r"https://(?:github\.com/)?(.*?)(?:/blob/main/.*)?$"),
}
Cells = tuple[str | float | None, ...]
MACHINE_COLUMNS = ("pair", "task", "γ", "c", "α", "modelled", "measured", "v(γ+1)", "o", "machine", "source")


def _machine_row(start: Start, trace: Trace | None) -> Cells:
    model, gap = start.model, gap_of(trace) if trace else None
    pair, task = start.label.removeprefix("this machine, calibrated: "), "this machine, calibrated"
    alpha, modelled = (f"{model.alpha:.2f}", model.realistic) if trace else (NOT_MEASURED, None)
    shown = (pair, task, model.draft_length, model.cost_ratio, alpha, modelled, gap.measured if gap else None)
    return *shown, model.verification, model.overhead, trace.recorded_on.machine if trace else "this one", ""


def _paper_row(run: PublishedRun) -> Cells:
    alpha = f"{run.alpha:.2f}" if run.alpha is not None else f"({run.explaining_alpha:.2f})"
    shown = (run.pair, f"{run.task}, {run.temperature}", run.draft_length, run.cost_ratio, alpha)
    return *shown, run.modelled_speedup, run.speedup, None, None, run.machine, run.url


def _round_row(found: GpuRound) -> Cells:
    pair, task = f"{found.method} → {found.target}", f"{found.tokens:.2f} tokens in {found.cost:.2f} steps"
    return pair, task, None, None, NOT_MEASURED, None, found.speedup, None, None, "one A100, batch 1", found.url


def _costs_row(costs: GpuCosts) -> Cells:
    length, check = None, None
    if costs.verification:
        length = OPENING_DRAFT_LENGTH
        check = verification_steps(costs.verification, length + 1)
    shown = (costs.pair, "costs only", length, costs.cost_ratio, NOT_MEASURED)
    return *shown, None, None, check, None, costs.machine, costs.url


def show_production(worksheet: Worksheet, starts: Sequence[Start]) -> None:
    box, verdict = st.columns(2, gap="large")

    def changed() -> None:
        """The page starts from what was pasted, so that its upper part speaks of the same counters."""
        with suppress(InputError):
            found = _pasted(worksheet, starts)  # the map shows calls that all draft, up to the end of its axis
            if found and found.share == 1 and found.draft_length <= MAX_DRAFT_LENGTH:
                put_on_map(worksheet, *_start_from(worksheet, starts, found))

    with box:
        more = with_value("worksheet_paste") | {"placeholder": SAYS["paste"], "help": SAYS["paste_help"]}
        label = "Counters, log lines or an answer in JSON"
        text = st.text_area(label, height=200, max_chars=MOST_TYPED, on_change=changed, **more)
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


def _pasted(worksheet: Worksheet, starts: Sequence[Start]) -> serving.Production | None:
    """What the fields hold; None for no text, an InputError where it cannot be used."""
    state = st.session_state
    if not state.worksheet_paste.strip():
        return None
    counters = read_counters(state.worksheet_paste)
    given, without, speculative = (state[f"worksheet_{name}"] for name in ("speedup", "without", "with"))
    speedup = serving.measured_speedup(given, without, speculative, counters.latency)
    return serving.production(counters, model_now(worksheet, chosen_start(worksheet, starts)), speedup)


def _start_from(
    worksheet: Worksheet, starts: Sequence[Start], found: serving.Production
) -> tuple[Start, serving.Production]:
    return serving.production_start(found, costs_named(chosen_start(worksheet, starts))), found


FIELDS = {"speedup": "Measured speedup", "without": "or latency without", "with": "latency with"}  # empty: None


def _speedup_fields(changed: Callable[[], None]) -> None:
    with st.container(horizontal=True, gap="small", key="worksheet_measured"):
        for name, label in FIELDS.items():
            # None even if the state holds a number: a field with a default of its own could not be emptied
            more: Options = {"key": f"worksheet_{name}", "help": SAYS[f"{name}_field_help"], "on_change": changed}
            st.number_input(label, 0.0, 1e9, None, placeholder="not measured", **more)


def _show(worksheet: Worksheet, starts: Sequence[Start], found: serving.Production) -> None:
    costs = costs_named(chosen_start(worksheet, starts))
    told = serving.costs_are_told(costs)
    st.markdown(advice.headline(found, plain(costs)))
    for title, text in advice.advice(found, costs):
        st.markdown(f"**{title}.** {text}")
    if found.speedup is not None:
        lengths = [
            (each.draft_length, each.tokens, each.slowest, each.fastest) for each in serving.draft_lengths(found)
        ]
        table = pd.DataFrame(lengths, columns=["γ", "tokens", "slowest", "fastest"])
        columns = numbers("%d", "γ") | numbers("%.2f", "tokens") | numbers(TIMES, "slowest", "fastest")
        data_table(table, "worksheet_lengths", columns=columns)
        st.caption(SAYS["lengths"])
    else:
        st.caption(SAYS["chosen"] if told else SAYS["not_yours"].format(plain(costs)))
    alpha = found.counters.alpha(found.draft_length)
    notes = [
        found.counters.reading,
        advice.counted_note(found, alpha),
        *found.counters.notes,
        advice.batch_note(found, loaded=serving.contain_load(costs), told=told),
    ]
    st.caption(" ".join(plain(note) for note in notes if note))
    if found.counters.survival:
        chart(positions_figure(found.counters.position_rates, found.counters.survival), "worksheet_positions")
        st.caption("Per judgement counts only the rounds whose earlier guesses were all accepted.")
    if found.share < 1:
        st.caption("Not for the map: it shows calls that all draft, and here only some do.")
    else:
        _offer_map(worksheet, *_start_from(worksheet, starts, found))


def _offer_map(worksheet: Worksheet, start: Start, found: serving.Production) -> None:
    if start.model.draft_length > MAX_DRAFT_LENGTH:
        st.caption(f"The map ends at γ = {MAX_DRAFT_LENGTH}: these drafts are too long for it.")
    elif is_shown(start):
        st.caption("The sliders and the map above show these values.")
    else:
        st.button("Put these on the map", on_click=put_on_map, args=(worksheet, start, found), key="worksheet_use")
