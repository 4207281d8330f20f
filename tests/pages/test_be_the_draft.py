"""The game's page by AppTest: made-up turns in each state, and the buttons that lead from one to the next."""

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.data.links.permalink import MAX_SEED
from specviz.game.game import PROMPTS, GamePlan, Offer
from specviz.service.protocol import JobFailed, JobFinished, JobItem
from specviz.ui.be_the_draft.turns import BeTheDraftState, choose
from specviz.ui.session import Session
from tests.support.app_pages import opened, texts, visit
from tests.support.fake_service import FakeService
from tests.support.fake_turns import a_tree_turn, a_turn
from tests.support.seen import seen, step, walk

PLAN = GamePlan(seed=3)
BEFORE = PLAN.prompts[0].text
TREE = a_tree_turn([[" the", " dog"], [" the", " cat", " sat"]], "araa", ".", before=BEFORE)
OFFERS = [Offer(" Lily", [1]), Offer("[a](b)", [2]), Offer(" Tom", [3])]
STATES = {
    "two guesses": lambda: BeTheDraftState(PLAN, games=[[TREE], [], []]),
    "a text's end": lambda: BeTheDraftState(PLAN, games=[[replace(a_turn([" a"], 1), ended=True)], [], []]),
    "to choose": lambda: BeTheDraftState(
        GamePlan(seed=3, mode="pick"), here=replace(a_turn([" a"], 0), offers=OFFERS), two=True, chosen=[2, 0]
    ),
    "the end": lambda: BeTheDraftState(
        PLAN, place=PROMPTS, games=[[TREE], [], [a_turn([" a", " b", " c"], 1, model=3, lookup=2)]], name="=Ada"
    ),
}


def played(state: BeTheDraftState) -> AppTest:
    return opened("pages/be_the_draft.py", Session().put(state), **state.plan.link)


@pytest.mark.parametrize("name", STATES)
def test_each_state_of_a_game_shows_its_turn_and_its_score(
    name: str, service: FakeService, snapshot: SnapshotAssertion
) -> None:
    state = STATES[name]()
    assert step(seen(played(BeTheDraftState(state.plan))), played(state)) == snapshot


@pytest.mark.parametrize(
    ("two", "pressed", "chosen"),
    [(False, [0, 2], [2]), (False, [2, 2], [2]), (True, [0, 1, 2], [1, 2]), (True, [0, 2, 0], [2])],
)
def test_of_the_candidates_the_last_one_is_chosen_or_the_last_two(
    two: bool, pressed: list[int], chosen: list[int]
) -> None:
    state = BeTheDraftState(two=two)
    for number in pressed:
        choose(state, number)
    assert state.chosen == chosen


def test_what_is_sent_waits_and_is_judged_or_stays_in_its_field(
    service: FakeService, snapshot: SnapshotAssertion
) -> None:
    page = played(BeTheDraftState(PLAN))
    assert walk(page, ("be_the_draft_guess", "🐦"), "be_the_draft_send") == snapshot(name="no words")
    assert service.commands == []
    acts = [("be_the_draft_second", "Tom"), ("be_the_draft_guess", "Lily ran"), "be_the_draft_send"]
    assert walk(page, *acts) == snapshot(name="sent")
    before = seen(page)
    service.tell(JobItem(1, "play", a_turn([" Lily", " ran"], 1, before=BEFORE, model=2)), JobFinished(1))
    assert step(before, page.run()) == snapshot(name="judged")
    page.button(key="be_the_draft_skip").click().run()
    asked = [(each.ask.action, each.ask.guess, each.ask.second) for each in service.commands]
    assert asked == [("guess", "Lily ran", "Tom"), ("skip", "", "")]
    service.tell(JobFailed(2, "The engine stopped."))
    assert "The engine stopped." in texts(page.run())


def test_a_game_goes_from_text_to_text_to_its_verdict_and_the_next_game(
    service: FakeService, snapshot: SnapshotAssertion
) -> None:
    page = played(STATES["a text's end"]())
    assert walk(page, "be_the_draft_next", "be_the_draft_leave", "be_the_draft_finish") == snapshot
    page.text_input(key="be_the_draft_name").set_value("=Ada").run()
    page.button(key="be_the_draft_other").click().run()
    now = visit(page.run()).of(BeTheDraftState)
    assert (now.plan.seed, now.name, now.all_turns, page.query_params["seed"]) == (4, "=Ada", [], "4")
    page = played(BeTheDraftState(GamePlan(seed=MAX_SEED), place=PROMPTS))
    page.button(key="be_the_draft_other").click().run()
    assert visit(page).of(BeTheDraftState).plan.seed == 0
