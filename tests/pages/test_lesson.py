"""A lesson walked moment by moment, its notes, and links that hide controls. By AppTest; nothing runs live."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from specviz.data.lessons.plans import OWN, all_plans
from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import opened, opened_in_app, texts, visit
from tests.support.payloads import payload_of

PLANS = {plan.name: plan for plan in all_plans() if plan.name in OWN}
MOMENTS = [(name, at) for name, plan in PLANS.items() for at in range(1, len(plan.moments) + 1)]


pytestmark = pytest.mark.usefixtures("through_the_app")


def stage_of(page: AppTest) -> Any:
    [found] = [key for key in ("stage", *(f"stage-{n}" for n in range(1, 20))) if _has(page, key)]
    return payload_of(page.get_by_key(found))


def _has(page: AppTest, key: str) -> bool:
    try:
        page.get_by_key(key)
    except KeyError:
        return False
    return True


def bar_of(page: AppTest) -> str:
    return next(line.value for line in page.markdown if line.value.startswith("Moment "))


def address_of(page: AppTest) -> dict[str, str]:
    given = dict(page.query_params)
    return {name: value if isinstance(value, str) else value[-1] for name, value in given.items()}


@pytest.mark.parametrize(("plan", "at"), MOMENTS)
def test_a_moment_shows_what_its_link_says_and_nothing_of_the_notes(plan: str, at: int) -> None:
    moment = PLANS[plan].moments[at - 1]
    page = opened(lesson=plan, moment=str(at))
    assert not page.warning
    assert not page.error
    assert bar_of(page) == f"Moment {at} of {len(PLANS[plan].moments)}: **{moment.title}**"
    assert address_of(page) == {"lesson": plan, "moment": str(at)}
    if moment.screen.page == "watch":
        stage = stage_of(page)
        assert (stage["run_id"], stage["playhead"]) == (moment.screen.last("run"), moment.screen.step)
        assert stage["view"] == "projector"
        assert stage.get("hide", []) == (["result"] if moment.screen.last("hide") else [])
    assert not any(secret[:40] in texts(page) for secret in (moment.answer, moment.mistakes, moment.do) if secret)


def test_next_and_previous_walk_the_lesson_and_leave_ends_it() -> None:
    page = opened(lesson="ten-minutes")
    assert page.button(key="lesson_previous").disabled
    for at, step in ((2, 4), (3, 13), (4, 41)):
        page.button(key="lesson_next").click().run()
        assert (bar_of(page)[:13], stage_of(page)["playhead"]) == (f"Moment {at} of 4", step)
        assert address_of(page)["moment"] == str(at)
    assert page.button(key="lesson_next").disabled
    page.button(key="lesson_previous").click().run()
    assert stage_of(page)["playhead"] == 13
    page.button(key="lesson_previous").click().run()
    assert "result" not in stage_of(page), "what a moment hides is shown by a button"
    page.button(key="lesson_show").click().run()
    assert ("result" in stage_of(page), _has(page, "lesson_show")) == (True, False)
    page.button(key="lesson_hide").click().run()
    assert ("result" in stage_of(page), _has(page, "lesson_show")) == (False, True)
    page.button(key="lesson_leave").click().run()
    assert not _has(page, "lesson_next")
    assert (stage_of(page)["view"], stage_of(page)["run_id"]) == ("full", "story-round")
    assert not {"lesson", "moment"} & address_of(page).keys()
    assert "hide" not in stage_of(page)
    assert page.selectbox(key="target").value == "wren-base"


def place_of(page: AppTest) -> str:
    """In the story of Learn."""
    return str(payload_of(page.get_by_key("learn-lesson"))["diagram"]["place"])


def test_a_lesson_goes_from_page_to_page_and_back_and_a_step_of_the_story_is_still_one_of_learn() -> None:
    page = opened(lesson="fifty-minutes")
    assert page.get_by_key("learn-lesson")
    page.button(key="lesson_next").click().run()
    assert stage_of(page)["run_id"] == "story-round"
    page.button(key="lesson_previous").click().run()
    page.button(key="learn-next").click().run()  # the page itself goes on as usual
    assert place_of(page).startswith("idea")
    page.button(key="lesson_next").click().run()
    page.button(key="lesson_previous").click().run()  # and the moment shows its own step again
    assert place_of(page).startswith("slow")
    page = opened_in_app("learn", lesson="round", part="story")
    assert not page.warning
    assert place_of(page).startswith("round")


NAMED = {"prompt": "prompt", "target": "target", "draft": "draft", "temperature": "temperature", "run": "again"}


def test_a_hidden_control_is_not_there_and_keeps_the_value_of_the_link() -> None:
    page, whole = opened(run="story-sampled", hide=",".join(NAMED)), opened(run="story-sampled")
    assert [_has(whole, key) for key in NAMED.values()] == [True] * len(NAMED)
    assert [_has(page, key) for key in NAMED.values()] == [False] * len(NAMED)
    one = opened(run="story-sampled", hide="target")
    assert [name for name, key in NAMED.items() if not _has(one, key)] == ["target"], "and no other is hidden"
    for _ in range(2):
        page.button(key="change_view").click().run()
    assert visit(page).of(WatchState).form.current == visit(whole).of(WatchState).form.current


OWN = """
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


def test_a_teachers_own_plan_is_checked_and_walked_by_everyone_who_has_its_link() -> None:
    page = opened_in_app("learn", part="teach")
    page.get_by_key("lesson_file").set_value(("mine.yaml", b"title: Mine\nminutes: [", "application/yaml")).run()
    assert page.error[0].value.startswith("mine.yaml is no lesson plan that can be shown")
    assert "this is not YAML" in page.error[0].value
    page.get_by_key("lesson_file").set_value(("mine.yaml", OWN.encode(), "application/yaml")).run()
    assert not page.error
    name = page.radio(key="lesson_plan").value
    assert name.startswith("own-")
    assert "\\<b>What" in texts(page)  # a plan's text is text
    walked = opened(lesson=name)
    assert bar_of(walked) == "Moment 1 of 1: **A round**"
    assert (stage_of(walked)["run_id"], stage_of(walked)["view"]) == ("story-round", "full")
    assert not _has(walked, "trace_file")
    assert "checked" in texts(opened(lesson=name, notes="1"))


def test_a_task_link_is_made_by_clicking_and_hides_what_was_chosen() -> None:
    page = opened(run="story-sampled", step="8")
    assert not _has(page, "task_result")
    page.session_state["task"] = True
    page.run()
    page.checkbox(key="task_result").check().run()
    page.checkbox(key="task_temperature").check().run()
    page.radio(key="task_view").set_value("simple").run()
    link = parse_qs(urlsplit(page.code[-1].value).query)
    assert (link["hide"], link["view"], link["step"]) == (["temperature,result"], ["simple"], ["8"])
    assert (link["run"], link["temperature"]) == (["story-sampled"], ["1"])
    task = opened(**{name: values[-1] for name, values in link.items()})
    assert [stage_of(task)[name] for name in ("run_id", "playhead", "view")] == ["story-sampled", 8, "simple"]
    assert "result" not in stage_of(task)
