"""The Watch page in AppTest: what is on its stage, and waiting for a live run."""

from typing import Any

from streamlit.testing.v1 import AppTest

from specviz.ui.watch.watch_state import WatchState
from tests.support.app_pages import until
from tests.support.payloads import stage_payload_of


def stage_of(page: AppTest) -> Any:
    return stage_payload_of(page)


def until_done(page: AppTest) -> Any:
    """Run the script until the live run on the stage is over."""

    def done() -> bool:
        data = stage_of(page)
        busy = (
            page.session_state["session"].of(WatchState).run.busy
        )  # until its first round the previous run is on screen
        return data["run_id"].startswith("live") and not busy and not data["running"]

    page.run()
    until(page, done)
    return stage_of(page)


def release_slider(page: AppTest, length: int) -> None:
    """What the stage's slider does when the visitor releases it."""
    page.session_state["gamma"] = length
    page.run()
