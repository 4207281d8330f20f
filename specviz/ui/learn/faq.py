"""The frequent questions on the page: each with a short answer, where its figures are from, and a link to run it."""

from urllib.parse import urlencode

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.faq import FAQ, FaqEntry, answer_facts
from specviz.data.lessons.recorded_runs import story_figures
from specviz.data.lessons.story import fill
from specviz.data.permalink import link_of
from specviz.measure.proof.recorded import recorded_proof
from specviz.ui.learn.page import paragraph
from specviz.ui.learn.state import Learning

SOURCES = {
    "recorded": "Figures recorded on {machine}. Yours will differ: run it.",
    "modelled": "Modelled by the formula E(γ) / (γc + v(γ+1)), with the recorded run’s acceptance and draft cost.",
    "general": "No figures here. The linked page measures them.",
}


def show_faq(state: Learning) -> None:
    """All questions with their answers."""
    st.markdown("#### Why?")
    columns = st.columns(2, gap="large")
    for number, entry in enumerate(FAQ):
        with columns[number % 2], st.container(border=True, key=f"why-{entry.name}"):
            _show(entry, state)


def _show(entry: FaqEntry, state: Learning) -> None:
    st.markdown(f"**{entry.question}**")
    paragraph(fill(entry.answer, answer_facts(entry)), f"why-{entry.name}", state.words)
    st.caption(SOURCES[entry.source].format(machine=story_figures().recorded_on))
    st.link_button(entry.run_it, href(entry), icon=":material/play_circle:", key=f"run-{entry.name}")


def href(entry: FaqEntry) -> str:
    """The address of a question's button. The near-tie question leads to the recorded example."""
    proof = recorded_proof()
    if entry.name != "rounding" or proof is None:
        return entry.href
    row = proof.near_tie
    request = RunRequest(row.prompt, row.target, row.draft, "fast", DecodeSettings(draft_length=row.draft_length))
    return f"./{entry.page}?{urlencode(link_of(request, preset=row.preset))}"
