"""The timer of a page with a job under way: what a look draws, and when the page is drawn again."""

import pytest
from streamlit.testing.v1 import AppTest

from specviz.ui.shared import job_slot
from tests.support.app_pages import SECONDS, alone
from tests.support.payloads import payload_of


def page_with_a_job() -> None:
    import streamlit as st

    from specviz.ui.shared.job_slot import while_busy
    from specviz.ui.shared.persistent_widgets import set_widgets

    st.session_state.runs = st.session_state.get("runs", 0) + 1
    if st.session_state.get("sets"):
        set_widgets({"a": 1})
    looks = iter(st.session_state.pop("looks", [False, False]))
    while_busy(lambda: next(looks), lambda: st.caption("under way") and None, lambda: False)
    st.markdown("the page")


def opened(looks: list[bool], sets: bool = False) -> AppTest:
    page = AppTest.from_function(page_with_a_job, default_timeout=SECONDS)
    page.session_state["looks"], page.session_state["sets"] = looks, sets
    return page.run()


@pytest.mark.parametrize(
    ("looks", "runs"),
    [
        ([False], 1),  # without a job nothing polls
        ([True, True], 1),  # while one is under way, only its progress is drawn
        ([True, False], 2),  # when it is over, the page is drawn once more
    ],
)
def test_a_page_is_drawn_again_only_when_its_job_is_over(looks: list[bool], runs: int) -> None:
    page = opened(looks)
    assert (page.session_state["runs"], len(page.markdown)) == (runs, 1)


def test_a_script_that_sets_widgets_does_not_run_again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow browser would never receive their values."""
    assert opened([True, False], sets=True).session_state["runs"] == 1
    monkeypatch.setattr(job_slot, "RECEIVED_SECONDS", 0)
    assert opened([True, False], sets=True).session_state["runs"] == 2


def page_that_looks_at_a_run() -> None:
    import streamlit as st

    from specviz.ui.session import session
    from specviz.ui.watch.watch_page import _feed
    from specviz.ui.watch.watch_state import first_run

    watching = session().watch
    watching.shown = watching.shown or first_run()
    st.session_state.gamma = 4
    _feed(watching)


def test_what_is_new_is_handed_on_until_there_is_something_newer() -> None:
    """Found on a busy machine: a look that began before the one before it was sent threw its news away."""
    page = alone(page_that_looks_at_a_run)
    news = payload_of(page.get_by_key("feed"))
    assert news["whole"]
    assert payload_of(page.run().get_by_key("feed")) == news
