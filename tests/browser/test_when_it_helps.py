"""When it helps in a real Chromium: the recorded sweep, one measured here, a visit elsewhere meanwhile, a phone."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specviz.measure.endpoints.result import dump_result
from specviz.measure.sweep.table import read_frame
from tests.conftest import AppServer, Visit
from tests.support.bench_results import make_bench
from tests.support.grids import grid
from tests.support.layout import measured, outside, overlapping, upright
from tests.support.visitor import DESK, PHONE, expect_no_sideways_scroll, wait_until_drawn, wait_until_still

SMALL = (
    "when_it_helps?workload=story&workload=copy&gamma=2&gamma=4&tokens=16&prompts=1&draft=wren-nano&target=wren-base"
)
KINDS = "workload=story&workload=code&workload=prose&workload=structured"
LARGE = f"when_it_helps?{KINDS}&gamma=1&gamma=2&gamma=4&gamma=8&tokens=64&prompts=5"
TABS = {  # with the group that each is in
    "By workload": "Texts and settings",
    "Draft length": "Texts and settings",
    "Break-even": "Texts and settings",
    "Constrained output": "Texts and settings",
    "Adaptive": "Texts and settings",
    "By method": "Drafts",
}


def test_a_small_sweep_is_measured_here_and_downloaded(
    visit: Visit, real_app_server: AppServer, tmp_path: Path
) -> None:
    page = visit(SMALL, CHART, real_app_server)
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
def test_a_sweep_goes_on_during_a_visit_to_watch_and_a_live_run_there(visit: Visit, app_server: AppServer) -> None:
    page = visit(LARGE, CHART)
    with app_server.at_most(sweep=3) as allow:
        page.get_by_role("button", name="Measure here").click()
        expect(page.get_by_test_id("stProgress")).to_contain_text("3 of 80")
        page.get_by_role("link", name="Watch").click()
        page.wait_for_selector(".stage .round .chip")
        page.get_by_role("button", name="Show everything").click()
        wait_until_still(page)
        page.get_by_role("button", name="Run again").click()
        page.wait_for_selector(".stage[data-run^='live'][data-done]")  # beside the sweep
        allow(sweep=7)
        page.get_by_role("link", name="When it helps").click()
        expect(page.get_by_test_id("stProgress")).to_contain_text("7 of 80")
        page.get_by_role("button", name="Cancel").click()
        expect(page.get_by_text("Cancelled. What was found stays.")).to_be_visible()
    expect(page.get_by_text("Measured here", exact=True)).to_be_visible()


def open_tab(page: Page, tab: str) -> None:
    for name in dict.fromkeys([TABS[tab], tab]):
        page.get_by_role("tab", name=name).click()
        expect(page.get_by_role("tab", name=name)).to_have_attribute("aria-selected", "true")


def test_the_next_measurement_is_folded_until_it_is_wanted_and_a_link_that_chooses_opens_it(visit: Visit) -> None:
    """Found: the controls beside the figures looked like a filter of them."""
    page = visit("when_it_helps", CHART)
    fold, start = page.get_by_text("The next measurement"), page.get_by_role("button", name="Measure here")
    expect(start).to_be_hidden()
    of_a_sweep = [tab for tab, group in TABS.items() if group == "Texts and settings"]
    expect(page.get_by_role("tab")).to_have_text(["Texts and settings", "Drafts", "Your server", *of_a_sweep])
    fold.click()
    expect(start).to_be_visible()
    page.get_by_text("Boilerplate", exact=True).first.click()
    expect(page.get_by_text("84 runs")).to_be_visible()
    expect(start).to_be_visible()
    page = visit("when_it_helps?gamma=2", CHART)
    expect(page.get_by_role("button", name="Measure here")).to_be_visible()


CHART = ".chart .main-svg"
WORDS = ".annotation-text, .xtick text, .ytick text, .xtitle, .ytitle, .legendtext"
SCREENS = {"desk": DESK, "phone": PHONE}


@pytest.mark.parametrize("screen", grid(SCREENS, ("phone",)))
def test_words_and_marks_of_every_figure_are_whole_and_none_lies_over_another(visit: Visit, screen: str) -> None:
    page = visit("when_it_helps", CHART, viewport=SCREENS[screen], has_touch=screen == "phone")
    looked_at = 0
    for tab in TABS:
        open_tab(page, tab)
        expect_no_sideways_scroll(page)
        for chart in page.locator(".chart").filter(visible=True).all():
            chart.scroll_into_view_if_needed()
            expect(chart.locator(".main-svg").first).to_be_visible()
            wait_until_still(page)
            assert overlapping(upright(chart.locator(WORDS))) == [], tab
            assert outside(chart.locator(WORDS), chart) == [], tab
            _, [words, button] = measured(chart, chart.locator(WORDS), chart.locator(".save summary"))
            assert [word for word in words if overlapping([word, *button])] == [], tab
            looked_at += 1
    assert looked_at > len(TABS)
    open_tab(page, "By method")
    costs = page.locator(".chart").filter(has=page.get_by_role("img", name="What each draft gives and costs"))
    expect(costs.locator(".points path")).to_have_count(12)
    assert outside(costs.locator(".points path"), costs.locator(".nsewdrag")) == []


@pytest.mark.parametrize("screen", grid(SCREENS, ("phone",)))
def test_a_bench_of_your_server_is_opened_read_downloaded_and_cleared(
    visit: Visit, screen: str, tmp_path: Path
) -> None:
    file = tmp_path / "bench.json"
    file.write_text(dump_result(make_bench({1: 1.6, 4: 1.01, 8: 0.8})), encoding="utf-8")
    page = visit("when_it_helps", CHART, viewport=SCREENS[screen], has_touch=screen == "phone")
    page.get_by_role("tab", name="Your server").click()
    page.get_by_text("Measure your own servers").click()
    expect(page.get_by_text("This page asks no server")).to_be_visible()
    page.locator("input[type=file][accept*=json]").set_input_files(file)
    expect(page.get_by_text("Helps, 1.60× at concurrency 1.")).to_be_visible()
    expect(page.get_by_text("By concurrency: helps at 1, hurts at 8").first).to_be_visible()
    charts = page.locator(".chart").filter(visible=True)
    expect(charts).to_have_count(5)
    expect_no_sideways_scroll(page)
    for chart in charts.all():
        chart.scroll_into_view_if_needed()
        expect(chart.locator(".main-svg").first).to_be_visible()
        wait_until_still(page)
        assert overlapping(upright(chart.locator(WORDS))) == []
        assert outside(chart.locator(WORDS), chart) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").filter(visible=True).click()
    assert len(Path(download.value.path()).read_text(encoding="utf-8").splitlines()) == 1 + 3 * 12
    page.get_by_role("button", name="Clear my file").click()
    expect(page.get_by_text("Helps, 1.60× at concurrency 1.")).to_be_hidden()
    page.get_by_role("button", name="Undo clear").filter(visible=True).click()
    expect(page.get_by_text("Helps, 1.60× at concurrency 1.")).to_be_visible()
