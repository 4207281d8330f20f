"""The Learn page by AppTest: the whole story, answers, coming back, bad values in the address. No engine."""

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.data.lessons.story import quiz, steps
from specviz.ui.learn.learn_page import PARTS, LearnState
from specviz.ui.session import Session
from tests.support.app_pages import opened, texts
from tests.support.drawn import drawn
from tests.support.payloads import stage_payload_of
from tests.support.seen import Act, walk, whole


def open_page(session: Session | None = None, **link: str) -> AppTest:
    return opened("pages/learn.py", session, **link)


def place(page: AppTest) -> str:
    return " ".join("".join(page.query_params[name]) for name in ("part", "lesson", "words"))


@pytest.mark.parametrize("part", PARTS)
def test_each_part_shows_its_figures(part: str, snapshot: SnapshotAssertion) -> None:
    assert whole(open_page(part=part)) == snapshot


def test_a_wrong_answer_is_explained_and_moves_the_stage_and_the_story_leads_to_the_quiz(
    snapshot: SnapshotAssertion,
) -> None:
    wrong = {f"step-{each.name}": f"step-{each.name}-{(each.question.right + 1) % 3}" for each in steps()}
    acts = [act for answer in wrong.values() for act in (answer, "learn-next")]
    key, right = [*wrong][-1], steps()[-1].question.right
    page = open_page()
    assert walk(page, *acts[:-1], f"{key}-again", f"{key}-{right}", "learn-next") == snapshot
    assert place(page) == "quiz tree technical"


def test_the_quiz_counts_and_starts_again(snapshot: SnapshotAssertion) -> None:
    given = [(question.right + (number == 1)) % 3 for number, question in enumerate(quiz(), start=1)]
    acts: list[Act] = [f"quiz-{number}-{option}" for number, option in enumerate(given, start=1)]
    assert walk(open_page(part="quiz"), *acts, "quiz-try-again") == snapshot


@pytest.mark.parametrize(("lesson", "name"), [("7", "same"), ("theatre", "no-gain")])  # a number, an older name
def test_an_address_leads_back_to_the_step_in_plain_words(lesson: str, name: str) -> None:
    page = open_page(lesson=lesson, words="plain")
    assert (len(page.warning), place(page)) == (0, f"story {name} plain")
    assert next(step.title.plain for step in steps() if step.name == name) in texts(page)


def test_words_that_are_chosen_stay_and_are_those_of_the_stage(snapshot: SnapshotAssertion) -> None:
    page = open_page(lesson="2")
    assert walk(page, ("learn-words", "plain")) == snapshot
    assert place(page) == "story idea plain"
    (drawn_run,) = drawn(stage_payload_of(page, "learn-lesson"))
    assert "intern suggests" in str(drawn_run["rounds"])
    again = open_page(Session().put(LearnState(lesson=3, words="plain", answers={"step-acceptance": 1})))
    assert (place(again), "**Right.**" in texts(again)) == ("story acceptance plain", True)


@pytest.mark.parametrize(
    "bad",
    [{"lesson": "0"}, {"lesson": "३"}, {"lesson": "<b>" + "9" * 400}, {"words": "klingon"}, {"part": "<img src=x>"}],
)
def test_a_bad_value_in_the_address_gets_one_line_and_the_first_step(bad: dict[str, str]) -> None:
    page = open_page(**bad)
    (line,) = page.warning
    assert not [value for value in bad.values() if len(value) > 2 and value in line.value]
    assert place(page) == "story slow technical"
    page.button(key="learn-next").click().run()
    assert not page.warning
