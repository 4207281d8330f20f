"""A lesson walked moment by moment, its notes, and links that hide controls. By AppTest; nothing runs live."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.data.lessons.plans import find_plan
from specviz.game.game import GamePlan
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, opened_in_app, page_of, visit
from tests.support.fake_service import FakeService
from tests.support.fake_turns import a_turn
from tests.support.known import known
from tests.support.payloads import payload_of
from tests.support.seen import seen, step, walk

pytestmark = pytest.mark.usefixtures("through_the_app")


def keys_of(page: AppTest) -> set[str]:
    return {str(key) for node in page._tree if (key := getattr(node, "key", None))}


def stage_of(page: AppTest) -> Any:
    [found] = [key for key in keys_of(page) if key == "stage" or key.removeprefix("stage-").isdecimal()]
    return payload_of(page.get_by_key(found))


def test_next_and_previous_walk_the_lesson_show_what_is_hidden_and_leave_ends_it(snapshot: SnapshotAssertion) -> None:
    page, plan = opened(lesson="ten-minutes"), known(find_plan("ten-minutes"))
    way = ["lesson_next"] * 3 + ["lesson_previous"] * 2 + ["lesson_show", "lesson_hide"]
    shown = walk(page, *way)
    assert shown == snapshot
    notes = [secret for each in plan.moments for secret in (each.answer, each.mistakes, each.do) if secret]
    assert [secret for secret in notes if secret[:40] in shown] == [], "what the teacher reads"
    page.button(key="lesson_leave").click().run()
    assert "lesson_next" not in keys_of(page)
    stage = stage_of(page)
    assert (stage["view"], stage["run_id"], stage.get("hide")) == ("full", "story-round", None)
    assert not {"lesson", "moment", "hide"} & page.query_params.keys()


def test_a_lesson_goes_from_page_to_page_and_a_step_of_the_story_is_still_one_of_learn() -> None:
    def place(page: AppTest) -> str:
        return str(payload_of(page.get_by_key("learn-lesson"))["diagram"]["place"]).partition("-")[0]

    page = opened(lesson="fifty-minutes")
    page.button(key="lesson_next").click().run()
    assert stage_of(page)["run_id"] == "story-round"
    for key in ("lesson_previous", "learn-next"):  # the page itself goes on
        page.button(key=key).click().run()
    assert place(page) == "idea"
    for key in ("lesson_next", "lesson_previous"):  # the moment has its own step
        page.button(key=key).click().run()
    assert place(page) == "slow"
    assert place(opened_in_app("learn", lesson="round", part="story")) == "round"


def test_a_lesson_leaves_what_other_pages_show_and_a_second_one_ends_in_a_view_that_has_the_menu() -> None:
    page = opened_in_app("be_the_draft", seed="5")
    for lesson in ("ten-minutes", "fifty-minutes"):
        page.query_params = {"lesson": lesson}
        page.switch_page("pages/watch.py").run()
    page.button(key="lesson_leave").click().run()
    assert visit(page).view == "full"
    page.query_params = {}
    page.switch_page("pages/be_the_draft.py").run()
    assert visit(page).of(BeTheDraftState).plan.seed == 5


def test_a_moments_game_begins_without_the_candidates_of_another_one(service: FakeService) -> None:
    page = opened_in_app("be_the_draft", mode="pick")
    visit(page).of(BeTheDraftState).here = a_turn([" a"], 0, before="Of another text")
    walked = page_of(session=visit(page), lesson="fifty-minutes", moment="5")
    walked.switch_page("pages/be_the_draft.py").run()
    assert visit(walked).of(BeTheDraftState).text == GamePlan(mode="pick").prompts[0].text


NAMED = {"prompt": "prompt", "target": "target", "draft": "draft", "temperature": "temperature", "run": "again"}


@pytest.mark.parametrize("hide", ["", "target", ",".join(NAMED)])
def test_a_hidden_control_is_not_there_and_keeps_the_value_of_the_link(hide: str) -> None:
    page = opened(run="story-sampled", hide=hide)
    assert [name for name, key in NAMED.items() if key not in keys_of(page)] == hide.split(",") * bool(hide)
    for _ in range(2):
        page.button(key="change_view").click().run()
    current = visit(page).of(WatchState).form.current
    assert (current.target, current.settings.temperature, current.settings.seed) == ("wren-base", 1, 1)


def test_what_a_link_hides_stays_in_the_address_of_each_page() -> None:
    pages = [opened_in_app(name, hide="menu", view="simple") for name in ("be_the_draft", "learn", "class", "watch")]
    for page, key in zip(pages[2:], ("class_open", "tour"), strict=True):
        page.button(key=key).click().run()
    assert [page.query_params.get("hide") for page in pages] == ["menu"] * 4


MINE = """
title: Mine
minutes: 4
goals:
  - See a round.
moments:
  - title: A round
    minutes: 4
    link: ./?run=story-round&step=7&view=full&hide=files
    question: "<b>What</b> [happens](https://example.org)?"
    answer: It is checked.
"""


def test_a_teachers_own_plan_is_checked_and_walked_by_everyone_who_has_its_link(snapshot: SnapshotAssertion) -> None:
    page = opened_in_app("learn", part="teach")
    before = seen(page)
    for kind, content in (("broken", "title: Mine\nminutes: ["), ("whole", MINE)):
        page.get_by_key("lesson_file").set_value(("mine.yaml", content.encode(), "application/yaml")).run()
        name = page.radio(key="lesson_plan").value
        assert step(before, page).replace(name, "NAME") == snapshot(name=kind)
    walked = opened(lesson=name)
    assert (stage_of(walked)["run_id"], stage_of(walked)["view"]) == ("story-round", "full")
    assert "trace_file" not in keys_of(walked)
    assert step([], opened(lesson=name, notes="1")).replace(name, "NAME") == snapshot(name="its notes")


def test_a_task_link_is_made_by_clicking_and_hides_what_was_chosen() -> None:
    page = opened(run="story-sampled", step="8")
    assert "task_result" not in keys_of(page)
    page.session_state["task"] = True
    walk(page.run(), ("task_result", True), ("task_temperature", True), ("task_view", "simple"))
    link = parse_qs(urlsplit(page.code[-1].value).query)
    wanted = {"hide": "temperature,result", "view": "simple", "step": "8", "run": "story-sampled", "temperature": "1"}
    assert {name: [value] for name, value in wanted.items()}.items() <= link.items()
    task = stage_of(opened(**link))
    assert [task.get(name) for name in ("run_id", "playhead", "view", "result")] == ["story-sampled", 8, "simple", None]
