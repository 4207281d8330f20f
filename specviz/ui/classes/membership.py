"""This visitor in a class: enter, send, leave. The pages' buttons call these. No drawing but the cookies'."""

from functools import cache

import streamlit as st

from specviz.core.errors import InputError
from specviz.game.game import Plan
from specviz.service.addresses import normal_address
from specviz.service.classes.codes import read_code
from specviz.service.classes.registry import Caller, Classes
from specviz.service.classes.room import Membership
from specviz.service.classes.rounds import shared_rounds
from specviz.ui.classes.state import Attending
from specviz.ui.play.state import Playing
from specviz.ui.play.turns import new_game
from specviz.ui.session import session
from specviz.ui.shared.address import address
from specviz.ui.shared.cookies import remember, remembered
from specviz.ui.shared.engine import visitor

CLASS, BOARD = "class", "board"  # in a link: a class's code; the secret of its teacher, for another computer
STUDENT_COOKIE, TEACHER_COOKIE = "specviz_student", "specviz_teacher"
GONE = (
    "You are no longer in the class: it is over, the server was started again, or the teacher has removed you. Nothing "
    "that you sent is stored."
)


@cache
def classes() -> Classes:
    """The server's classes. Not in Streamlit's own cache, which any visitor can clear."""
    return Classes()


def attending() -> Attending:
    """This visitor's part in a class, as this browser knew it before."""
    state = session().classes
    if not state.cookies_read:
        state.cookies_read = True
        state.student = state.student or remembered(STUDENT_COOKIE)
        state.teacher = state.teacher or remembered(TEACHER_COOKIE)
    return state


def membership() -> Membership | None:
    """The class that this visitor is in as a student."""
    state = attending()
    found = classes().membership(state.student) if state.student else None
    if state.student and found is None:
        state.student, state.message = "", GONE
    return found


def take_invitation() -> None:
    """Read the code in the page's link, once."""
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
    """Hand the browser both secrets, or let it forget them."""
    state = attending()
    for name, value in ((STUDENT_COOKIE, state.student), (TEACHER_COOKIE, state.teacher)):
        if value or name in state.handed or remembered(name):
            remember(name, value, int(classes().limits.day) if value else 0)
            state.handed.add(name)


def join(code: str, name: str) -> None:
    """Enter the class with this code, and go to its game."""
    state = attending()
    before, state.message = state.student, ""
    try:
        state.student = classes().join(caller(), code, name)
    except InputError as error:
        state.message = str(error)
        return
    classes().leave(before)
    state.invited, state.asked = "", ""
    if member := membership():
        state.asked = member.code
        play_class_game()


def decline() -> None:
    """Play without the class."""
    attending().invited = attending().message = ""


def leave() -> None:
    """Leave the class; what was sent goes off the board."""
    state = attending()
    classes().leave(state.student)
    state.student = ""


def play_class_game() -> None:
    """Begin the class's game, unless this visitor plays it already."""
    member = membership()
    if member and session().play.plan != member.plan:
        new_game(member.plan)


def send_rounds(state: Playing) -> None:
    """Send the rounds of the game so far. What was sent before does not count again."""
    if secret := attending().student:
        classes().send_rounds(secret, state.plan, shared_rounds(state.plan, state.games))


def send_answers(answers: dict[int, int]) -> None:
    """Send the answers to the quiz so far: question → option."""
    if secret := attending().student:
        classes().send_answers(secret, answers)


def open_class(plan: Plan) -> None:
    """Become the teacher of a new class."""
    state = attending()
    state.message = ""
    try:
        state.teacher = classes().open(caller(), plan)
    except InputError as error:
        state.message = str(error)
        return
    state.part, state.seen, state.open = "join", -1, True


def end_class() -> None:
    """End the teacher's class."""
    state = attending()
    classes().end(state.teacher)
    state.teacher, state.open = "", False


def caller() -> Caller:
    """This visitor, as limits count them."""
    return Caller(visitor().id, normal_address(st.context.ip_address))
