"""The questions users ask, each with a short answer, where its figures are from, and a run that shows it."""

from urllib.parse import urlencode

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.faq import WHYS, Why, answer_facts
from specviz.data.lessons.recorded_runs import story_figures
from specviz.data.lessons.story import fill
from specviz.data.permalink import link_of
from specviz.measure.proof.recorded import recorded_proof
from specviz.ui.learn.page import paragraph
from specviz.ui.learn.state import Learning

SOURCES = {
    "recorded": "Figures recorded on {machine}. Yours will differ: run it.",
    "modelled": "Modelled by the formula E(γ) / (γc + v(γ+1)), with the recorded run’s acceptance and draft cost.",
    "general": "No figures here: the page it leads to measures them.",
}


def show_whys(state: Learning) -> None:
    """All questions, answered."""
    st.markdown("#### Why?")
    columns = st.columns(2, gap="large")
    for number, why in enumerate(WHYS):
        with columns[number % 2], st.container(border=True, key=f"why-{why.name}"):
            _show(why, state)


def _show(why: Why, state: Learning) -> None:
    st.markdown(f"**{why.question}**")
    paragraph(fill(why.answer, answer_facts(why)), f"why-{why.name}", state.words)
    st.caption(SOURCES[why.source].format(machine=story_figures().recorded_on))
    st.link_button(why.run_it, href(why), icon=":material/play_circle:", key=f"run-{why.name}")


def href(why: Why) -> str:
    """Where a question's button leads; the near-tie's to the recorded example, so that the page compares its prompt."""
    proof = recorded_proof()
    if why.name != "rounding" or proof is None:
        return why.href
    row = proof.near_tie
    request = RunRequest(row.prompt, row.target, row.draft, "fast", DecodeSettings(draft_length=row.draft_length))
    return f"./{why.page}?{urlencode(link_of(request, preset=row.preset))}"
