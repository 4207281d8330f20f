"""The head of the Learn page: its parts, and in which words; and how all parts show a text."""

from typing import Literal

import streamlit as st

from specviz.core.errors import InputError, hide_folders
from specviz.core.texts import Words
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.recorded_runs import RUNS, story_figures, story_trace
from specviz.data.measured.batches import pass_shares
from specviz.data.texts import page_texts
from specviz.ui.classes.membership import class_chip, class_in_link, class_question
from specviz.ui.learn.learn_state import LearnState, go_to_place
from specviz.ui.session import session
from specviz.ui.shared.address import address, went_there, write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, heading, notices
from specviz.ui.shared.persistent_widgets import set_widgets

SAYS = page_texts("learn")
IN_TWO_VOICES = ("story", "quiz", "words")  # the parts that are told in the field's words or in plain ones


def begin() -> LearnState | None:
    """The head of the page: title, parts, technical or plain words. None, with an error, without the recorded runs."""
    state = session().learn
    given = {name: values[-1] for name, values in address().items() if name in state.link()}
    if given and went_there(given, state.written, state.seen):
        state.problems = go_to_place(state, given)
    state.seen = given
    with st.container(key="learn-head", horizontal=True):
        heading(SAYS["heading"])
        _choose("part", SAYS["part"], state)
        if state.part in IN_TWO_VOICES:
            _choose("words", SAYS["words"], state)
        class_chip()
    class_question()
    notices(state.problems)
    write_address(state.link() | class_in_link())
    state.written = state.link()
    try:
        for name in RUNS:
            story_trace(name)
        story_figures()
        pass_shares()
    except InputError as error:
        sentence = hide_folders(SAYS["runs_missing"].format(problem=error))
        st.error(plain(sentence), icon=":material/error:")
        return None
    return state


def _choose(name: Literal["part", "words"], label: str, state: LearnState) -> None:
    """A choice that survives a page switch: the state holds it, the widget only shows it."""
    key, labels = f"learn-{name}", page_texts("learn_parts" if name == "part" else "learn_words")
    set_widgets({key: getattr(state, name)})

    def chosen() -> None:
        state.problems, value = [], st.session_state[key]
        if value in labels:
            setattr(state, name, value)

    more: Options = {"label_visibility": "collapsed", "required": True, "on_change": chosen, "key": key}
    st.segmented_control(label, list(labels), format_func=labels.__getitem__, **more)


def paragraph(text: str, key: str, words: Words = "technical") -> None:
    """A paragraph for each line; words of the field show what they mean. For this app's own text and figures only."""
    st.html("".join(f'<p class="explains">{each}</p>' for each in explained(text, key, words).split("\n")))
