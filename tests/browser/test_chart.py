"""The chart component in a real Chromium, on a page that uses it."""

import pytest
from playwright.sync_api import Page, Route, expect

from tests.conftest import AppServer
from tests.support.visitor import PHONE, placed

KINDS = {"PNG": b"\x89PNG", "SVG": b"<svg"}  # and how their files begin
MAP = "Modelled speedup by acceptance and draft length"


def test_a_chart_is_coming_and_a_sentence_stands_in_its_place_where_plotly_cannot_be_loaded(
    page: Page, app_server: AppServer
) -> None:
    asked: list[Route] = []
    page.context.route("**/plotly.min.js", lambda route: asked.append(route))
    with page.expect_request("**/plotly.min.js"):
        page.goto(f"{app_server.url}/worksheet")
    chart = page.locator(".chart").first
    expect(chart.locator(".coming")).to_have_text("The figure is being loaded …")
    expect(chart.locator(".save")).to_be_hidden()
    [route] = asked  # the charts of a page load Plotly once
    route.abort()
    expect(chart.get_by_text("This figure could not be loaded.")).to_be_visible()
    [box] = placed(chart)
    assert box["height"] == 450
    expect(page.get_by_role("img", name=MAP)).to_have_count(1)


@pytest.mark.full
def test_a_chart_follows_the_theme_and_the_width_and_is_saved_by_keyboard_without_a_network(
    page: Page, app_server: AppServer
) -> None:
    page.goto(f"{app_server.url}/worksheet")
    figure = page.get_by_role("img", name=MAP)
    chart, drawn = page.locator(".chart").filter(has=figure), figure.locator(".main-svg").first
    expect(drawn).to_be_visible()
    expect(chart.locator(".coming")).to_be_hidden()
    page.context.set_offline(True)
    for kind, begins in KINDS.items():
        chart.locator("summary").press("Enter")
        button = chart.get_by_role("button", name=kind)
        with page.expect_download() as download:
            button.press("Enter")
        assert download.value.suggested_filename.startswith("specviz-modelled-speedup")
        assert download.value.path().read_bytes().startswith(begins)
        expect(button).to_be_hidden()
    light = figure.locator(".xtitle").evaluate("one => getComputedStyle(one).fill")
    page.emulate_media(color_scheme="dark")
    expect(figure.locator(".xtitle")).not_to_have_css("fill", light)
    [wide] = placed(figure)
    page.set_viewport_size(PHONE)
    expect(drawn).not_to_have_attribute("width", f"{wide['width']:g}")
    [narrow] = placed(drawn)
    assert narrow["width"] < PHONE["width"]
