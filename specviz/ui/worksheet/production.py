"""The worksheet's serving section: counters pasted from production, and the verdict at the sliders' costs."""

from dataclasses import replace

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.serving_counters import ServingCounters, read_counters
from specviz.measure.worksheet.model import Model, serving_verdict
from specviz.ui.shared.chart import chart
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.persistent_widgets import with_value
from specviz.ui.worksheet.controls import fill_acceptance, read_model
from specviz.ui.worksheet.figures import positions_figure


def show_production() -> None:
    """Pasted counters of a serving engine, and the verdict at the costs above."""
    box, verdict = st.columns(2, gap="large")
    with box:
        text = st.text_area(
            "Counters or log lines", height=200, placeholder=PASTE, help=PASTE_HELP, **with_value("worksheet_paste")
        )
        st.caption("vLLM and SGLang can be read, with rates per position. The text stays on this server.")
    with verdict:
        if not text.strip():
            st.info("Paste acceptance from production; c, v, o and the batch come from the sliders above.")
            return
        try:
            counters = read_counters(text)
        except InputError as error:
            st.error(plain(str(error)), icon=":material/error:")
            return
        _show_counters(counters)


def _show_counters(counters: ServingCounters) -> None:
    model = read_model()
    length = max(1, round(counters.draft_length)) if counters.draft_length else model.draft_length
    alpha = counters.alpha(length)
    in_production = _at(model, alpha, length)
    st.markdown(serving_verdict(counters, in_production))
    st.caption(_counted_sentence(counters, alpha, length))
    if counters.survival:
        figure = positions_figure(counters.position_rates, counters.survival)
        alt = "Acceptance by position: per judgement, and of all drafts."
        chart(figure, key="worksheet_positions", alt=alt)
    measured = replace(in_production, batch=round(counters.running or model.batch))
    st.button("Put these on the map", on_click=fill_acceptance, args=(measured,), key="worksheet_use")


def _at(model: Model, alpha: float, draft_length: int) -> Model:
    """The model's costs with production's acceptance and draft length; v is read from its straight line."""
    checked = replace(model, batch=1).steps(draft_length + 1)
    return replace(model, alpha=alpha, draft_length=draft_length, verification=checked)


def _counted_sentence(counters: ServingCounters, alpha: float, draft_length: int) -> str:
    rate = counters.acceptance_rate
    drafted = f"{rate:.2f} accepted / drafted at γ = {draft_length}" if rate is not None else "draft length unknown"
    how = (
        "counted: the last position gives the rejections"
        if counters.counts_judgements
        else "modelled: the one that leads to this rate if every judgement is alike"
    )
    assumed = "" if counters.draft_length else f" γ = {draft_length} is taken from the slider."
    running = f" {counters.running:.0f} requests were running." if counters.running else ""
    return f"{counters.engine}: {drafted}; α = {alpha:.2f} per judgement ({how}).{assumed}{running}"


PASTE = (
    "vllm:spec_decode_num_drafts_total{…} …\nvllm:spec_decode_num_accepted_tokens_total{…} …\n"
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{position="0"} …\n\nor SpecDecoding metrics: Mean acceptance '
    "length: …\nor Decode batch, … accept len: …, accept rate: …"
)
PASTE_HELP = (
    "From /metrics or the log. Counters run from the server’s start; paste two copies, the older first, to use "
    "their difference. Of several log lines the last is used."
)
