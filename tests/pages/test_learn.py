"""The Learn page by AppTest: the whole story, answers, coming back, bad values in the address. No engine."""

from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.texts import Words, fill
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.story import quiz, steps
from specviz.data.measured.batches import pass_shares, recorded_batches
from specviz.ui.learn.learn_page import LearnState
from specviz.ui.session import Session
from tests.support.app_pages import opened, texts
from tests.support.drawn import drawn
from tests.support.payloads import stage_payload_of


def open_page(**link: str) -> AppTest:
    return opened("pages/learn.py", **link)


def diagram_of(page: AppTest) -> Any:
    return stage_payload_of(page, "learn-lesson")["diagram"]


def place(page: AppTest) -> str:
    given = [page.query_params[name] for name in ("part", "lesson", "words")]
    return " ".join(value if isinstance(value, str) else value[0] for value in given)


def answer(page: AppTest, key: str, option: int) -> AppTest:
    return page.button(key=f"{key}-{option}").click().run()


def test_the_whole_story_step_by_step_to_the_quiz() -> None:
    """Wrong and right answers are explained and move the stage."""
    page = open_page()
    for number, step in enumerate(steps(), start=1):
        assert place(page) == f"story {step.name} technical"
        assert f"{number}. {step.title.technical}" in texts(page)
        assert (diagram_of(page)["step"], diagram_of(page)["focus"]) == (step.playhead(False), step.focus)
        facts, question = facts_of(step.trace), step.question
        wrong = (question.right + 1) % len(question.options)
        answer(page, f"step-{step.name}", wrong)
        for option in (wrong, question.right):
            assert fill(question.options[option].meaning.technical, facts) in texts(page)
        assert "Not quite." in texts(page)
        assert diagram_of(page)["step"] == step.playhead(True)
        page.button(key=f"step-{step.name}-again").click().run()
        answer(page, f"step-{step.name}", question.right)
        assert "**Right.**" in texts(page)
        assert "Not quite." not in texts(page)
        page.button(key="learn-next").click().run()
    assert place(page) == "quiz tree technical"
    assert page.button(key="quiz-1-0")


@pytest.mark.parametrize("words", get_args(Words))
def test_the_lessons_of_a_pass_and_of_many_texts_hand_what_was_measured_to_their_pictures(words: Words) -> None:
    study = recorded_batches()
    length, most = study.draft_lengths[-1], study.batches[-1]
    together = study.at(most, length)
    assert diagram_of(open_page(lesson="together", words=words))["batch"] == {
        "texts": 16,
        "tokens": length + 1,
        "alone": study.at(1, length).verification.value,
        "together": together.verification.value,
        "empty": together.empty_places,
    }
    passes = diagram_of(open_page(lesson="arithmetic", words=words))["passes"]
    drawn = [(each["dtype"], each["tokens"]) for each in passes["passes"]]
    assert (passes["tokens"], drawn) == (5, [(dtype, n) for dtype in ("float32", "bfloat16") for n in (1, 5)])
    for each in passes["passes"]:
        whole = pass_shares().find_pass(each["dtype"], each["tokens"]).ms["whole"].median
        assert sum(each["ms"]) == pytest.approx(whole, rel=0.05)  # medians of parts


@pytest.mark.parametrize(("lesson", "name"), [("7", "same"), ("theatre", "no-gain")])  # a number, an older name
def test_an_address_leads_back_to_the_step_in_plain_words(lesson: str, name: str) -> None:
    page = open_page(lesson=lesson, words="plain")
    assert (len(page.warning), place(page)) == (0, f"story {name} plain")
    assert next(step.title.plain for step in steps() if step.name == name) in texts(page)
    page = open_page(lesson="2")
    page.button_group(key="learn-words").set_value("plain").run()
    assert (place(page), diagram_of(page)["words"]) == ("story idea plain", "plain")
    (drawn_run,) = drawn(stage_payload_of(page, "learn-lesson"))
    assert "intern suggests" in str(drawn_run["rounds"])
    learning = LearnState(lesson=3, words="plain", answers={"step-acceptance": 1})
    again = opened("pages/learn.py", Session().put(learning))
    assert place(again) == "story acceptance plain"
    assert "**Right.**" in texts(again)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lesson", value) for value in ("0", "३", "<script>" + "9" * 400)),
        ("words", "klingon"),
        ("part", "<img src=x>"),
    ],
)
def test_a_bad_value_in_the_address_gets_one_line_and_the_first_step(name: str, value: str) -> None:
    page = open_page(**{name: value})
    assert len(page.warning) == 1
    assert len(value) < 3 or value not in page.warning[0].value
    assert place(page) == "story slow technical"
    page.button(key="learn-next").click().run()
    assert not page.warning


def test_the_quiz_explains_at_once_counts_and_starts_again() -> None:
    page = open_page(part="quiz")
    for number, question in enumerate(quiz(), start=1):
        wrong = number == 1
        chosen = (question.right + 1) % 3 if wrong else question.right
        answer(page, f"quiz-{number}", chosen)
        assert question.options[chosen].meaning.technical in texts(page)
    assert f"**{len(quiz()) - 1} of {len(quiz())} right.**" in texts(page)
    page.button(key="quiz-try-again").click().run()
    assert "right so far" not in texts(page)
    assert page.button(key="quiz-1-0")
