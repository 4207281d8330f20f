"""The tour of a first visit, by AppTest: how it opens, where its place is stored. Nothing runs live."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_views import view_of
from tests.support.app_pages import opened
from tests.support.payloads import payload_of


def tour_of(page: AppTest) -> Any:
    """What the stage gets of the tour; None while it is closed."""
    assert not page.exception
    return payload_of(page.get_by_key("stage")).get("tour")


def move(page: AppTest, at: int) -> AppTest:
    """What the stage's report of the visitor's place does."""
    page.session_state["session"].watch.tour.take(at, beats=6)
    return page.run()


def test_a_newcomer_opens_the_tour_and_its_place_is_in_the_address() -> None:
    page = opened()
    assert tour_of(page) is None
    assert page.button(key="tour").label == "New here? Three-minute tour"
    page.button(key="tour").click().run()
    assert (tour_of(page)["at"], len(tour_of(page)["beats"])) == (1, 6)
    move(page, 3)
    assert page.query_params["tour"] == "3"


def test_a_link_with_a_place_opens_the_tour_there_in_the_simple_view() -> None:
    page = opened(tour="3", gamma="9")  # the tour has a run of its own: the link's other settings do not count
    assert (tour_of(page)["at"], view_of(page), page.session_state["gamma"]) == (3, "simple", 4)
    assert payload_of(page.get_by_key("stage"))["run_id"] == "first"


def test_who_leaves_the_tour_goes_on_where_they_left() -> None:
    page = move(opened(tour="4"), 0)
    assert tour_of(page) is None
    assert "tour" not in page.query_params
    assert page.button(key="tour").label == "Continue the tour: step 4 of 6"
    page.button(key="tour").click().run()
    assert tour_of(page)["at"] == 4


def test_at_the_end_the_tour_can_begin_again() -> None:
    page = move(opened(tour="6"), 7)
    assert "tour" not in page.query_params
    assert page.button(key="tour").label == "New here? Three-minute tour"


def test_the_tour_brings_the_recorded_run_and_its_settings_back() -> None:
    page = opened(view="simple", gamma="7", run="first")
    assert page.session_state["gamma"] == 7
    page.button(key="tour").click().run()
    assert (page.session_state["gamma"], tour_of(page)["at"]) == (4, 1)
    assert page.session_state["session"].watch.form.undo()[0].settings.draft_length == 7  # nothing is lost


def test_a_place_that_there_is_not_is_one_line() -> None:
    page = opened(tour="99")
    assert tour_of(page) is None
    (line,) = [line.value for line in page.warning]
    assert line == "tour=99 is not a step of the tour, 1 to 6: the tour is not opened."


@pytest.mark.parametrize("view", ["full", "projector", "stage"])
def test_only_the_simple_view_offers_the_tour(view: str) -> None:
    assert not [button for button in opened(view=view).button if button.key == "tour"]


def test_while_it_is_open_the_tour_can_begin_again() -> None:
    page = opened(tour="4")
    assert page.button(key="tour").label == "Start the tour again"
    page.button(key="tour").click().run()
    assert (tour_of(page)["at"], tour_of(page)["started"]) == (1, 2)
