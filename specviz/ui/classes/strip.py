"""What Play and Learn show of a class: the question whether to join, and which class it is."""

import streamlit as st

from specviz.service.classes.codes import shown_code
from specviz.service.classes.names import MAX_NAME
from specviz.service.classes.room import Membership
from specviz.ui.classes.membership import (
    attending,
    classes,
    decline,
    join,
    leave,
    membership,
    play_class_game,
    remember_class,
    take_invitation,
)
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices

ASKED = "Your rounds and your quiz answers then go to the teacher’s board. You need no name."
SENT = (
    "Your rounds of the class’s game and your answers to the quiz go to the teacher’s board; the first time counts. "
    "Nothing is written to a disk, and all of it is forgotten when the class ends, within a day. If you leave, what "
    "you sent goes off the board."
)


def class_chip() -> None:
    """Which class this is, with the name and the way out; nothing for visitors in no class. For a horizontal place."""
    take_invitation()
    member = membership()
    with st.container(key="class_chip", width="content"):
        if member:
            with st.popover(f"Class {shown_code(member.code)}", icon=":material/groups:"):
                show_member(member)


def class_question() -> None:
    """The question of a link with a code, or what has happened to the class. For a place above what moves."""
    state = attending()
    with st.container(key="class_question"):
        if state.invited:
            _ask(state.invited)
        elif state.message and not membership():
            notices([state.message], "info")
            st.button("OK", key="class_decline", on_click=decline)
    remember_class()


def class_game() -> None:
    """Where a student of a class plays another game: its rounds do not go to the board."""
    with st.container(key="class_other_game", horizontal=True, vertical_alignment="center"):
        member = membership()
        if member and session().play.plan != member.plan:
            st.markdown("This is not the class’s game: its rounds do not go to the board.", width="content")
            st.button("Play the class’s game", key="class_game", on_click=play_class_game)


def show_member(member: Membership) -> None:
    """The student's own place in the class."""
    st.markdown(
        f"You are in the class **{shown_code(member.code)}** as **{plain(member.name or f'student {member.number}')}**."
    )
    st.text_input(
        "Your name on the board (optional)",
        value=member.name,
        max_chars=MAX_NAME,
        key="class_rename",
        on_change=_renamed,
    )
    st.caption(SENT)
    st.button("Leave the class", key="class_leave", icon=":material/logout:", on_click=leave)


def _renamed() -> None:
    classes().rename(attending().student, str(st.session_state.class_rename))


def _ask(code: str) -> None:
    with st.form("class_join_form"):
        st.markdown(f"**Join the class {plain(code)}?** {ASKED}")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Your name on the board (optional)", max_chars=MAX_NAME, key="class_name", autocomplete="off")
            st.form_submit_button("Join the class", key="class_join", type="primary", on_click=_join_invited)
            st.form_submit_button("Not now", key="class_decline", on_click=decline)
    notices([attending().message])


def _join_invited() -> None:
    join(attending().invited, str(st.session_state.get("class_name", "")))
