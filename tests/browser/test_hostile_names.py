"""A CSV and a trace with harmful names in a real Chromium: nothing is loaded from elsewhere, nothing becomes markup."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from specviz.core.trace import dump_trace
from specviz.measure.sweep.rows import dump_frame, frame_of
from tests.conftest import AppServer
from tests.support.hostile import HOST, NAMES, hostile_rows, hostile_trace
from tests.support.visitor import wait_until_drawn, wait_until_still

MARKUP = f"img, .katex, [data-testid=stMarkdownContainer] a, a[href*='{HOST}'], a[href^=javascript]"


def put(page: Page, uploader: str, name: str, content: str) -> None:
    file = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    page.locator(uploader).set_input_files(file)


@pytest.mark.full
def test_a_trace_and_then_a_csv_with_harmful_names_are_shown_as_text(page: Page, app_server: AppServer) -> None:
    """A script from a name would open a dialog, which fails the test."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{app_server.url}/?view=full")
    wait_until_drawn(page, ".stage")
    wait_until_still(page)
    before = page.locator(MARKUP).count()
    page.get_by_text("Save this run, or open one").click()
    put(page, ".st-key-trace_file input[type=file]", "trace.json", dump_trace(hostile_trace()))
    page.wait_for_selector(".stage[data-run^='file']")
    wait_until_still(page)
    expect(page.locator(MARKUP)).to_have_count(before)
    expect(page.locator(".stage .badge").first).to_have_attribute("title", re.compile("<img"))

    page.get_by_role("link", name="When it helps").click()
    page.wait_for_selector(".chart .main-svg")
    wait_until_still(page)
    before = page.locator(MARKUP).count()
    page.get_by_text("Open a sweep’s CSV").click()
    put(
        page,
        "input[type=file][accept*=csv]",
        "sweep.csv",
        dump_frame(frame_of([row for row in hostile_rows() if row.preset in NAMES])),
    )
    expect(page.get_by_text(re.compile(r"Loaded from sweep\.csv"))).to_be_visible()
    shown = page.get_by_test_id("stCaptionContainer").filter(has_text="pairs of runs").inner_text()
    assert all(name in shown.replace("\u2060", "") for name in NAMES)
    for tab in ("By workload", "Draft length", "Break-even", "Constrained output", "Adaptive"):
        page.get_by_role("tab", name=tab).click()
        wait_until_still(page)
        expect(page.locator(MARKUP)).to_have_count(before)
    ours = urlsplit(app_server.url).netloc
    assert len(asked) > 1
    assert [url for url in asked if urlsplit(url).netloc != ours and not url.startswith(("data:", "blob:"))] == []
