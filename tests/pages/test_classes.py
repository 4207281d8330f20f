"""The class board by AppTest: a teacher and students, each with a session of their own, on one server. No engine."""

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.game.game import GamePlan
from specviz.service.classes.registry import shown_code
from specviz.ui.be_the_draft.turns import BeTheDraftState, bring_back, held_text
from specviz.ui.classes import membership
from specviz.ui.classes.membership import ClassState
from tests.support.app_pages import opened_in_app as opened
from tests.support.app_pages import texts as said
from tests.support.app_pages import visit
from tests.support.fake_turns import a_turn
from tests.support.hostile import NAME
from tests.support.known import known
from tests.support.payloads import payload_of
from tests.support.seen import seen, step


def click(page: AppTest, key: str) -> AppTest:
    next(button for button in page.button if button.key == key).click().run()
    return page


def html_of(page: AppTest) -> str:
    bodies = [node.proto.body for node in page._tree if node.type == "html"]
    return "\n".join(body for body in bodies if not body.startswith("<style"))


@pytest.fixture
def teacher() -> AppTest:
    page = opened("class")
    page.number_input(key="class_seed").set_value(7)
    return click(page, "class_open")


@pytest.fixture
def code(teacher: AppTest) -> str:
    now = known(membership.classes().look(visit(teacher).of(ClassState).teacher))
    assert now.plan == GamePlan(seed=7)
    return now.code


def joined(code: str, name: str = "", page: str = "be_the_draft") -> AppTest:
    student = opened(page, **{"class": code})
    student.text_input(key="class_name").set_value(name)
    return click(student, "class_join")


def part(teacher: AppTest, name: str) -> AppTest:
    teacher.session_state["class_part"] = name
    visit(teacher).of(ClassState).part = name  # type: ignore[assignment]
    return teacher.run()


def test_a_link_asks_first_and_joins_without_a_name(teacher: AppTest, code: str) -> None:
    student = opened("be_the_draft", **{"class": code})
    assert "Join the class" in said(student)
    assert known(membership.classes().look(visit(teacher).of(ClassState).teacher)).students == ()
    click(student, "class_join")
    assert visit(student).of(BeTheDraftState).plan == GamePlan(seed=7)
    assert student.query_params["class"] == code
    assert "as **student 1**" in said(student)
    assert "0 have played" in html_of(part(teacher, "scores"))
    other = click(opened("be_the_draft", **{"class": code}), "class_decline")
    assert "Join the class" not in said(other)
    assert "class" not in other.query_params
    assert visit(other).of(BeTheDraftState).plan == GamePlan()


@pytest.mark.parametrize("forged", [False, True])
def test_rounds_that_a_tab_hands_back_must_be_signed(teacher: AppTest, code: str, forged: bool) -> None:
    played = BeTheDraftState(GamePlan(seed=7))
    played.turns.append(a_turn([" Lily", " ran"], 1, before=played.preset.text, model=2))
    held = known(held_text(played))
    student = joined(code)
    visit(student).put(BeTheDraftState(GamePlan(seed=7)))
    bring_back(visit(student), held.replace(" ran", " sat") if forged else held)
    assert len(visit(student).of(BeTheDraftState).turns) == 1, "the visitor keeps the game"
    student.run()
    assert ("The class: <b>2.00</b> tokens" in html_of(part(teacher, "scores"))) != forged
    assert ("its rounds do not go to the board" in said(student)) == forged
    signed = known(held_text(visit(student).of(BeTheDraftState))).rpartition("\n")[2]
    assert bool(signed) != forged, "it is not signed now either"


def test_a_link_that_opens_nothing_or_anothers_board_takes_no_board_from_a_teacher(
    teacher: AppTest, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sent a teacher such a link took their board away: the cookie was written over."""

    def follow(app: AppTest, secret: str) -> str:
        """As the browser hands over what stands behind the # of a teacher's link; what the page has then."""
        with monkeypatch.context() as patched:
            patched.setattr(membership, "attending", lambda: visit(app).of(ClassState))
            membership.add_board(secret)
        return html_of(app.run())

    visitor, classes = opened("class"), membership.classes()
    for secret in ("", "x", "A" * 9_999, NAME):
        assert "class-join" not in follow(visitor, secret)
        assert shown_code(code) in follow(teacher, secret)
    own, second = visit(teacher).of(ClassState).teacher, classes.open("", GamePlan())
    assert shown_code(code) in follow(teacher, second)
    assert "This browser has a board already" in said(teacher)
    assert visit(teacher).of(ClassState).teacher == own
    classes.end(own)
    assert shown_code(known(classes.look(second)).code) in follow(teacher, second)


def test_without_a_cookie_the_tab_holds(teacher: AppTest, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = payload_of(teacher.get_by_key("kept-class"))["text"]
    again = opened("class")
    assert payload_of(again.get_by_key("kept-class"))["text"] is None, "it wants what the tab has"
    state = visit(again).of(ClassState)
    monkeypatch.setattr(membership, "attending", lambda: state)
    for text in ("", "..", "x" * 1_000, "a.b.c", held):
        membership._restore(text)
        again.run()
    assert shown_code(code) in html_of(again)
    membership._restore("another.class")
    assert shown_code(code) in html_of(again.run()), "a browser that answers late changes nothing"


def test_a_guess_is_on_the_board_and_the_projector_shows_no_names(
    teacher: AppTest, code: str, snapshot: SnapshotAssertion
) -> None:
    student = joined(code, "Ada")
    joined(code, "Bob")
    state = visit(student).of(BeTheDraftState)
    state.turns.append(a_turn([" Lily", " ran"], 1, before=state.preset.text, model=2))
    student.run()
    before = seen(teacher)
    for name in ("scores", "guesses", "quiz", "students", "join"):
        assert step(before, part(teacher, name)).replace(shown_code(code), "CO-DE") == snapshot(name=name)
    click(teacher, "present")
    for name in ("scores", "guesses", "quiz", "join"):
        assert "Ada" not in (room := step(before, part(teacher, name)))
        assert room.replace(shown_code(code), "CO-DE") == snapshot(name=f"{name}, for the room")
    assert visit(teacher).of(ClassState).part != "students"
    click(teacher, "leave")
    part(teacher, "students")
    teacher.selectbox(key="class_remove_who").set_value(1).run()
    assert "Ada" not in html_of(click(teacher, "class_remove"))


def test_a_name_is_text_on_every_page_until_its_student_leaves(teacher: AppTest, code: str) -> None:
    hostile = "<b>[a](js:x) :red[x]"
    student = joined(code, hostile)
    for name in ("learn", "class", "be_the_draft"):
        student.switch_page(f"pages/{name}.py").run()
        assert "You are in the class" in said(student)
        assert [text for text in said(student).split("\n") if hostile in text and "\\" not in text] == []
    for each in ("scores", "students", "join"):
        assert "<b>[" not in html_of(part(teacher, each))
    click(student, "class_leave")
    assert visit(student).of(ClassState).student == ""
    assert "class" not in student.query_params
    assert "Nobody has joined yet" in html_of(teacher.run())
