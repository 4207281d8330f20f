"""The Learn page by AppTest: the whole story, answers, coming back, bad values in the address. No engine."""

from pathlib import Path
from typing import Any, get_args

import pytest
from streamlit.testing.v1 import AppTest

from specviz.core.texts import Words, fill
from specviz.data.lessons import recorded_runs
from specviz.data.lessons.facts import facts_of
from specviz.data.lessons.family import family
from specviz.data.lessons.questions import faq
from specviz.data.lessons.recorded_runs import METHOD_RUNS
from specviz.data.lessons.roofline import published_peaks, roofline
from specviz.data.lessons.story import quiz, steps
from specviz.data.measured.batches import pass_shares, recorded_batches
from specviz.ui.learn.learn_state import LearnState
from specviz.ui.learn.questions import href
from specviz.ui.session import Session
from tests.support.app_pages import opened, texts
from tests.support.drawn import drawn
from tests.support.payloads import payload_of, stage_payload_of


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


def test_a_text_in_paragraphs_is_shown_in_paragraphs_and_explains_a_word_once() -> None:
    page = open_page(lesson="stop")
    (shown,) = (html.proto.body for html in page.get("html") if "explains" in html.proto.body)
    assert shown.count('<p class="explains">') == shown.count("</p>") == 2
    assert shown.count('id="tip-step-stop-target-model"') <= 1


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
    again = opened("pages/learn.py", Session(learn=learning))
    assert place(again) == "story acceptance plain"
    assert "**Right.**" in texts(again)


def test_a_press_before_the_browser_has_received_the_new_address_counts_too() -> None:
    """Before: the address of the step before, sent once more, led back there."""
    page = open_page()
    before = dict(page.query_params)
    for name in ("idea", "round"):
        page.query_params.update(before)
        page.button(key="learn-next").click().run()
        assert place(page) == f"story {name} technical"
    page.run()
    page.query_params.update(before)
    assert place(page.run()) == "story slow technical", "a way back is still one"


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


@pytest.mark.parametrize("words", get_args(Words))
def test_every_question_method_and_word_is_on_its_part_with_the_source_of_its_figures(words: Words) -> None:
    page = open_page(part="why", words=words)
    shown = texts(page)
    assert not [group for group in page.button_group if group.key == "learn-words"], "one voice"
    assert all(entry.question in shown for entry in faq().questions)
    entries = [entry for column in (0, 1) for entry in faq().questions[column::2]]
    links = [(link.proto.label, link.proto.url) for link in page.get("link_button")]
    assert links == [(entry.run_it, href(entry)) for entry in entries]
    assert "Figures measured on" in shown
    assert "arxiv.org/abs/2503.01840" in shown
    page = open_page(part="methods", words=words)
    assert place(page) == f"methods slow {words}"
    assert all(member.title in texts(page) for member in family().methods)
    assert all(f"./?run={name}" in texts(page) for name in METHOD_RUNS)
    listed = payload_of(open_page(part="words", words=words).get_by_key("learn-vocabulary"))["words"]
    assert [word["name"] for word in listed][:2] == ["token", "draft model"]
    assert words == "technical" or all(word["symbol"] == "" for word in listed)


def test_without_its_recorded_runs_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded_runs, "ASSETS", tmp_path)
    recorded_runs.story_trace.cache_clear()
    try:
        page = open_page()
        assert "recorded runs of the story are missing" in page.error[0].value
    finally:
        monkeypatch.undo()
        recorded_runs.story_trace.cache_clear()


@pytest.mark.parametrize("words", get_args(Words))
def test_the_first_step_shows_the_target_alone_and_says_nothing_of_prefill(words: Words) -> None:
    page = open_page(lesson="slow", words=words)
    (stage,) = drawn(stage_payload_of(page, "learn-lesson"))
    run = steps()[0].run
    assert [len(round["chips"]) for round in stage["rounds"]] == [1] * len(run.output.token_ids)
    assert {round["chips"][0]["status"] for round in stage["rounds"]} == {"own"}
    assert (stage["phases"], stage["diagram"]["picture"]) == (["judge"], "alone")
    assert "1 of 40" in stage["rounds"][0]["sentences"][0]
    assert "prefill" not in f"{texts(page)} {stage}".lower()
    assert "draft" not in str([round["sentences"] for round in stage["rounds"]])
    live = next(link.proto.url for link in page.get("link_button"))
    assert f"step={steps()[0].live_playhead}" in live, "the run itself, which has rounds of three phases"


def test_the_lesson_under_load_has_its_picture_continuous_batching_and_every_source() -> None:
    page = open_page(part="load", words="plain")  # a link of before, when this part had two voices
    assert not page.warning
    shown, payload = texts(page), payload_of(page.get_by_key("learn-roofline"))
    assert f"## {roofline().title}" in shown
    assert f"### {roofline().batching.title}" in shown
    assert len(payload["questions"]) == 3
    sources = [*published_peaks().machines, *published_peaks().models]
    assert all(f"**{each.name}**" in shown and each.url in shown and each.checked in shown for each in sources)
