"""Traces that are opened in a real Chromium: a large one is sent once, and a record shows only what it reports.

The largest that may be uploaded: in `make test-all`.
"""

import pytest
from playwright.sync_api import Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from specviz.core.trace import UPLOAD
from tests.conftest import AppServer
from tests.support.door_contents import long_trace
from tests.support.grids import grid
from tests.support.records import RECORDS
from tests.support.visitor import wait_until_drawn

KILOBYTE = 1_000


def ends_a_drawing(message: bytes) -> bool:
    return ForwardMsg.FromString(message).WhichOneof("type") == "script_finished"


@pytest.mark.parametrize("rounds", grid([UPLOAD.rounds, 600], (600,)))
def test_a_large_trace_is_sent_once_and_a_record_of_another_system_shows_what_it_has(
    page: Page, app_server: AppServer, rounds: int
) -> None:
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    with page.expect_websocket() as opened:
        page.goto(f"{app_server.url}/?view=full")
    wait_until_drawn(page, ".stage")
    page.get_by_text("Save this run, or open one").click()
    file = {"name": "trace.json", "mimeType": "application/json", "buffer": long_trace(UPLOAD.megabytes, rounds)}
    received.clear()
    upload = page.locator(".st-key-trace_file input[type=file]")
    upload.set_input_files(file)
    page.wait_for_selector(".stage[data-run^='file']")
    wait_until_drawn(page)
    expect(page.locator(".stage .strip .round")).to_have_count(rounds)
    run = sum(received)
    assert run > 200 * KILOBYTE, "the run itself, so that what follows is measured at all"
    received.clear()
    with opened.value.expect_event("framereceived", ends_a_drawing):  # the place is reported: the script runs again
        page.get_by_role("button", name="Last step").click()
    assert 0 < sum(received) < run / 2
    page.get_by_role("button", name="First step").click()
    # At once: what the stage reported in this moment made a file be lost.
    upload.set_input_files(RECORDS / "vllm-0.29-chat.json")
    expect(page.locator(".stage .badge")).to_contain_text("imported from vLLM")
    for part in (".lanes", "[data-figure=speedup]", "[data-figure=lengths]", ".draft-length", ".copy-link"):
        expect(page.locator(f".stage {part}")).to_be_hidden()
