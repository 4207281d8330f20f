"""The tour of a first visit, by AppTest: how it opens, where its place is stored. Nothing runs live."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_views import view_of
from tests.support.app_pages import opened, visit
from tests.support.payloads import payload_of


def tour_of(page: AppTest) -> Any:
    """What the stage gets of the tour; None while it is closed."""
    return payload_of(page.get_by_key("stage")).get("tour")


def move(page: AppTest, at: int) -> AppTest:
    """What the stage's report of the visitor's place does."""
    visit(page).watch.tour.take(at, beats=6)
    return page.run()


def test_a_newcomer_opens_the_tour_leaves_it_goes_on_and_begins_again() -> None:
    page = opened()
    assert tour_of(page) is None
    assert page.button(key="tour").label == "New here? Three-minute tour"
    page.button(key="tour").click().run()
    assert (tour_of(page)["at"], len(tour_of(page)["tour"]["beats"])) == (1, 6)
    assert move(page, 4).query_params["tour"] == "4"
    assert tour_of(move(page, 0)) is None
    assert "tour" not in page.query_params
    assert page.button(key="tour").label == "Continue the tour: step 4 of 6"
    page.button(key="tour").click().run()
    assert (tour_of(page)["at"], page.button(key="tour").label) == (4, "Start the tour again")
    page.button(key="tour").click().run()
    assert (tour_of(page)["at"], tour_of(page)["started"]) == (1, 3)
    move(page, 7)  # its end
    assert "tour" not in page.query_params
    assert page.button(key="tour").label == "New here? Three-minute tour"


def test_a_link_with_a_place_opens_the_tour_there_in_the_simple_view_or_says_that_there_is_none() -> None:
    page = opened(tour="3", gamma="9")  # the tour has a run of its own: the link's other settings do not count
    assert (tour_of(page)["at"], view_of(page), page.session_state["gamma"]) == (3, "simple", 4)
    assert payload_of(page.get_by_key("stage"))["run_id"] == "first"
    none = opened(tour="99")
    assert tour_of(none) is None
    (line,) = [line.value for line in none.warning]
    assert line == "tour=99 is not a step of the tour, 1 to 6: the tour is not opened."


def test_the_tour_brings_the_recorded_run_and_its_settings_back() -> None:
    page = opened(view="simple", gamma="7", run="first")
    assert page.session_state["gamma"] == 7
    page.button(key="tour").click().run()
    assert (page.session_state["gamma"], tour_of(page)["at"]) == (4, 1)
    assert visit(page).watch.form.undo()[0].settings.draft_length == 7  # nothing is lost


@pytest.mark.parametrize("view", ["full", "projector", "stage"])
def test_only_the_simple_view_offers_the_tour(view: str) -> None:
    assert not [button for button in opened(view=view).button if button.key == "tour"]
