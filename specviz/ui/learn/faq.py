"""The frequent questions on the page: each with a short answer, where its figures are from, and a link to run it."""

from urllib.parse import urlencode

import streamlit as st

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.lessons.faq import FaqEntry, answer_facts
from specviz.data.lessons.questions import FAQ
from specviz.data.lessons.story import Says, Words, facts_in, fill
from specviz.data.permalink import link_of
from specviz.measure.proof.recorded import recorded_proof
from specviz.ui.learn.page import paragraph
from specviz.ui.learn.state import Learning

SOURCES = {
    "recorded": Says(
        "Figures recorded on {machine}. Yours will differ: run it.",
        "Recorded on {machine}. Yours will differ: run it.",
    ),
    "published": Says("Reported by others, not measured here.", "Reported by others, not measured here."),
    "general": Says("No figures here. The linked page measures them.", "No figures here. The linked page measures."),
}


def show_faq(state: Learning) -> None:
    """All questions with their answers."""
    st.markdown("## Why?")
    columns = st.columns(2, gap="large")
    for number, entry in enumerate(FAQ):
        with columns[number % 2], st.container(border=True, key=f"why-{entry.name}"):
            _show(entry, state)


def _show(entry: FaqEntry, state: Learning) -> None:
    words = state.words
    st.markdown(f"**{entry.question.in_(words)}**")
    paragraph(fill(entry.answer.in_(words), facts_in(answer_facts(entry), words)), f"why-{entry.name}", words)
    st.caption(_source(entry, words))
    label = entry.run_it.in_(words)
    st.link_button(label, href(entry), icon=":material/play_circle:", key=f"run-{entry.name}")


def _source(entry: FaqEntry, words: Words) -> str:
    """Where the figures are from, with links to what is cited."""
    said = SOURCES[entry.source].in_(words).format(machine=entry.machine)
    cited = ", ".join(f"[{gain.source}]({gain.url}) ({gain.system})" for gain in entry.cites)
    return f"{said} Published: {cited}." if cited else said


def href(entry: FaqEntry) -> str:
    """The address of a question's button. The near-tie question leads to the recorded example."""
    proof = recorded_proof()
    if entry.name != "rounding" or proof is None:
        return entry.href
    row = proof.near_tie
    request = RunRequest(row.prompt, row.target, row.draft, "fast", DecodeSettings(draft_length=row.draft_length))
    return f"./{entry.page}?{urlencode(link_of(request, preset=row.preset))}"
