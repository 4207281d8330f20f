"""When it helps in a real Chromium: a sweep measured here, downloaded, and gone on with during a visit elsewhere."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from specviz.measure.sweep.table import read_frame
from tests.conftest import Visit
from tests.support.visitor import wait_until_drawn, wait_until_still

SMALL = (
    "when_it_helps?workload=story&workload=copy&gamma=2&gamma=4&tokens=16&prompts=1&draft=wren-nano&target=wren-base"
)
KINDS = "workload=story&workload=code&workload=prose&workload=structured"
LARGE = f"when_it_helps?{KINDS}&gamma=1&gamma=2&gamma=4&gamma=8&tokens=64&prompts=5"


def test_a_small_sweep_is_measured_here_and_downloaded(visit: Visit, tmp_path: Path) -> None:
    page = visit(SMALL, CHART)
    expect(page.get_by_text("4 runs")).to_be_visible()
    page.get_by_role("tab", name="Draft length").click()
    page.get_by_role("button", name="Measure here").click()
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Measure here")).to_be_visible()
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


@pytest.mark.full
def test_a_sweep_goes_on_during_a_visit_to_watch_and_a_live_run_there(visit: Visit) -> None:
    page = visit(LARGE, CHART)
    page.get_by_role("button", name="Measure here").click()
    expect(page.get_by_test_id("stProgress")).to_contain_text(re.compile(r"[1-9]\d* of 80"))
    page.get_by_role("link", name="Watch").click()
    page.wait_for_selector(".stage .round .chip")
    page.get_by_role("button", name="Show everything").click()
    wait_until_still(page)
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")  # beside the sweep
    page.get_by_role("link", name="When it helps").click()
    expect(page.get_by_test_id("stProgress")).to_contain_text("of 80")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("Cancelled. What was found stays.")).to_be_visible()
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible()


CHART = ".chart .main-svg"
