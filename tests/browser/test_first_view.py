"""Watch's first view in a real Chromium: all of it in the window, and what a change of the draft length shows."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import AppServer, Visit
from tests.support.grids import grid
from tests.support.known import known
from tests.support.layout import placed
from tests.support.visitor import (
    DESK,
    PHONE,
    expect_all_in_sight,
    expect_no_sideways_scroll,
    violations_of,
    wait_until_drawn,
    wait_until_still,
)

SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
WIDE_AND_NARROW = {"desk": DESK, "phone": PHONE}
HELD = "() => sessionStorage.getItem('specviz-tried')?.split(' ').length === 2"
PLOTS = ("acceptance", "speedup", "lengths")


pytestmark = pytest.mark.visitor(reduced_motion="reduce")
CHIP = ".stage .round .chip"


@pytest.fixture
def page(visit: Visit) -> Page:
    return visit("", CHIP)


def slider_of(page: Page) -> Locator:
    return page.get_by_role("slider", name="Draft length γ")


def test_lengths_that_a_visitor_passes_are_not_run(visit: Visit) -> None:
    page = visit("", CHIP, once=True, reduced_motion="reduce")  # its clock stays as it is set
    page.clock.install(time=0)
    page.clock.pause_at(10_000)  # from here on it stands, but for `run_for`
    more = page.get_by_role("button", name="One token more")
    for _ in range(4):
        more.evaluate("it => it.click()")
        page.clock.run_for(500)  # the next press comes before the length is asked for
        assert "Release the slider" in known(page.locator(".reason").text_content())
    page.clock.resume()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    page.get_by_role("button", name="What you tried").click()
    page.get_by_role("combobox", name="A run").click()
    names = page.get_by_role("listbox").get_by_role("option")
    expect(names).to_have_count(2)
    expect(names.last).to_contain_text("1: wren-nano, 8")


def choose_draft(page: Page, name: str) -> None:
    page.get_by_role("combobox", name="Draft").click()
    page.get_by_role("option", name=name).first.click()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    wait_until_drawn(page)


def test_the_list_of_tries_survives_a_reload(page: Page) -> None:
    choose_draft(page, "wren-small")
    drag(page, 6)
    release(page)
    page.wait_for_function(HELD)
    page.reload()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    page.wait_for_function(HELD)
    page.get_by_role("button", name="What you tried").click()
    page.get_by_role("combobox", name="A run").click()
    names = page.get_by_role("listbox").get_by_role("option")
    expect(names).to_have_count(3)
    expect(names.nth(1)).to_contain_text("1: wren-small, 4")
    expect(names.nth(2)).to_contain_text("2: wren-small, 6")


def test_the_projector_gives_back_the_menus_as_they_were(page: Page, app_server: AppServer) -> None:
    page.goto(f"{app_server.url}/?view=projector")
    for _ in range(2):
        page.get_by_role("button", name="Leave the projector view").click()
        menu = page.get_by_role("combobox", name="Draft")
        expect(menu).to_be_visible()
        if page.locator(".stage").get_attribute("data-run") == "first":
            choose_draft(page, "wren-mini")
            page.get_by_role("button", name="Projector", exact=True).click()
            expect(page.locator(".stage[data-view=projector]")).to_be_visible()
            wait_until_drawn(page)
            drag(page, 7)
            release(page)  # the script runs again without the menus
    expect(menu).to_have_value(re.compile("wren-mini"))
    assert slider_of(page).input_value() == "7"


def test_the_first_view_fills_the_window_and_on_a_phone_the_controls_come_first(page: Page) -> None:
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        expect_all_in_sight(page)
        for name in PLOTS:
            plot = page.locator(f"[data-figure={name}] .plot")
            expect(plot).to_be_in_viewport(ratio=1)
            expect(plot.locator(".curve:not(.pale)").first).to_be_visible()
    page.set_viewport_size(PHONE)
    wait_until_still(page)
    expect_no_sideways_scroll(page)
    parts = [page.get_by_role("combobox", name=name) for name in ("Prompt", "Target", "Draft")]
    parts += [slider_of(page), page.locator(".says"), page.locator(".strip"), page.locator(".scrubber")]
    parts += [page.locator(f"[data-figure={name}]") for name in PLOTS]
    tops = [box["y"] for box in placed(*parts)]
    assert tops == sorted(tops)
    assert violations_of(page) == []


def drag(page: Page, length: int) -> None:
    slider_of(page).evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", length)


def release(page: Page) -> None:
    shown = page.locator(".stage").get_attribute("data-run")
    slider_of(page).dispatch_event("change")
    page.wait_for_selector(f".stage[data-run^='live']:not([data-run='{shown}'])[data-done]")
    wait_until_drawn(page)


@pytest.mark.parametrize("screen", grid(WIDE_AND_NARROW, ("desk",)))
def test_dragging_moves_the_dot_of_the_length_plot_and_nothing_else(page: Page, screen: str) -> None:
    page.set_viewport_size(WIDE_AND_NARROW[screen])
    wait_until_still(page)
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
        expect(page.locator(".badge")).to_have_attribute("title", re.compile("^Modelled .*; exact"))
        expect(page.locator(".change")).to_contain_text(f"at {length}, estimated")
        expect_no_sideways_scroll(page)
    assert seen == sorted(set(seen)), "the dot goes to the right with the length"
    drag(page, 4)
    expect(page.locator(".says strong")).not_to_contain_text("estimated")
    assert placed(dots) == [at]
