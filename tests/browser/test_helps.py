"""When it helps in a real Chromium: the recorded sweep, one measured here, a visit elsewhere meanwhile, a phone."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from specviz.measure.sweep.table import read_frame
from tests.conftest import PATIENCE, AppServer
from tests.support.visitor import expect_no_sideways_scroll, wait_until_drawn

LONG = PATIENCE
SMALL = "helps?workload=story&workload=copy&gamma=2&gamma=4&tokens=16&prompts=1&draft=wren-nano&target=wren-base"
KINDS = "workload=story&workload=code&workload=prose&workload=structured"
LARGE = f"helps?{KINDS}&gamma=1&gamma=2&gamma=4&gamma=8&tokens=64&prompts=5"
TABS = {
    "By workload": "Pays (for sure )?on",
    "Draft length": "One length alone is clearly the best",
    "Map": "measured points",
    "Constrained output": "With the grammar, acceptance",
    "Adaptive": "the heuristic on",
    "By method": "Highest: ",
    "In batches": "in batches of 16",
}


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    context.set_default_timeout(LONG)
    yield context
    context.close()


def open_page(context: BrowserContext, server: AppServer, path: str = "helps") -> Page:
    page = context.new_page()
    page.goto(f"{server.url}/")  # the first address of a server makes Streamlit see app.py's pages
    wait_until_drawn(page)
    page.goto(f"{server.url}/{path}")
    page.wait_for_selector(".chart .main-svg", timeout=LONG)
    return page


def measured(page: Page) -> int:
    """How many rows the progress bar counts."""
    line = page.get_by_test_id("stProgress").inner_text()
    found = re.search(r"(\d+) of \d+", line)
    return int(found[1]) if found else 0


def test_the_recorded_sweep_has_a_reading_and_a_figure_in_every_tab(
    context: BrowserContext, app_server: AppServer
) -> None:
    page = open_page(context, app_server)
    expect(page.get_by_text("Recorded", exact=True).first).to_be_visible()
    expect(page.get_by_role("button", name="Measure here")).to_be_visible()
    for tab, reading in TABS.items():
        page.get_by_role("tab", name=tab).click()
        panel = page.get_by_role("tabpanel").filter(visible=True)
        expect(panel.get_by_text(re.compile(reading)).first).to_be_visible()
        expect(panel.locator(".chart .main-svg").first).to_be_visible()
    expect_no_sideways_scroll(page)


def test_a_small_sweep_is_measured_here_and_downloaded(
    context: BrowserContext, app_server: AppServer, tmp_path: Path
) -> None:
    page = open_page(context, app_server, SMALL)
    expect(page.get_by_text("4 runs")).to_be_visible()
    page.get_by_role("tab", name="Draft length").click()
    page.get_by_role("button", name="Measure here").click()
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible(timeout=LONG)
    expect(page.get_by_role("button", name="Measure here")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("tab", name="Draft length")).to_have_attribute("aria-selected", "true")
    wait_until_drawn(page)  # until then the button may still be the recorded sweep's
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    path = tmp_path / "sweep.csv"
    download.value.save_as(path)
    rows = read_frame(path.read_bytes(), path.name)
    assert list(zip(rows["preset"], rows["draft_length"], strict=True)) == [
        ("story-1", 2), ("story-1", 4), ("copy-1", 2), ("copy-1", 4),
    ]  # fmt: skip

    page.get_by_role("button", name="Clear my rows").click()
    expect(page.get_by_text("Recorded", exact=True).first).to_be_visible()
    page.get_by_text("Open a sweep’s CSV").click()
    page.locator("input[type=file][accept*=csv]").set_input_files(path)
    expect(page.get_by_text("Loaded from sweep.csv")).to_be_visible()


def test_a_sweep_goes_on_during_a_visit_to_watch_and_a_live_run_there(
    context: BrowserContext, app_server: AppServer
) -> None:
    page = open_page(context, app_server, LARGE)
    page.get_by_role("button", name="Measure here").click()
    page.wait_for_function("/[2-9] of 80/.test(document.body.innerText)", timeout=LONG)
    before = measured(page)
    page.get_by_role("link", name="Watch").click()
    page.wait_for_selector(".stage .round .chip", timeout=LONG)
    page.get_by_role("button", name="Show everything").click()
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^='live'][data-done]", timeout=LONG)  # beside the sweep
    page.get_by_role("link", name="When it helps").click()
    page.wait_for_function(
        f"(() => {{ const m = document.body.innerText.match(/(\\d+) of 80/); return m && m[1] > {before + 2}; }})()",
        timeout=LONG,
    )
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled: what was measured stays.")).to_be_visible()
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible()


def test_ones_own_prompts_are_taken_and_bad_lines_are_named(context: BrowserContext, app_server: AppServer) -> None:
    page = open_page(context, app_server)
    page.get_by_text("Your own prompts").click()
    lines = b'{"prompt": "Once upon a time", "workload": "<img src=x>"}\r\n{"prompt": 7}\r\n'
    box = page.locator(".st-key-sweep_file input[type=file]")
    box.set_input_files({"name": "mine.jsonl", "mimeType": "text/plain", "buffer": lines})
    expect(page.get_by_text("1 prompt taken")).to_be_visible()
    expect(page.get_by_text("Line 2 is left out: it has no")).to_be_visible()
    expect(page.get_by_text("76 runs")).to_be_visible()
    box.set_input_files({"name": "bad.bin", "mimeType": "text/plain", "buffer": bytes(range(256))})
    expect(page.get_by_text("The file is not UTF-8 text.")).to_be_visible()
    expect(page.get_by_text("1 prompt taken")).to_be_visible()  # nothing is lost


def test_on_a_phone_nothing_scrolls_sideways(browser: Browser, app_server: AppServer) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = open_page(context, app_server)
    expect(page.get_by_text(re.compile(r"Pays (for sure )?on")).first).to_be_visible()
    for tab in TABS:
        page.get_by_role("tab", name=tab).click()
        expect_no_sideways_scroll(page)
    context.close()
