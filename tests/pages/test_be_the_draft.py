"""The game's page by AppTest: a round, bad input, skipping, the easier mode, the end, links. Real engine and models."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.game.game import PROMPTS, ROUNDS, GamePlan
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.shared.job_slot import JobSlot
from tests.support.app_pages import opened_in_app, texts, visit
from tests.support.app_pages import until as wait
from tests.support.known import known
from tests.support.payloads import payload_of, stage_payload_of, trace_in


@pytest.fixture
def page() -> AppTest:
    """Its first text goes on with: Lily. She"""
    return opened_in_app("be_the_draft", seed="3")


def drawn(page: AppTest, key: str) -> Any:
    return payload_of(page.get_by_key(key))


def send(page: AppTest, words: str) -> None:
    page.text_input(key="be_the_draft_guess").set_value(words)
    page.button(key="be_the_draft_send").click().run()


def play(page: AppTest, words: str) -> None:
    turns = len(visit(page).of(BeTheDraftState).turns)
    send(page, words)
    wait(page, lambda: len(visit(page).of(BeTheDraftState).turns) > turns)


def test_a_round_is_judged_explained_and_scored(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:  # the page does not look for the answer yet: a fast engine may have it
        patch.setattr(JobSlot, "first_look", lambda slot, patience: False)
        send(page, "Lily. She xylophoned")
    assert visit(page).of(BeTheDraftState).slot.busy
    assert "What you typed is saved" in texts(page) or "is reading" in texts(page)
    assert page.button(key="be_the_draft_send").disabled
    assert page.text_input(key="be_the_draft_guess").value == "Lily. She xylophoned"
    wait(page, lambda: not visit(page).of(BeTheDraftState).slot.busy)
    turn = drawn(page, "be_the_draft_turn")
    assert [chip["status"] for chip in turn["guesses"][0]["chips"]][:3] == ["accepted", "accepted", "accepted"]
    assert turn["title"].startswith("3 of ")
    assert [rival["name"] for rival in turn["rivals"]] == ["wren-nano", "prompt lookup"]
    assert turn["wants"]
    assert drawn(page, "be_the_draft_text")["fresh"].startswith(" Lily. She")
    assert page.text_input(key="be_the_draft_guess").value == "", "ready for the next words"
    table = page.table[0].value
    assert list(table["draft"]) == ["**you**", "wren-nano", "prompt lookup"]
    assert table["tokens per target call"][0] == "4.00"
    stage = stage_payload_of(page, "be_the_draft_run")
    assert (stage["run"]["method"]["kind"], stage["run"]["method"]["subject"]) == ("person", "you")
    assert "how much you type" in stage["why_not"]


def test_a_second_guess_makes_a_tree_that_is_checked_in_one_pass(page: AppTest) -> None:
    page.text_input(key="be_the_draft_second").set_value("🐦")
    send(page, "Lily.")
    assert "words, not pictures" in page.warning[0].value
    assert visit(page).of(BeTheDraftState).all_turns == []
    assert (page.text_input(key="be_the_draft_guess").value, page.text_input(key="be_the_draft_second").value) == (
        "Lily.",
        "🐦",
    )
    page.text_input(key="be_the_draft_second").set_value("Lily. She")
    play(page, "Tom. He")
    assert known(visit(page).of(BeTheDraftState).turns[0].round).is_tree
    turn = drawn(page, "be_the_draft_turn")
    assert "3 of your second" in turn["title"]
    assert [len(guess["words"]) > 0 for guess in turn["guesses"]] == [True, True]
    assert "a tree of" in turn["rivals"][0]["more"]
    assert page.text_input(key="be_the_draft_second").value == "", "ready for the next words"
    assert page.table[0].value["tokens per target call"][0] == "4.00"
    stage = stage_payload_of(page, "be_the_draft_run")
    assert stage["run"]["method"]["kind"] == "person"
    assert len(trace_in(stage)["rounds"]) == 1


def test_a_game_goes_from_text_to_text_to_its_verdict_and_its_table(page: AppTest) -> None:
    for _ in range(ROUNDS):
        play(page, "She was very happy")
    assert not any(field.key == "be_the_draft_guess" for field in page.text_input)
    page.button(key="be_the_draft_next").click().run()
    page.run()
    assert drawn(page, "be_the_draft_text")["text"] == GamePlan(seed=3).prompts[1].text
    play(page, "the way home")
    page.button(key="be_the_draft_leave").click().run()
    assert visit(page).of(BeTheDraftState).place == 2
    page.button(key="be_the_draft_finish").click().run()
    assert visit(page).of(BeTheDraftState).place == PROMPTS
    assert "tokens per target call." in texts(page)
    rows = page.table[0].value
    assert list(rows["text"]) == ["text 1"] * 3 + ["text 2"] * 3 + ["**all**"] * 3
    assert list(rows["target passes"]) == ["5"] * 3 + ["1"] * 3 + ["6"] * 3
    page.text_input(key="be_the_draft_name").set_value("=Ada").run()
    assert visit(page).of(BeTheDraftState).name == "=Ada"
    page.button(key="be_the_draft_other").click().run()
    page.run()
    assert visit(page).of(BeTheDraftState).plan.seed == 4
    assert page.query_params["seed"] == "4"
    assert visit(page).of(BeTheDraftState).all_turns == []
