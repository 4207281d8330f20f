"""How much Watch shows: simple for a newcomer, everything by choice or by a link; and the tour. Nothing runs live."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_pages import opened, visit
from tests.support.watch_page import stage_of


def view_of(page: AppTest) -> str:
    return str(stage_of(page)["view"])


def test_a_newcomer_sees_the_tokens_and_one_result_and_can_show_everything() -> None:
    page = opened()
    assert (view_of(page), [*page.slider], [*page.get("file_uploader")]) == ("simple", [], [])
    assert [box.label for box in page.selectbox] == ["Language", "Prompt", "Target", "Draft"]
    assert page.selectbox(key="draft").options[-1] == "More models…", "the menu is short"
    assert "passes of the target" in stage_of(page)["result"]["says"]
    page.button(key="change_view").click().run()
    assert (view_of(page), page.button(key="change_view").label) == ("full", "Show less")
    assert page.selectbox(key="target").value == "wren-base"
    page.button(key="change_view").click().run()
    assert view_of(page) == "simple"


@pytest.mark.parametrize(
    ("link", "view", "said"),
    [
        ({"view": "simple", "gamma": "2"}, "simple", []),
        ({"gamma": "2", "run": "first"}, "full", []),  # links of before say nothing of a view
        ({"view": "projector"}, "projector", []),
        ({"view": "stage", "run": "first"}, "stage", []),
        ({"view": "huge"}, "full", ["one of simple, full, projector, stage: using full."]),
    ],
)
def test_a_link_decides_what_is_shown(link: dict[str, str], view: str, said: list[str]) -> None:
    page = opened(**link)
    assert view_of(page) == view
    assert [line.value.partition(" is not ")[2] for line in page.warning] == said
    assert ("tour" in [button.key for button in page.button]) == (view == "simple"), "no other view offers it"


def test_a_setting_that_the_short_view_hides_is_kept() -> None:
    page = opened()
    page.button(key="change_view").click().run()
    page.slider(key="temperature").set_value(0.7).run()
    for _ in range(2):  # both ways, with one more drawing of the short view
        page.button(key="change_view").click().run()
        page.run()
        assert visit(page).watch.form.current[0].settings.temperature == 0.7
    assert page.slider(key="temperature").value == 0.7


# ---- the tour of a first visit


def tour_of(page: AppTest) -> Any:
    """What the stage gets of the tour; None while it is closed."""
    return stage_of(page).get("tour")


def test_the_tour_brings_the_recorded_run_and_its_settings_back_and_begins_again() -> None:
    """tests/browser/test_tour.py walks it, leaves it and goes on."""
    page = opened(view="simple", gamma="7", run="first")
    assert page.session_state["gamma"] == 7
    assert page.button(key="tour").label == "New here? Three-minute tour"
    page.button(key="tour").click().run()
    assert (page.session_state["gamma"], tour_of(page)["at"]) == (4, 1)
    assert visit(page).watch.form.undo()[0].settings.draft_length == 7  # nothing is lost
    for at in (4, 0):  # the stage's report of the visitor's place
        visit(page).watch.tour.move(at, beats=6)
        page.run()
    for label, at in (("Continue the tour: step 4 of 6", 4), ("Start the tour again", 1)):
        assert page.button(key="tour").label == label
        page.button(key="tour").click().run()
        assert tour_of(page)["at"] == at
    visit(page).watch.tour.move(7, beats=6)  # its end
    assert page.run().button(key="tour").label == "Start the tour again"
    assert tour_of(page)["at"] == 7, "a stage that the browser draws anew shows the end again"
    assert "tour" not in page.query_params, "a link does not open the end"
    visit(page).watch.tour.move(0, beats=6)
    assert page.run().button(key="tour").label == "New here? Three-minute tour"
