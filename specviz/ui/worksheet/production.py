"""The worksheet's serving section: counters pasted from production, a measured speedup, the verdict and advice."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from specviz.core.errors import InputError
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.data.serving_counters import read_counters
from specviz.measure.worksheet import advice
from specviz.measure.worksheet.serving import (
    Length,
    Production,
    contain_load,
    draft_lengths,
    measured_speedup,
    production,
    production_start,
)
from specviz.measure.worksheet.starts import Start
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import with_value
from specviz.ui.shared.tables import TIMES, data_table, numbers
from specviz.ui.worksheet.controls import chosen_start, is_shown, put_on_map, read_model
from specviz.ui.worksheet.figures import positions_figure


def show_production(found: Sequence[Start]) -> None:
    """Pasted counters of a serving engine, with a measured speedup if there is one, and what follows from them."""
    box, verdict = st.columns(2, gap="large")
    with box:
        text = st.text_area(
            "Counters, log lines or an answer in JSON",
            height=200,
            placeholder=PASTE,
            help=PASTE_HELP,
            **with_value("worksheet_paste"),
        )
        st.caption(READ)
        _speedup_fields()
    with verdict:
        if not text.strip():
            st.info("Paste acceptance from production; c, v, o and the batch come from the sliders above.")
            return
        try:
            state = st.session_state
            speedup = measured_speedup(state.worksheet_speedup, state.worksheet_without, state.worksheet_with)
            shown = production(read_counters(text), read_model(), speedup)
        except InputError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        _show(shown, _costs_named(found))


def _speedup_fields() -> None:
    """The measured speedup, or two latencies that give it. Empty fields are None."""
    with st.container(horizontal=True, gap="small", key="worksheet_measured"):
        for label, key, explanation in FIELDS:
            # None even if the state holds a number: a field with a default of its own could not be emptied
            st.number_input(label, 0.0, 1e9, None, placeholder="not measured", help=explanation, key=key)


def _costs_named(found: Sequence[Start]) -> str:
    """Where the sliders' costs are from."""
    start, model = chosen_start(found), read_model()
    if start.acceptance_only:
        return "as the sliders have them"
    same = abs(start.model.cost_ratio - model.cost_ratio) < 0.001 and abs(start.model.overhead - model.overhead) < 0.001
    return start.named_costs if same else "set by hand with the sliders"


def _show(found: Production, costs: str) -> None:
    st.markdown(advice.headline(found, plain(costs)))
    if found.speedup is not None:
        for title, text in advice.advice(found):
            st.markdown(f"**{title}.** {text}")
        _show_lengths(draft_lengths(found))
    else:
        st.caption(ASSUMED)
    alpha = found.counters.alpha(found.draft_length)
    notes = [
        advice.counted_note(found, alpha),
        *found.counters.notes,
        advice.batch_note(found, loaded=contain_load(costs)),
    ]
    st.caption(" ".join(plain(note) for note in notes if note))
    if found.counters.survival:
        figure = positions_figure(found.counters.position_rates, found.counters.survival)
        alt = "Acceptance by position: per judgement, and of all drafts."
        chart(figure, key="worksheet_positions", alt=alt)
    if found.share < 1:
        st.caption("Not for the map: it shows calls that all draft, and here only some do.")
    else:
        _offer_map(production_start(found, costs))


def _show_lengths(lengths: Sequence[Length]) -> None:
    rows = [
        {
            "γ": each.draft_length,
            "tokens": each.tokens,
            "slowest": each.slowest,
            "fastest": each.fastest,
        }
        for each in lengths
    ]
    data_table(
        pd.DataFrame(rows),
        hide_index=True,
        key="worksheet_lengths",
        column_config=numbers("%d", "γ") | numbers("%.2f", "tokens") | numbers(TIMES, "slowest", "fastest"),
        alt="Tokens a round and the modelled speedup of each draft length.",
    )
    st.caption(
        "Tokens of a round, and its slowest and fastest modelled speedup, if half to all of the extra cost grows with "
        "the draft."
    )


def _offer_map(start: Start) -> None:
    if start.model.draft_length > MAX_DRAFT_LENGTH:
        st.caption(f"The map ends at γ = {MAX_DRAFT_LENGTH}: these drafts are too long for it.")
    elif is_shown(start):
        st.caption("The sliders and the map above show these values.")
    else:
        st.button("Put these on the map", on_click=put_on_map, args=(start,), key="worksheet_use")


ASSUMED = (
    "The costs are assumed. Enter a measured speedup on the left, and this page infers them; or choose published GPU "
    "costs under “Start from” above."
)
READ = (
    "Read: vLLM, SGLang, llama.cpp, TensorRT-LLM and LM Studio: /metrics, log lines, or the JSON of an answer. "
    "The text stays on this server."
)
PASTE = (
    "vllm:spec_decode_num_drafts_total{…} …\nvllm:spec_decode_num_accepted_tokens_total{…} …\n"
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} …\n\nor a log line: SpecDecoding metrics: …; '
    'accept len: …; draft acceptance = …\nor JSON: {"timings": …}, {"meta_info": …}, {"metrics": …}, {"stats": …}'
)
PASTE_HELP = (
    "Counters run from the server’s start; paste two copies, the older first, to use their difference. Of several log "
    "lines the last is used. Several answers are added up."
)
FIELDS = [
    (
        "Measured speedup",
        "worksheet_speedup",
        "Time without speculation over time with it, for the same requests at the same load. Leave it empty if it was "
        "not measured: then the costs above are assumed.",
    ),
    (
        "or latency without",
        "worksheet_without",
        "Time per output token, or the time of the same requests, without speculation. Any unit, the same in both.",
    ),
    ("latency with", "worksheet_with", "The same with speculation."),
]
