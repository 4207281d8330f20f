"""The worksheet's calculator: what the sliders say in words, the loaded run beside them, the map, and all terms."""

import streamlit as st

from specviz.core.judge import LOOKS, UNTOLD, judge
from specviz.data.batches import BatchStudy
from specviz.data.page_texts import page_texts
from specviz.measure.batch_sentences import checks_sentence, kinds_of_machines
from specviz.measure.worksheet import advice
from specviz.measure.worksheet import model as terms
from specviz.measure.worksheet.serving import Production, contain_load, outlook
from specviz.measure.worksheet.starts import Start
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.figures import chart
from specviz.ui.shared.parts import note, say
from specviz.ui.worksheet import controls as sliders
from specviz.ui.worksheet.figures import speedup_map
from specviz.ui.worksheet.worksheet_page import Known
from specviz.ui.worksheet.worksheet_state import Worksheet

SAYS = page_texts("worksheet")


def calculator(worksheet: Worksheet, known: Known) -> None:
    outcome = st.container(key="worksheet_outcome")
    inputs, picture = st.columns([5, 8], gap="large")
    with inputs:
        model = sliders.controls(worksheet, known.starts, known.count)
    start = sliders.chosen_start(worksheet, known.starts)
    alone = sliders.counters_alone(worksheet, start)
    with outcome:
        if alone:
            _untold(alone)
        else:
            _verdict(model)
        changed = sliders.changes(start)
        now = f" The sliders now say: {', '.join(changed)}." if changed else " The sliders say the same."
        st.caption(f"**Loaded:** {plain(start.in_words)}{now}")
        if model.batch > 1 and not alone:
            st.info(_batch(model, start), icon=":material/groups:")
    with picture:
        loaded = start.model if changed and not start.costs_only else None  # where it is not that of the sliders
        chart(speedup_map(model, known.measured, loaded), "worksheet_map")
        whose = f", those of {plain(sliders.costs_named(start))} and not of your machine" if alone else ""
        st.caption(f"The map has the costs of the sliders{whose}. Its points are measured, each at its own costs.")
    with st.expander("All terms"):
        _all_terms(model, start, known.batches)


def _verdict(model: terms.Model) -> None:
    judged = judge(model.realistic, None, modelled=True)
    look = judged.look
    st.markdown(f":material/{look.icon}: :{look.color}[**{judged.headline}.**]")
    say(terms.verdict_sentence(model), "worksheet-verdict")
    needed = "none" if model.break_even is None else f"{100 * model.break_even:.0f} %"
    best = f"{model.best} ({model.best_speedup:.2f}×)"
    speedup = ("Speedup", f"{model.realistic:.2f}×", "speedup_help")
    _metrics(speedup, ("Pays above", needed, "needed_help"), ("Best length", best, "best_help"))


def _untold(found: Production) -> None:
    """Counters without the cost of a round: no verdict, but a range. The text below takes it from the same place."""
    ahead, look = outlook(found), LOOKS[UNTOLD]
    st.markdown(f":material/{look.icon}: :{look.color}[**{advice.UNTOLD}**]")
    say(advice.known_without_costs(found), "worksheet-verdict")
    below = ("Pays below", f"{found.tokens:.2f} steps", "below_help")
    _metrics(("Speedup", ahead.speeds, "range_help"), below, ("Best length", ahead.lengths, "lengths_help"))


def _metrics(*shown: tuple[str, str, str]) -> None:
    """Figures beside each other: a label, the value, and the name of its explanation."""
    with st.container(horizontal=True, gap="medium", key="worksheet_figures"):
        for label, value, explanation in shown:
            st.metric(label, value, help=SAYS[explanation], width="content")


def _all_terms(model: terms.Model, start: Start, study: BatchStudy | None) -> None:
    inputs, outcome = st.columns([5, 8], gap="large")
    state = st.session_state
    with inputs:
        sliders.more_controls()
        if model.batch == 1:
            st.caption(_batch(model, start))
        kinds = f" {plain(kinds_of_machines(study))}" if study else ""
        st.caption(f"{plain(terms.batch_shape(model))}{kinds} {SAYS['h100']}")
        st.caption(SAYS["batch_lesson"])
        if study and (said := checks_sentence(study, model.draft_length, model.batch)):
            st.caption(plain(said))
    with outcome:
        counts = state.worksheet_drafted, state.worksheet_accepted, state.worksheet_counted_at
        say(terms.counts_sentence(*counts, model), "worksheet-counts")
        say(terms.break_even_sentence(model), "worksheet-break-even")
        rows = "\n".join(f"| {symbol} | {meaning} | {value} |" for symbol, meaning, value in terms.symbols(model))
        st.markdown(f"| symbol | what it is | value |\n| --- | --- | ---: |\n{rows}")
        note(terms.half_sentence(model), "worksheet-half")


def _batch(model: terms.Model, start: Start) -> str:
    return terms.batch_sentence(model, measured=contain_load(start.named_costs))
