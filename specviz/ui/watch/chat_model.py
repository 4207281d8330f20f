"""Two recorded runs of a chat model that people know: what it costs nothing to see on any server."""

import streamlit as st

from specviz.core.names import machine_in_words
from specviz.data.lessons.recorded_runs import CHAT_RUNS, story_trace
from specviz.data.texts import page_texts
from specviz.models.draft_menu import is_allowed
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import button
from specviz.ui.watch.controls import show_recorded
from specviz.ui.watch.watch_state import WatchState

SAYS = page_texts("chat_model")


def chat_model_choice(watching: WatchState) -> None:
    def choose(name: str) -> None:
        watching.chats_chosen += 1
        show_recorded(watching, name)

    with st.popover(SAYS["label"], icon=":material/forum:", key=f"chat_model-{watching.chats_chosen}"):
        st.markdown(SAYS["about"])
        for name in CHAT_RUNS:
            button(SAYS[name], name, choose, name, icon="play_circle", width="stretch")
        trace = story_trace(CHAT_RUNS[0])
        there = SAYS["here" if is_allowed(trace.target.name) else "elsewhere"]
        recorded = SAYS["recorded"].format(machine=plain(machine_in_words(trace.recorded_on.machine)))
        st.caption(f"{there} {recorded}")
