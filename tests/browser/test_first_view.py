"""Watch's first view in a real Chromium: all of it in the window, and what a change of the draft length shows."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Visit
from tests.support.visitor import PHONE, expect_no_scroll, placed, wait_until_drawn, wait_until_still

SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
HELD = "() => sessionStorage.getItem('specviz-tried')?.split(' ').length === 2"
PLOTS = ("acceptance", "speedup", "lengths")
CHIP, DONE = ".stage .round .chip", ".stage[data-run^='live'][data-done]"


def slider_of(page: Page) -> Locator:
    return page.get_by_role("slider", name="Draft length γ")


def drag(page: Page, length: int) -> None:
    slider_of(page).evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", length)


def expect_tried(page: Page, *names: str) -> None:
    """The list of what was tried, after the recorded run."""
    page.get_by_role("button", name="What you tried").click()
    page.get_by_role("combobox", name="A run").click()
    listed = page.get_by_role("listbox").get_by_role("option")
    expect(listed).to_have_count(1 + len(names))
    for at, name in enumerate(names, start=1):
        expect(listed.nth(at)).to_contain_text(name)


def test_lengths_that_a_visitor_passes_are_not_run(visit: Visit) -> None:
    page = visit("", CHIP, once=True)  # its clock stays as it is set
    page.clock.install(time=0)
    page.clock.pause_at(10_000)  # from here on it stands, but for `run_for`
    for _ in range(4):
        page.get_by_role("button", name="One token more").evaluate("it => it.click()")
        page.clock.run_for(500)  # the next press comes before the length is asked for
        assert "Release the slider" in (page.locator(".reason").text_content() or "")
    page.clock.resume()
    page.wait_for_selector(DONE)
    expect_tried(page, "1: wren-nano, 8")


def test_the_list_of_tries_survives_a_reload(visit: Visit) -> None:
    page = visit("", CHIP)
    page.get_by_role("combobox", name="Draft").click()
    page.get_by_role("option", name="wren-small").first.click()
    page.wait_for_selector(DONE)
    wait_until_drawn(page)
    shown = page.locator(".stage").get_attribute("data-run")
    drag(page, 6)
    slider_of(page).dispatch_event("change")
    page.wait_for_selector(f"{DONE}:not([data-run='{shown}'])")
    page.wait_for_function(HELD)
    page.reload()
    page.wait_for_selector(DONE)
    page.wait_for_function(HELD)
    expect_tried(page, "1: wren-small, 4", "2: wren-small, 6")


def test_the_first_view_fills_the_window_dragging_moves_one_dot_and_on_a_phone_the_controls_come_first(
    visit: Visit,
) -> None:
    page = visit("", CHIP)
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        expect_no_scroll(page, "Width", "Height")
        for name in PLOTS:
            plot = page.locator(f"[data-figure={name}] .plot")
            expect(plot).to_be_in_viewport(ratio=1)
            expect(plot.locator(".curve:not(.pale)").first).to_be_visible()
    expect_dragging_moves_one_dot(page)
    page.set_viewport_size(PHONE)
    wait_until_still(page)
    parts = [page.get_by_role("combobox", name=name) for name in ("Prompt", "Target", "Draft")]
    parts += [slider_of(page), *map(page.locator, (".says", ".strip", ".scrubber"))]
    parts += [page.locator(f"[data-figure={name}]") for name in PLOTS]
    tops = [box["y"] for box in placed(*parts)]
    assert tops == sorted(tops)


def expect_dragging_moves_one_dot(page: Page) -> None:
    """Of the plot by length, and nothing else."""
    dots = page.locator("[data-figure=lengths] .dot.corrected:not(.pale)")
    still = [page.locator(part) for part in (".strips", ".draft-length input", ".scrubber", ".change", ".grid")]
    before, [at] = placed(*still), placed(dots)
    seen = [at["x"]]
    for length in (5, 9, 16):
        drag(page, length)
        expect(dots).to_have_class("dot corrected hollow")
        seen.append(placed(dots)[0]["x"])
        assert placed(*still) == before
        expect(page.locator(".says strong")).to_contain_text("estimated")
        expect(page.locator(".badge")).to_have_text("MODELLED")
        expect(page.locator(".badge")).to_have_attribute("title", re.compile("^Counted .*: exact"))
    assert seen == sorted(set(seen)), "the dot goes to the right with the length"
    drag(page, 4)
    expect(page.locator(".says strong")).not_to_contain_text("estimated")
    assert placed(dots) == [at]
