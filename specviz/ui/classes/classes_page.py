"""The page "Class board": the way in for a teacher and for a student, the student's place, the teacher's board."""

import streamlit as st

from specviz.core.files import ASSETS
from specviz.data.permalink import MAX_SEED
from specviz.data.texts import page_texts
from specviz.game.game import MODES, SETS, Plan
from specviz.service.classes.registry import MAX_NAME, shown_code
from specviz.service.classes.room import Membership
from specviz.ui.classes import membership as own
from specviz.ui.classes.board import show_board
from specviz.ui.classes.classes_state import Attending
from specviz.ui.play.final import set_title
from specviz.ui.session import session
from specviz.ui.shared.address import unknown_view, view
from specviz.ui.shared.parts import Options, heading, notices

SAYS = page_texts("classes")

STYLES = ASSETS / "classes"
GAME_PAGE, LEARN_PAGE = "pages/play.py", "pages/learn.py"


def lead() -> None:
    st.html(STYLES / "page.css")
    if view() == "projector":
        st.html(STYLES / "projector.css")
    if secret := st.query_params.get(own.BOARD):  # a teacher's link: a projector may show the address
        own.take_board(secret)
        del st.query_params[own.BOARD]
    own.take_invitation()
    with st.container(key="lead"):
        heading("**Class board**: the rounds and the quiz answers of a class, on one page.")
    notices([unknown_view()])


def show_class() -> None:
    state = own.attending()
    state.open = own.classes().changes(state.teacher) is not None
    if state.teacher and not state.open:
        state.teacher, state.other, state.message = state.other, "", SAYS["over"]
        state.open = own.classes().changes(state.teacher) is not None
    if state.open:
        _offer_other_board(state)
        show_board(state)
    elif member := own.membership():
        _show_student(member)
    else:
        notices([state.message])
        left, right = st.columns(2, gap="large")
        with left, st.container(border=True):
            _show_joining()
        with right, st.container(border=True):
            _show_opening()
    own.remember_class()


def _offer_other_board(state: Attending) -> None:
    other = own.classes().look(state.other)
    with st.container(key="class_boards", horizontal=True, vertical_alignment="center"):
        notices([state.message])
        if other and view() != "projector":
            code = shown_code(other.code)
            st.markdown(f"This browser also has the board of the class **{code}**. Both stay open.", width="content")
            st.button("Show that board", key="class_other", icon=":material/swap_horiz:", on_click=own.change_board)


def _show_student(member: Membership) -> None:
    with st.container(border=True, key="class_member"):
        own.show_member(member)
    with st.container(horizontal=True):
        if st.button("Play the class’s game", key="class_to_game", type="primary", icon=":material/edit:"):
            st.switch_page(GAME_PAGE)
        if st.button("Answer the quiz", key="class_to_quiz", icon=":material/quiz:"):
            session().learn.part = "quiz"
            st.switch_page(LEARN_PAGE)


def _show_joining() -> None:
    st.markdown("## Join a class")
    with st.form("class_enter_form", border=False):
        code: Options = {"key": "class_code", "max_chars": 20, "autocomplete": "off"}
        st.text_input("Code of the class", value=own.attending().invited, **code)
        st.text_input("Your name on the board (optional)", max_chars=MAX_NAME, key="class_name", autocomplete="off")
        st.form_submit_button("Join the class", key="class_join", type="primary", on_click=own.join)
    st.caption(SAYS["sent"])


def _show_opening() -> None:
    plan, limits = session().play.plan, own.classes().limits
    st.markdown("## Open a class")
    st.markdown(SAYS["opening"])
    with st.form("class_open_form", border=False):
        with st.container(horizontal=True):
            titles = {"type": "they type", "pick": "they pick (easier)"}.__getitem__
            st.selectbox("How to play", MODES, MODES.index(plan.mode), format_func=titles, key="class_mode")
            st.selectbox("Kind of text", SETS, SETS.index(plan.set), format_func=set_title, key="class_set")
            st.number_input("Seed: which texts", 0, MAX_SEED, plan.seed, step=1, key="class_seed")
        st.form_submit_button("Open a class", key="class_open", type="primary", on_click=_open)
    hours = {"day": limits.day / 3600, "idle": limits.idle / 3600, "empty": limits.empty / 60}
    st.caption(SAYS["kept"].format(students=limits.students, **hours))


def _open() -> None:
    chosen = st.session_state
    own.open_class(Plan(int(chosen.class_seed), str(chosen.class_set), chosen.class_mode))
