"""Classes and their board without a browser: codes, names, limits, time, the lock, and whatever somebody may type."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from specviz.core.errors import InputError
from specviz.core.metrics import Counts
from specviz.data.lessons.story import quiz
from specviz.game.game import PROMPTS, ROUNDS, GamePlan
from specviz.service.classes import registry
from specviz.service.classes.board import Board, answers_csv, board_of, rounds_csv
from specviz.service.classes.registry import MAX_NAME, Classes, tidy_name
from specviz.service.classes.room import ClassNow, SharedRound, Student
from specviz.ui.classes.html import guesses_html, join_html, qr_code, question_html, scores_html
from tests.support.hostile import ALL_NAMES, NAME
from tests.support.html import Html
from tests.support.known import known

PLAN = GamePlan(seed=5)
TEACHER = "8.8.8.8"


class Server:
    """One class is open, and a student is in it. A test moves the clock."""

    def __init__(self) -> None:
        self.now = 0.0
        self.classes = Classes(self.clock)
        self.teacher = self.classes.open(TEACHER, PLAN)
        self.code = self.seen().code
        self.student = self.classes.join(self.code)

    def clock(self) -> float:
        assert self.classes._lock.locked(), "two visitors at once would lose something"
        return self.now

    def seen(self) -> ClassNow:
        return known(self.classes.look(self.teacher))


@pytest.fixture
def server() -> Server:
    return Server()


def counts(emitted: int) -> Counts:
    return Counts(rounds=1, drafted=3, accepted=emitted - 1, emitted=emitted)


def a_round(text: int = 0, number: int = 1, place: int = 0, *, word: str = "Lily", mine: int = 2) -> SharedRound:
    said = (f"{word} ran", word, word == "Lily", "Lily. She")
    return SharedRound(text, number, place, "x" * place, *said, counts(mine), counts(2), "Lily")


CODES: dict[str, str | None] = dict.fromkeys(("ACDEF-GHJKM", "a c-d_e.f–g h j k m"), "ACDEFGHJKM")
CODES |= dict.fromkeys(("ACDEF-GHJK", "ACDEF-GHJK0", "ACDEF-GHJKЯ", "A" * 1_000_000))
NAMES = {
    "  Ada \t Lovelace \n": "Ada Lovelace",
    "\x00\x07\x1b[31mAda": "[31mAda",
    "\u202eZo\u0308e\u2066": "Zöe",
    "A" + "\u0301" * 50: "Á" + "\u0301" * 2,
    "<script>alert(1)</script>": "<script>alert(1)</script",
}


def test_a_code_is_read_as_people_type_it_and_a_name_is_short_and_only_text() -> None:
    assert {typed: registry.read_code(typed) for typed in CODES} == CODES
    assert {typed: tidy_name(typed) for typed in NAMES} == NAMES


@given(st.text())
def test_any_name_becomes_short_text_on_one_line_and_stays_so(typed: str) -> None:
    name = tidy_name(typed)
    assert len(name) <= MAX_NAME
    assert name == name.strip() == tidy_name(name)
    assert not any(unicodedata.category(char)[0] == "C" or char in "\n\u2028\u2029" for char in name)


def test_the_teachers_right_is_another_secret_than_the_code(server: Server) -> None:
    classes, code = server.classes, server.code
    assert len({server.teacher, code, server.student}) == 3
    assert min(len(server.teacher), len(server.student)) >= 32
    for other in (code, registry.shown_code(code), server.student, "", registry.new_secret()):
        assert classes.look(other) is None
        classes.end(other)
        classes.remove(other, 1)
    assert len(server.seen().students) == 1


def test_students_join_with_the_code_and_a_teacher_removes_one(server: Server) -> None:
    classes, code = server.classes, server.code
    ada = classes.join(registry.shown_code(code).lower(), "Ada")
    assert [student.name for student in server.seen().students] == ["", "Ada"]
    member = known(classes.membership(ada))
    assert (member.code, member.plan, member.number, member.name) == (code, PLAN, 2, "Ada")
    classes.rename(server.student, "\u202eBob")
    assert server.seen().students[0].name == "Bob"
    third = classes.join(code)
    for number in (2, 99):
        classes.remove(server.teacher, number)
    assert [student.number for student in server.seen().students] == [1, 3]
    assert server.seen().changes == 5, "the board is drawn again for each of these"
    assert [classes.membership(secret) is None for secret in (server.student, ada, third)] == [False, True, False]


def test_who_leaves_takes_everything_along_and_an_ended_class_leaves_nothing(server: Server) -> None:
    classes, student = server.classes, server.student
    classes.send_rounds(student, PLAN, [a_round()])
    classes.leave(student)
    assert server.seen().students == ()
    assert classes.membership(student) is None
    second = classes.join(server.code)
    assert [student.number for student in server.seen().students] == [2], "a number is given once"
    classes.end(server.teacher)
    assert classes.look(server.teacher) is classes.changes(server.teacher) is classes.membership(second) is None
    assert classes._rooms == {}
    for gone in (student, second):  # nothing of it has any effect
        classes.send_rounds(gone, PLAN, [a_round()])
        classes.send_answers(gone, {0: 0})
        classes.rename(gone, "Ada")
        classes.leave(gone)
    classes.end(server.teacher)


def open_all(classes: Classes, count: int, first: int = 1) -> list[str]:
    """Classes from as few public addresses as can have so many."""
    each = classes.limits.classes_of_one_address
    return [classes.open(f"8.8.{first + number // each}.8", PLAN) for number in range(count)]


def test_the_limits_of_a_server_and_of_a_class(server: Server) -> None:
    classes, limits = server.classes, server.classes.limits
    open_all(classes, limits.classes - 1)
    with pytest.raises(InputError, match="no place for another class"):
        classes.open("9.9.9.9", PLAN)
    classes.end(server.teacher)
    code = known(classes.look(classes.open(TEACHER, PLAN))).code
    for _ in range(limits.students):
        classes.join(code)
    with pytest.raises(InputError, match="There is no open class with this code"):
        classes.join(server.code)
    with pytest.raises(InputError, match="This class is full: it has 60 students"):
        classes.join(code)


@pytest.mark.parametrize(("used", "over"), [([], 4), ([3, 6, 9, 12, 15, 18, 21, 24], 24)], ids=["unused", "a day old"])
def test_a_class_is_over_and_forgotten_in_time(server: Server, used: list[int], over: int) -> None:
    for hour in used:
        server.now = 3600.0 * hour - 1
        assert server.seen()
    for seconds, rooms in ((-1, 1), (0, 0)):
        server.now = 3600.0 * over + seconds
        server.classes.forget_old()
        assert len(server.classes._rooms) == rooms
    assert server.classes.look(server.teacher) is None


def test_rounds_count_once_and_only_of_the_classs_own_game(server: Server) -> None:
    classes, teacher, student = server.classes, server.teacher, server.student
    for other in (GamePlan(seed=6), GamePlan(seed=5, set="prose"), GamePlan(seed=5, mode="pick")):
        classes.send_rounds(student, other, [a_round()])
    assert server.seen().students[0].rounds == {}
    first, second = a_round(), a_round(number=2, place=8)
    classes.send_rounds(student, PLAN, [first, replace(first, word="Tom")])
    before = classes.changes(teacher)
    classes.send_rounds(student, PLAN, [replace(first, word="Tom")])
    classes.send_rounds(student, PLAN, [replace(first, number=3)])  # the same place again, in another round
    assert classes.changes(teacher) == before, "nothing new on the board"
    classes.send_rounds(student, PLAN, [first, second])
    classes.send_answers(student, {0: 1, 3: 0})
    classes.send_answers(student, {0: 2})
    (seen_student,) = server.seen().students
    assert list(seen_student.rounds.values()) == [first, second]
    assert seen_student.answers == {0: 1, 3: 0}
    # what one student can send is bounded
    places = product(range(-1, PROMPTS + 2), range(-1, ROUNDS + 9))
    classes.send_rounds(student, PLAN, [a_round(text, number, 100 * number) for text, number in places])
    classes.send_answers(student, {number: option for number in range(-3, 99) for option in range(9)})
    classes.send_answers(student, {number: 0 for number in range(-3, 99)})
    (seen_student,) = server.seen().students
    assert len(seen_student.rounds) == PROMPTS * ROUNDS
    assert len(seen_student.answers) == len(quiz())


def test_on_a_full_server_a_class_without_recent_work_makes_room_and_one_at_work_never(server: Server) -> None:
    """Before: forty classes from four addresses, each with one student and one answer, held all places for a day."""
    classes, limits = server.classes, server.classes.limits
    forged = open_all(classes, limits.classes - 1)
    for secret in forged:
        classes.send_answers(classes.join(known(classes.look(secret)).code), {0: 1})
    students = [classes.join(server.code) for _ in range(24)]
    with pytest.raises(InputError, match="no place for another class"):
        classes.open("9.9.9.9", PLAN)  # a class has time to begin
    for student in students[:4]:
        server.now += 20 * 60
        assert all(map(classes.look, [server.teacher, *forged])), "looking is no work"
        classes.send_answers(student, {0: 0})
    new = open_all(classes, limits.classes - 1, first=100)
    assert not any(map(classes.look, forged)), "each gave its place, the longest unchanged first"
    assert all(map(classes.look, [server.teacher, *new]))
    with pytest.raises(InputError, match="no place for another class"):
        classes.open("9.9.9.9", PLAN)  # those are new, and the class at work is not asked
    assert classes.membership(students[0])


@pytest.mark.parametrize("addresses", [["8.8.4.4"], ["", "192.168.0.7", "10.0.0.1", "127.0.0.1"]])
def test_an_address_has_its_share_and_all_that_are_not_public_have_one_together(addresses: list[str]) -> None:
    """Before: who came by an unknown or a private address could take all places."""
    now = 0.0
    classes = Classes(lambda: now)
    most = classes.limits.classes_of_one_address if len(addresses) == 1 else classes.limits.classes_of_others
    opened = [classes.open(addresses[number % len(addresses)], PLAN) for number in range(most)]
    with pytest.raises(InputError, match="no place for another class"):
        classes.open(addresses[0], PLAN)
    assert len(opened) < classes.limits.classes
    other = classes.open("9.9.9.9", PLAN)
    now += classes.limits.safe
    classes.open(addresses[-1], PLAN)
    assert classes.look(opened[0]) is None, "its own oldest makes room"
    assert all(map(classes.look, [other, *opened[1:]]))


HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil", "a\nb", "*md* `x`", NAME]
OURS = {"section", "div", "p", "b", "bdi", "span", "table", "caption", "tr", "th", "td", "h2", "img"}


def a_class(*rounds: list[SharedRound], name: str = "@s{}") -> ClassNow:
    """Each student with these rounds and an answer."""
    students = [
        Student(number, name.format(number), {one.key: one for one in own}, {0: number % 3 if number < 6 else 1})
        for number, own in enumerate(rounds, start=1)
    ]
    return ClassNow("ACDEFGHJKM", PLAN, tuple(students), changes=1)


def played(word: str, mine: int, rounds: int) -> list[SharedRound]:
    return [a_round(0, r, 10 * (r - 1), word=word, mine=mine) for r in range(1, rounds + 1)]


# Better than wren-nano, even and worse; of one word that nobody else wrote; of another text, and of one that rounding
# changed, so that the same place is another; who has only joined.
CLASS = a_class(
    *[played("Lily", 3, 3), played("Tom", 2, 2), played("Anna", 1, 2), played("Anna", 1, 1), played("=rude", 4, 1)],
    *[[a_round(1, 2, 9)], [replace(a_round(0, 2, 9), before="y" * 9)], [replace(a_round(0, 3, 9), written="+1")], []],
)
SHOWN: dict[str, Callable[[Board], str]] = {
    "scores": scores_html,
    "nobody": lambda _: scores_html(board_of(a_class())),
    "before the first round": lambda _: scores_html(board_of(a_class([]))),
    "guesses": lambda board: guesses_html(PLAN, board.places[0], rare=False),
    "rare guesses too": lambda board: guesses_html(PLAN, board.places[0], rare=True),
    "a question": lambda board: question_html(0, board.questions[0], show_right=False),
    "a question with its answer": lambda board: question_html(0, board.questions[0], show_right=True),
    "places": lambda board: "\n".join(map(str, board.places)),
    "counts": lambda board: f"{[board.count_ahead(sign) for sign in (1, 0, -1)]}, {board.played}, {board.mine}",
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_board_shows_each_student_and_place_once(name: str, snapshot: SnapshotAssertion) -> None:
    assert re.sub(r"(?=<(?:tr|p|h2)\b)", "\n", SHOWN[name](board_of(CLASS))) == snapshot


def test_the_tables_hold_every_round_and_every_answer_and_no_formula(snapshot: SnapshotAssertion) -> None:
    assert rounds_csv(CLASS) + answers_csv(CLASS) == snapshot


@pytest.mark.parametrize("text", [*HOSTILE, *ALL_NAMES])
def test_what_students_write_stays_text_on_the_board(text: str) -> None:
    one = replace(a_round(), word=text, before=text, place=len(text), written=text, model_word=text)
    board = board_of(a_class([one], [one], name=text.replace("{", "(")))
    page = Html(guesses_html(PLAN, board.places[0], rare=True))
    assert page.tags <= OURS
    assert "\u202e" not in page.text
    assert "".join(c for c in text if c.isprintable())[:20].strip() in page.text.replace("↵", "")


def test_a_qr_code_holds_a_link_as_squares_only() -> None:
    link = 'http://192.168.1.20:8501/be_the_draft?class=ACDEF-GHJKM"><script>'
    html = join_html("ACDEFGHJKM", '192.168.1.20:8501/class"><script>', link, 3, 1)
    assert Html(html).tags <= OURS
    assert "ACDEF-GHJKM" in Html(html).text
    assert re.search(r'<img class="qr" src="data:image/svg', html)
    assert qr_code("x" * 5_000) == ""
