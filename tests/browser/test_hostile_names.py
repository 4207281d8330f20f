"""A CSV and a trace with harmful names in a real Chromium: nothing is loaded from elsewhere, nothing becomes markup."""

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from specviz.core.trace import DrafterInfo, Machine, ModelInfo, dump_trace
from specviz.measure.sweep.rows import dump_frame, frame_of
from tests.conftest import AppServer
from tests.support.fake_rows import row_at
from tests.support.fake_traces import fake_trace
from tests.support.hostile import HOST, NAME, NAMES
from tests.support.visitor import wait_until_drawn, wait_until_still

MARKUP = f"img, .katex, [data-testid=stMarkdownContainer] a, a[href*='{HOST}'], a[href^=javascript]"


@pytest.fixture
def visited(page: Page, app_server: AppServer) -> Iterator[Page]:
    """A page that must not have asked another host for anything; a script from a name would open a dialog."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{app_server.url}/?view=full")
    wait_until_drawn(page, ".stage")
    wait_until_still(page)
    yield page
    ours = urlsplit(app_server.url).netloc
    assert len(asked) > 1
    assert [url for url in asked if urlsplit(url).netloc != ours and not url.startswith(("data:", "blob:"))] == []


@pytest.mark.full
def test_a_trace_and_then_a_csv_with_harmful_names_are_shown_as_text(visited: Page) -> None:
    before = visited.locator(MARKUP).count()
    trace = replace(
        fake_trace(greedy=True, hostile=True),
        recorded_on=Machine(NAME, "2.13.0", "5.23.0", 1),
        target=ModelInfo(NAME, 1, "float32", "00"),
        drafter=DrafterInfo("model", NAME, 1, "float32", "11"),
    )
    visited.get_by_text("Save this run, or open one").click()
    file = {"name": "trace.json", "mimeType": "application/json", "buffer": dump_trace(trace).encode()}
    visited.locator(".st-key-trace_file input[type=file]").set_input_files(file)
    visited.wait_for_selector(".stage[data-run^='file']")
    wait_until_still(visited)
    expect(visited.locator(MARKUP)).to_have_count(before)
    expect(visited.locator(".stage .badge").first).to_have_attribute("title", re.compile("<img"))

    visited.get_by_role("link", name="When it helps").click()
    visited.wait_for_selector(".chart .main-svg")
    wait_until_still(visited)
    before = visited.locator(MARKUP).count()
    rows = [
        replace(row_at("story", 4, 0.5 + number / 4, machine=NAME, target=NAME, draft=NAME), workload=name, preset=name)
        for number, name in enumerate(NAMES)
    ]
    visited.get_by_text("Open a sweep’s CSV").click()
    file = {"name": "sweep.csv", "mimeType": "text/csv", "buffer": dump_frame(frame_of(rows)).encode()}
    visited.locator("input[type=file][accept*=csv]").set_input_files(file)
    expect(visited.get_by_text(re.compile(r"Loaded from sweep\.csv"))).to_be_visible()
    shown = visited.get_by_test_id("stCaptionContainer").filter(has_text="pairs of runs").inner_text()
    for name in NAMES:
        assert name in shown.replace("\u2060", "")
    for tab in ("By workload", "Draft length", "Break-even", "Constrained output", "Adaptive"):
        visited.get_by_role("tab", name=tab).click()
        wait_until_still(visited)
        expect(visited.locator(MARKUP)).to_have_count(before)
