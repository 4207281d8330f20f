"""The largest trace that may be uploaded, in a real Chromium: it is sent once."""

from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from specviz.core.trace import UPLOAD, Trace, dump_trace
from tests.conftest import AppServer
from tests.support.fake_traces import fake_trace, without_alternatives
from tests.support.visitor import wait_until_drawn

KILOBYTE = 1_000


@pytest.fixture(scope="module")
def large_trace() -> Trace:
    """As many rounds as may be uploaded."""
    whole = without_alternatives(fake_trace(tokens=8_000, sharpness=0.3))
    rounds = whole.rounds[: UPLOAD.rounds]
    ids = [token for round in rounds for token in round.emitted_ids]
    assert whole.autoregressive
    plain = replace(whole.autoregressive, token_ids=ids, seconds_per_token=[0.004] * len(ids))
    output = replace(whole.output, token_ids=ids)
    settings = replace(whole.settings, max_new_tokens=len(ids))
    return replace(whole, rounds=rounds, autoregressive=plain, output=output, settings=settings)


def test_a_trace_of_2000_rounds_is_sent_once(page: Page, app_server: AppServer, large_trace: Trace) -> None:
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    with page.expect_websocket() as opened:
        page.goto(f"{app_server.url}/?view=full")
    wait_until_drawn(page, ".stage")
    page.get_by_text("Save this run, or open one").click()
    file = {"name": "trace.json", "mimeType": "application/json", "buffer": dump_trace(large_trace).encode()}
    received.clear()
    page.locator(".st-key-trace_file input[type=file]").set_input_files(file)
    page.wait_for_selector(".stage[data-run^='file']")
    wait_until_drawn(page)
    expect(page.locator(".stage .strip .round")).to_have_count(UPLOAD.rounds)
    assert sum(received) > 1_000 * KILOBYTE, "the run itself, so that what follows is measured at all"
    received.clear()
    with opened.value.expect_event("framereceived"):  # the playhead's place is reported, so the script runs again
        page.get_by_role("button", name="Last step").click()
    wait_until_drawn(page)
    assert 0 < sum(received) < 200 * KILOBYTE
