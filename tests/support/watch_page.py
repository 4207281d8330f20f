"""The Watch page in AppTest: what is on its stage, and waiting for a live run."""

import time
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.support.payloads import stage_payload_of

SECONDS = 60  # for a loaded machine; the engine needs five to start


def stage_of(page: AppTest) -> dict[str, Any]:
    data: dict[str, Any] = stage_payload_of(page)
    return data


def until_done(page: AppTest) -> dict[str, Any]:
    """Run the script until the live run on the stage is over, as the page's own polling would."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        page.run()
        data = stage_of(page)
        busy = page.session_state["session"].watch.run.busy  # until its first round the previous run is on screen
        if data["run_id"].startswith("live") and not busy and not data["running"]:
            return data
        time.sleep(0.1)
    raise AssertionError("the run did not end")


def release_slider(page: AppTest, length: int) -> None:
    """What the stage's slider does when the visitor releases it."""
    page.session_state["gamma"] = length
    page.run()


def texts(page: AppTest) -> str:
    return "\n".join(element.value for element in [*page.markdown, *page.caption, *page.error, *page.warning])
