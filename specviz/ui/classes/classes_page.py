"""The page "Class board": the way in for teacher and student, the student’s place, the teacher’s board by parts."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from specviz.core.csv_cells import safe_cell
from specviz.core.files import BROWSER
from specviz.core.texts import fill
from specviz.data.links.permalink import MAX_SEED
from specviz.data.texts import page_texts
from specviz.game.game import MODEL, MODES, SETS, GamePlan
from specviz.service.classes.board import Board, ClassPlace, answers_csv, board_of, rounds_csv
from specviz.service.classes.registry import MAX_NAME, classes, shown_code
from specviz.service.classes.room import ClassNow
from specviz.ui.be_the_draft.be_the_draft_page import set_title
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.classes import membership as own
from specviz.ui.classes.html import guesses_html, join_html, question_html, scores_html
from specviz.ui.classes.membership import BOARD, PARTS, ClassPart, ClassState, attending, end_class
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.session import session
from specviz.ui.shared import address, parts
from specviz.ui.shared.components import receive_secret
from specviz.ui.shared.job_slot import while_busy
from specviz.ui.shared.persistent_widgets import set_widgets

SAYS = page_texts("classes")
STYLES = BROWSER / "styles"


def lead() -> None:
    st.html(STYLES / "classes.css")
    if address.view() == "projector":
        st.html(STYLES / "classes_projector.css")
    receive_secret(BOARD, own.add_board)
    own.accept_invitation()
    with st.container(key="lead"):
        parts.heading(SAYS["heading"])
    parts.notices(address.unknown())


def show_class() -> None:
    state = own.attending()
    state.open = classes().changes(state.teacher) is not None
    if state.teacher and not state.open:
        state.teacher, state.message = "", SAYS["over"]
    if state.open:
        parts.notices([state.message])
        show_board(state)
    elif member := own.membership():
        with st.container(border=True, key="class_member"):
            own.show_member(member)
        with st.container(horizontal=True):
            parts.page_button(SAYS["play"], "be_the_draft", "class_to_game", "edit", type="primary")
            parts.button(SAYS["quiz"], "class_to_quiz", _open_quiz, icon="quiz", whole_page=True)
    else:
        parts.notices([state.message])
        left, right = st.columns(2, gap="large")
        with left, st.container(border=True):
            st.markdown(SAYS["join_heading"])
            with st.form("class_enter_form", border=False):
                code: parts.Options = {"key": "class_code", "max_chars": 20, "autocomplete": "off"}
                st.text_input(SAYS["code"], value=own.attending().invited, **code)
                st.text_input(SAYS["name"], max_chars=MAX_NAME, key="class_name", autocomplete="off")
                st.form_submit_button(SAYS["join"], key="class_join", type="primary", on_click=own.join)
            st.caption(SAYS["sent"])
        with right, st.container(border=True):
            _show_opening()
    own.remember_class()


def _open_quiz() -> None:
    session().of(LearnState).part, session().wanted_page = "quiz", "learn"


def _show_opening() -> None:
    plan, limits = session().of(BeTheDraftState).plan, classes().limits

    def opened() -> None:
        chosen = st.session_state
        own.open_class(GamePlan(seed=int(chosen.class_seed), set=str(chosen.class_set), mode=chosen.class_mode))

    st.markdown(SAYS["open_heading"])
    st.markdown(SAYS["opening"])
    with st.form("class_open_form", border=False):
        with st.container(horizontal=True):
            mode: parts.Options = {"format_func": lambda mode: SAYS[f"mode_{mode}"], "key": "class_mode"}
            st.selectbox(SAYS["how"], MODES, MODES.index(plan.mode), **mode)
            chosen = SETS.index(plan.set) if plan.set in SETS else 0
            st.selectbox(SAYS["set"], SETS, chosen, format_func=set_title, key="class_set")
            st.number_input(SAYS["seed"], 0, MAX_SEED, plan.seed, step=1, key="class_seed")
        st.form_submit_button(SAYS["open"], key="class_open", type="primary", on_click=opened)
    st.caption(SAYS["kept"].format(students=limits.students, day=limits.day / 3600, idle=limits.idle / 3600))


LIVE = "class_live"  # the part of the page that changes with the class
POLL_SECONDS = 2.0


def show_board(state: ClassState) -> None:
    room = address.view() == "projector"

    def table(made: Callable[[ClassNow], str]) -> str:
        now = classes().look(state.teacher)
        return made(now) if now else ""

    with st.container(key="class_head", horizontal=True, vertical_alignment="center"):
        _choose_part(state, room)
        if not room:
            with st.popover("CSV", icon=":material/download:"):
                tables = (("rounds_csv", "class-rounds", rounds_csv), ("answers_csv", "class-quiz", answers_csv))
                for label, name, made in tables:
                    parts.download(SAYS[label], partial(table, made), f"{name}.csv", key=name)
            with st.popover(SAYS["more"], icon=":material/more_horiz:"):
                st.markdown(SAYS["other_computer"])
                link = f"{address.page_address('class')}#{BOARD}={attending().teacher}"
                st.code(link, language=None, wrap_lines=True)
                st.markdown(SAYS["end_heading"])
                sure = st.checkbox(SAYS["end_sure"], key="class_end_sure")
                parts.button(SAYS["end"], "class_end", end_class, icon="stop_circle", disabled=not sure)

    @st.fragment(key=LIVE)
    def live() -> None:
        now = classes().look(state.teacher)
        state.open = now is not None
        if now is None:
            st.rerun()  # the page says that the class is over
        state.seen = now.changes
        SHOW[state.part](now, board_of(now), room)

    def nothing() -> None:
        """A look that finds nothing new draws nothing: that costs least."""

    def look() -> bool:
        changes = classes().changes(state.teacher)
        state.open = changes is not None
        return state.open and changes != state.seen

    while_busy(lambda: state.open, nothing, look, part=LIVE, every=POLL_SECONDS)
    with st.container(key="class_board"):
        live()
    with st.container(key="view_choice", horizontal=True):
        if room:
            address.leave_button()
        else:
            address.projector_button()


def _choose_part(state: ClassState, room: bool) -> None:
    shown = [part for part in PARTS if not (room and part == "students")]  # names are not for the room
    asked = st.query_params.get("part")
    if address.went_there(asked, state.written, state.asked_part):
        state.part = next((part for part in PARTS if part == asked), state.part)
    state.part, state.asked_part = state.part if state.part in shown else shown[0], asked
    if st.session_state.get("class_part") != state.part:
        set_widgets({"class_part": state.part})

    def chosen() -> None:
        state.part = st.session_state.class_part

    more: parts.Options = {"label_visibility": "collapsed", "required": True, "on_change": chosen, "key": "class_part"}
    st.segmented_control(SAYS["part"], shown, format_func=page_texts("board_parts").__getitem__, **more)
    state.written = state.part
    address.write_address({"part": state.part, **address.view_in_link()})


def _show_join(now: ClassNow, board: Board, _: bool) -> None:
    link = address.page_address("be_the_draft", **{"class": shown_code(now.code)})  # never with the teacher's secret
    typed = address.page_address("class").partition("://")[2] or "/class"  # without what a browser adds itself
    st.html(join_html(now.code, typed, link, len(now.students), board.played))
    if address.only_here():
        st.warning(SAYS["only_here"], icon=":material/info:")


def _show_scores(_: ClassNow, board: Board, room: bool) -> None:
    st.html(scores_html(board))
    if not room:
        st.caption(SAYS["scores"])


def _show_guesses(now: ClassNow, board: Board, _: bool) -> None:
    if not board.places:
        st.html(scores_html(board))
        return

    def title(place: ClassPlace) -> str:
        before = f"{now.plan.prompts[place.text].text}{place.before}".replace("\n", " ")
        end = before if len(before) <= 40 else f"…{before[-40:]}"
        return fill(SAYS["text_here"], {"number": place.text + 1, "before": end, "count": place.students})

    places = {(each.text, each.after, each.before): each for each in board.places}
    titles: parts.Options = {"format_func": lambda key: title(places[key]), "key": "class_place"}
    chosen = st.selectbox(SAYS["text_place"], list(places), **titles)
    rare = st.toggle(SAYS["rare"], key="class_rare")
    st.html(guesses_html(now.plan, places.get(chosen, board.places[0]), rare=rare))


def _show_quiz(_: ClassNow, board: Board, room: bool) -> None:
    show_right = st.toggle(SAYS["show_right"], key="class_right")
    questions = [*enumerate(board.questions)]
    if room:
        numbers = [SAYS["question_number"].format(number=at + 1) for at in range(len(questions))]
        numbered: parts.Options = {"format_func": numbers.__getitem__, "key": "class_question_number"}
        questions = [questions[st.selectbox(SAYS["question"], range(len(questions)), **numbered) or 0]]
    st.html("".join(question_html(*question, show_right=show_right) for question in questions))


def _show_students(now: ClassNow, board: Board, _: bool) -> None:
    if not board.scores:
        st.html(scores_html(board))
        return
    rows = [
        {
            SAYS["column_student"]: score.student.number,
            SAYS["column_name"]: safe_cell(score.student.name) or parts.NOT_MEASURED,
            SAYS["column_rounds"]: score.mine.rounds,
            SAYS["column_accepted"]: parts.rate_of(score.mine),
            "tokens per target call": parts.per_call(score.mine),
            MODEL: parts.per_call(score.model),
            SAYS["column_quiz"]: SAYS["right_of"].format(right=score.right, answered=len(score.student.answers)),
        }
        for score in board.scores
    ]
    parts.data_table(rows, "class_students")
    names = {each.number: each.name or SAYS["student"].format(number=each.number) for each in now.students}
    labels = {number: f"{number}: {name}" for number, name in names.items()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        named: parts.Options = {"format_func": labels.__getitem__, "key": "class_remove_who"}
        number = st.selectbox(SAYS["remove_who"], list(labels), None, **named)
        teacher, nobody = attending().teacher, number is None
        parts.button(SAYS["remove"], "class_remove", classes().remove, teacher, number, disabled=nobody)


SHOW: dict[ClassPart, Callable[[ClassNow, Board, bool], None]] = {
    "join": _show_join,
    "scores": _show_scores,
    "guesses": _show_guesses,
    "quiz": _show_quiz,
    "students": _show_students,
}
