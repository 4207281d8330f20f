"""The questions users ask, each with a short answer, where its figures are from, and a run that shows it."""

import streamlit as st

from specviz.lessons.cases import story_figures
from specviz.lessons.story import fill
from specviz.lessons.whys import WHYS, Why, answer_facts
from specviz.views.learn import paragraph
from specviz.views.learning import Learning

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
    st.link_button(why.run_it, why.href, icon=":material/play_circle:", key=f"run-{why.name}")
