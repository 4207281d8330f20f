"""This visitor in a class: enter, send, leave, and what Play and Learn show of it."""

from dataclasses import dataclass, field
from typing import Literal, get_args

import streamlit as st

from specviz.core.errors import InputError
from specviz.data.texts import page_texts
from specviz.game.game import GamePlan
from specviz.service.classes.registry import MAX_NAME, classes, read_code, shown_code
from specviz.service.classes.room import Membership, shared_rounds
from specviz.service.sessions import normal_address
from specviz.ui.be_the_draft.turns import BeTheDraftState, new_game
from specviz.ui.session import session
from specviz.ui.shared.address import address
from specviz.ui.shared.components import keep, remember, remembered
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.parts import Options, button, notices

ClassPart = Literal["join", "scores", "guesses", "quiz", "students"]
PARTS: tuple[ClassPart, ...] = get_args(ClassPart)


@dataclass(slots=True)
class ClassState:
    """One visitor. The secrets are also in cookies and in the browser tab, so that a reload changes nothing."""

    student: str = ""  # the secret of a student; empty in no class
    teacher: str = ""  # the secret of a class's teacher
    cookies_read: bool = False
    handed: set[str] = field(default_factory=set)  # the cookies that the browser was given in this visit
    held: bool = False  # whether the tab was given the secrets in this visit
    asked: str = ""  # the code in the last link that was read
    invited: str = ""  # ... while the visitor has not answered yet
    message: str = ""  # why a class was not opened or joined, or that it is over
    part: ClassPart = "join"  # of the board
    written: str = ""  # the part that the page's address was given last
    asked_part: str | None = None  # by the address that the browser sent last
    seen: int = -1  # how many changes the board on the teacher's screen has
    open: bool = False  # the teacher's class, when it was last looked at


SAYS = page_texts("classes")

CLASS, BOARD = "class", "board"  # in a link: a class's code; the secret of its teacher, for another computer
STUDENT_COOKIE, TEACHER_COOKIE = "specviz_student", "specviz_teacher"
BETWEEN = "."  # two secrets: none has it
MOST_SECRET = 64  # characters


def attending() -> ClassState:
    state = session().of(ClassState)
    if not state.cookies_read:
        state.cookies_read = True
        state.student = state.student or remembered(STUDENT_COOKIE)
        state.teacher = state.teacher or remembered(TEACHER_COOKIE)
    return state


def membership() -> Membership | None:
    state = attending()
    found = classes().membership(state.student) if state.student else None
    if state.student and found is None:
        state.student, state.message = "", SAYS["gone"]
    return found


def accept_invitation() -> None:
    state = attending()
    asked = (address().get(CLASS) or [""])[-1][:40]
    if asked and asked != state.asked:
        state.asked, member = asked, membership()
        state.invited = "" if member and member.code == read_code(asked) else asked


def class_in_link() -> dict[str, str]:
    """What the page's address says of the class, so that a reload without cookies asks again."""
    member = membership()
    code = member.code if member else attending().invited
    return {CLASS: code} if code else {}


def remember_class() -> None:
    state = attending()
    # A proxy may pass only cookies that it knows. Then a reload has what the tab holds.
    secrets = (state.student, state.teacher)
    state.held = state.held or any(secrets)
    nothing = "" if state.held else None  # forget it, or ask for what is there
    keep("class", BETWEEN.join(secrets) if any(secrets) else nothing, _restore)
    for name, value in ((STUDENT_COOKIE, state.student), (TEACHER_COOKIE, state.teacher)):
        if value or name in state.handed or remembered(name):
            remember(name, value, int(classes().limits.day) if value else 0)
            state.handed.add(name)


def _restore(text: str) -> None:
    state, secrets = attending(), text.split(BETWEEN)
    joined_since = state.student or state.teacher  # a slow browser answers late
    if len(secrets) == 2 and max(map(len, secrets)) <= MOST_SECRET and not joined_since:
        state.student, state.teacher = secrets


def add_board(secret: str) -> None:
    """Take the board of a teacher's link, unless this browser has one already: its secret would be lost."""
    state, rooms = attending(), classes()
    if rooms.changes(secret) is None or secret == state.teacher:
        return
    if rooms.changes(state.teacher) is None:
        state.teacher = secret
    else:
        state.message = SAYS["one_board"]


def join(code: str | None = None) -> None:
    """Enter the class with this code, or with the one that was typed, and go to its game."""
    state, typed = attending(), st.session_state
    before, state.message = state.student, ""
    try:
        state.student = classes().join(code or str(typed.get("class_code", "")), str(typed.get("class_name", "")))
    except InputError as error:
        state.message = str(error)
        return
    classes().leave(before)
    member, state.invited = membership(), ""
    state.asked = member.code if member else ""
    play_class_game()


def decline() -> None:
    attending().invited = attending().message = ""


def leave() -> None:
    """Leave the class; what was sent goes off the board."""
    state = attending()
    classes().leave(state.student)
    state.student = ""


def play_class_game() -> None:
    if (member := membership()) and not session().of(BeTheDraftState).is_game_of(member.plan):
        new_game(session(), member.plan)


def send_rounds(state: BeTheDraftState) -> None:
    """Send the rounds of the game so far. What was sent before does not count again."""
    if state.ours and (secret := attending().student):
        classes().send_rounds(secret, state.plan, shared_rounds(state.plan, state.games))


def send_answers(answers: dict[int, int]) -> None:
    if secret := attending().student:
        classes().send_answers(secret, answers)


def open_class(plan: GamePlan) -> None:
    state = attending()
    state.message = ""
    try:
        state.teacher = classes().open(normal_address(st.context.ip_address), plan)
    except InputError as error:
        state.message = str(error)
        return
    state.part, state.seen, state.open = "join", -1, True


def end_class() -> None:
    state = attending()
    classes().end(state.teacher)
    state.teacher, state.open, state.message = "", False, ""


def class_chip() -> None:
    """Which class this is, with the name and the way out; nothing for visitors in no class. For a horizontal place."""
    accept_invitation()
    member = membership()
    with st.container(key="class_chip", width="content"):
        if member:
            with st.popover(SAYS["chip"].format(code=shown_code(member.code)), icon=":material/groups:"):
                show_member(member)


def class_question() -> None:
    """The question of a link with a code, or what has happened to the class. For a place above what moves."""
    state = attending()
    with st.container(key="class_question"):
        if state.invited:
            with st.form("class_join_form"):
                st.markdown(SAYS["join_question"].format(code=plain(state.invited), asked=SAYS["asked"]))
                with st.container(horizontal=True, vertical_alignment="bottom"):
                    named: Options = {"max_chars": MAX_NAME, "key": "class_name", "autocomplete": "off"}
                    st.text_input(SAYS["name"], **named)
                    enter: Options = {"type": "primary", "on_click": join, "args": (state.invited,)}
                    st.form_submit_button(SAYS["join"], key="class_join", **enter)
                    st.form_submit_button(SAYS["not_now"], key="class_decline", on_click=decline)
            notices([state.message])
        elif state.message and not membership():
            notices([state.message], "info")
            button("OK", "class_decline", decline)
    remember_class()


def class_game() -> None:
    """Where a student of a class plays another game: its rounds do not go to the board."""
    with st.container(key="class_other_game", horizontal=True, vertical_alignment="center"):
        if (member := membership()) and not session().of(BeTheDraftState).is_game_of(member.plan):
            st.markdown(SAYS["other_game"], width="content")
            button(SAYS["play"], "class_game", play_class_game)


def show_member(member: Membership) -> None:
    name = plain(member.name or SAYS["student"].format(number=member.number))
    st.markdown(SAYS["member"].format(code=shown_code(member.code), name=name))

    def renamed() -> None:
        classes().rename(attending().student, str(st.session_state.class_rename))

    more: Options = {"max_chars": MAX_NAME, "key": "class_rename", "on_change": renamed}
    st.text_input(SAYS["name"], value=member.name, **more)
    st.caption(SAYS["sent"])
    button(SAYS["leave"], "class_leave", leave, icon="logout")
