"""The Worksheet in a real Chromium: its first view fits a screen, and nothing of it wraps or is cut."""

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.conftest import AppServer, NewContext
from tests.support.visitor import DESK, PHONE, expect_no_sideways_scroll, wait_until_still

SLIDERS = ("Acceptance of checked guesses", "Draft length", "Cost of a guess", "Cost of a check")
CUT = "nodes => nodes.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"


def open_page(new_context: NewContext, server: AppServer, screen: ViewportSize) -> Page:
    page = new_context(viewport=screen, reduced_motion="reduce").new_page()
    page.goto(f"{server.url}/worksheet?gamma=10")  # its widest figures
    expect(page.locator(".chart .main-svg").first).to_be_attached()
    wait_until_still(page)
    return page


def tops(parts: Locator) -> list[float]:
    return parts.evaluate_all("nodes => nodes.map((one) => one.getBoundingClientRect().top)")


@pytest.mark.parametrize("screen", [DESK, PHONE], ids=["desk", "phone"])
def test_the_tiles_stand_in_one_line_and_nothing_of_them_is_cut(
    new_context: NewContext, app_server: AppServer, screen: ViewportSize
) -> None:
    page = open_page(new_context, app_server, screen)
    tiles = page.get_by_test_id("stMetric")
    expect(tiles).to_have_count(3)
    assert len({round(top) for top in tops(tiles)}) == 1
    texts = tiles.locator("[data-testid=stMetricValue] *, [data-testid=stMetricLabel] *")
    assert texts.count() >= 6
    assert texts.evaluate_all(CUT) == []
    expect_no_sideways_scroll(page)


def test_the_verdict_the_tiles_and_the_four_terms_need_no_scrolling(
    new_context: NewContext, app_server: AppServer
) -> None:
    page = open_page(new_context, app_server, DESK)
    sliders = page.get_by_test_id("stSlider")  # of which the input itself cannot be seen
    shown = [sliders.filter(has=page.get_by_role("slider", name=name)) for name in SLIDERS]
    for part in [page.get_by_text("modelled.").first, *shown, page.get_by_test_id("stMetric").last]:
        expect(part).to_be_in_viewport()
    expect(page.get_by_role("slider", name="o, overhead")).to_be_hidden()
    page.get_by_text("All terms", exact=True).click()
    expect(page.get_by_role("slider", name="o, overhead")).to_be_visible()


def test_on_a_phone_the_verdict_comes_first_then_the_sliders_then_the_map(
    new_context: NewContext, app_server: AppServer
) -> None:
    page = open_page(new_context, app_server, PHONE)
    parts = ["[data-testid=stMetric]", "[data-testid=stSlider]", ".st-key-worksheet_map"]
    order = [tops(page.locator(part))[0] for part in parts]
    assert order == sorted(order)
