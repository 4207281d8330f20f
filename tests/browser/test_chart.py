"""The chart component in a real Chromium, on the pages that use it."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.conftest import AppServer
from tests.support.visitor import PHONE, placed

KINDS = {"PNG": b"\x89PNG", "SVG": b"<svg"}  # and how their files begin
MAP = "Modelled speedup by acceptance and draft length"


@pytest.mark.full
def test_a_chart_is_coming_follows_the_theme_and_the_width_and_is_saved_by_keyboard_without_a_network(
    page: Page, app_server: AppServer
) -> None:
    asked: list[Route] = []
    open_now = False  # the line stands there before the request may have been made

    def answer(route: Route) -> None:
        asked.append(route)
        if open_now:
            route.continue_()

    page.context.route("**/plotly.min.js", answer)
    page.goto(f"{app_server.url}/worksheet")
    coming = page.locator(".chart .coming").first
    expect(coming).to_have_text("The figure is being loaded …")
    expect(page.locator(".chart .save").first).to_be_hidden()
    open_now = True
    for route in list(asked):
        route.continue_()
    figure = page.get_by_role("img", name=MAP)
    drawn = figure.locator(".main-svg").first
    expect(drawn).to_be_visible()
    expect(coming).to_be_hidden()
    waterfall = page.get_by_role("img", name="From the formula’s speedup")
    waterfall.scroll_into_view_if_needed()
    expect(waterfall.locator(".main-svg").first).to_be_visible()
    assert len(asked) == 1, "the charts of a page load Plotly once"
    expect_saved_by_keyboard(page, page.locator(".chart").filter(has=figure))
    light = figure.locator(".xtitle").evaluate("one => getComputedStyle(one).fill")
    page.emulate_media(color_scheme="dark")
    expect(figure.locator(".xtitle")).not_to_have_css("fill", light)
    [wide] = placed(figure)
    page.set_viewport_size(PHONE)
    expect(drawn).not_to_have_attribute("width", f"{wide['width']:g}")
    [narrow] = placed(drawn)
    assert narrow["width"] < PHONE["width"]


def expect_saved_by_keyboard(page: Page, chart: Locator) -> None:
    page.context.set_offline(True)
    for kind, begins in KINDS.items():
        chart.locator("summary").focus()
        page.keyboard.press("Enter")
        button = chart.get_by_role("button", name=kind)
        button.focus()
        with page.expect_download() as download:
            page.keyboard.press("Enter")
        assert download.value.suggested_filename.startswith("specviz-modelled-speedup")
        assert download.value.path().read_bytes().startswith(begins)
        expect(button).to_be_hidden()
    page.context.set_offline(False)


def test_a_place_is_reserved_and_a_sentence_stands_in_it_where_plotly_cannot_be_loaded(
    page: Page, app_server: AppServer
) -> None:
    page.context.route("**/plotly.min.js", lambda route: route.abort())
    page.goto(f"{app_server.url}/worksheet")
    expect(page.get_by_text("This figure could not be loaded.").first).to_be_visible()
    [box] = placed(page.locator(".chart").first)
    assert box["height"] == 450
    expect(page.get_by_role("img", name=MAP)).to_have_count(1)
