"""A lesson walked moment by moment, its notes, and links that hide controls. By AppTest; nothing runs live."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest
from syrupy.assertion import SnapshotAssertion

from specviz.data.lessons.plans import find_plan
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, opened_in_app, visit
from tests.support.known import known
from tests.support.payloads import payload_of
from tests.support.seen import seen, step, walk

PLAN = known(find_plan("ten-minutes"))

pytestmark = pytest.mark.usefixtures("through_the_app")


def keys_of(page: AppTest) -> set[str]:
    return {str(key) for node in page._tree if (key := getattr(node, "key", None))}


def stage_of(page: AppTest) -> Any:
    [found] = [key for key in keys_of(page) if key == "stage" or key.removeprefix("stage-").isdecimal()]
    return payload_of(page.get_by_key(found))


def address_of(page: AppTest) -> dict[str, str]:
    return {name: value if isinstance(value, str) else value[-1] for name, value in page.query_params.items()}


def test_next_and_previous_walk_the_lesson_show_what_is_hidden_and_leave_ends_it(snapshot: SnapshotAssertion) -> None:
    page = opened(lesson="ten-minutes")
    way = ["lesson_next"] * 3 + ["lesson_previous"] * 2 + ["lesson_show", "lesson_hide"]
    shown = walk(page, *way)
    assert shown == snapshot
    notes = [secret for each in PLAN.moments for secret in (each.answer, each.mistakes, each.do) if secret]
    assert [secret for secret in notes if secret[:40] in shown] == [], "what the teacher reads"
    page.button(key="lesson_leave").click().run()
    assert "lesson_next" not in keys_of(page)
    assert (stage_of(page)["view"], stage_of(page)["run_id"], stage_of(page).get("hide")) == (
        "full",
        "story-round",
        None,
    )
    assert not {"lesson", "moment", "hide"} & address_of(page).keys()


def test_a_lesson_goes_from_page_to_page_and_a_step_of_the_story_is_still_one_of_learn() -> None:
    page = opened(lesson="fifty-minutes")
    page.button(key="lesson_next").click().run()
    assert stage_of(page)["run_id"] == "story-round"
    page.button(key="lesson_previous").click().run()
    places = list[str]()
    for act in (["learn-next"], ["lesson_next", "lesson_previous"]):  # the page itself goes on; the moment has its own
        for key in act:
            page.button(key=key).click().run()
        places.append(payload_of(page.get_by_key("learn-lesson"))["diagram"]["place"])
    page = opened_in_app("learn", lesson="round", part="story")
    assert not page.warning
    places.append(payload_of(page.get_by_key("learn-lesson"))["diagram"]["place"])
    assert [place.partition("-")[0] for place in places] == ["idea", "slow", "round"]


NAMED = {"prompt": "prompt", "target": "target", "draft": "draft", "temperature": "temperature", "run": "again"}


def test_a_hidden_control_is_not_there_and_keeps_the_value_of_the_link() -> None:
    hidden = {hide: keys_of(opened(run="story-sampled", hide=hide)) for hide in ("", "target", ",".join(NAMED))}
    gone = [[name for name, key in NAMED.items() if key not in keys] for keys in hidden.values()]
    assert gone == [[], ["target"], [*NAMED]]
    page, whole = opened(run="story-sampled", hide=",".join(NAMED)), opened(run="story-sampled")
    for _ in range(2):
        page.button(key="change_view").click().run()
    assert visit(page).of(WatchState).form.current == visit(whole).of(WatchState).form.current


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
    page.run()
    walk(page, ("task_result", True), ("task_temperature", True), ("task_view", "simple"))
    link = parse_qs(urlsplit(page.code[-1].value).query)
    wanted = {"hide": "temperature,result", "view": "simple", "step": "8", "run": "story-sampled", "temperature": "1"}
    assert {name: [value] for name, value in wanted.items()}.items() <= link.items()
    task = opened(**{name: values[-1] for name, values in link.items()})
    assert [stage_of(task)[name] for name in ("run_id", "playhead", "view")] == ["story-sampled", 8, "simple"]
    assert "result" not in stage_of(task)
