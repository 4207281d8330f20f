"""Which game: kind of text, way to play, and the link for a class."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from specviz.data.permalink import MAX_SEED
from specviz.data.workloads import find_workload
from specviz.game.game import MODES, PROMPTS, ROUNDS, SETS, Plan
from specviz.ui.play.state import Playing
from specviz.ui.play.turns import new_game
from specviz.ui.session import session
from specviz.ui.shared.persistent_widgets import set_widgets

CLASS_PAGE = "pages/class.py"
MODE_LABELS = {"type": "I type", "pick": "I pick (easier)"}


def choose_game(state: Playing) -> None:
    """The choices; each one starts a new game."""
    plan = state.plan
    set_widgets({"play_mode": plan.mode, "play_set": plan.set, "play_seed": plan.seed})
    st.segmented_control(
        "How to play",
        MODES,
        format_func=lambda mode: MODE_LABELS[mode],
        key="play_mode",
        label_visibility="collapsed",
        required=True,
        on_change=_changed,
        args=(lambda plan: replace(plan, mode=st.session_state.play_mode),),
    )
    with st.popover("Game and class link", icon=":material/school:"):
        st.selectbox(
            "Kind of text",
            SETS,
            format_func=_title,
            key="play_set",
            on_change=_changed,
            args=(lambda plan: replace(plan, set=st.session_state.play_set),),
        )
        st.number_input(
            "Seed: which texts, in which order",
            min_value=0,
            max_value=MAX_SEED,
            step=1,
            key="play_seed",
            on_change=_changed,
            args=(lambda plan: replace(plan, seed=st.session_state.play_seed),),
        )
        st.markdown(
            "**For a class:** this link gives everyone the same texts and the same candidates. At the end of the game "
            "the rounds can be downloaded as CSV; nothing is stored on the server."
        )
        st.code(class_link(plan), language=None, wrap_lines=True)
        if st.button("Open or join a class with a board", key="play_class_board", icon=":material/groups:"):
            st.switch_page(CLASS_PAGE)
        st.caption(f"A game is {PROMPTS} texts of {ROUNDS} rounds. Choosing another one starts a new game.")


def _title(name: str) -> str:
    found = find_workload(name)
    return found.title if found else name


def _changed(change: Callable[[Plan], Plan]) -> None:
    plan = change(session().play.plan)
    if plan != session().play.plan:
        new_game(plan)


def class_link(plan: Plan) -> str:
    """The whole address, where the browser has sent it."""
    link = plan.link
    query = "&".join(f"{name}={value}" for name, value in link.items())
    address: Any = st.context.url or "/play"
    return f"{str(address).partition('?')[0]}?{query}"
