"""Every page on the narrowest screen, at 200 % zoom and in the visitor's own colours, in a real Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import PATIENCE, AppServer
from tests.support.visitor import expect_no_sideways_scroll, wait_until_drawn, wait_until_still

SCREENS = {"320 px": (320, 640, 1.0), "200 % zoom": (640, 360, 2.0)}  # CSS pixels, and pixels for each
PAGES = {  # address, and what can be seen once the page is drawn
    "/": ".stage .round .chip",
    "/?view=full": ".stage figure svg",
    "/?view=projector": ".stage[data-view=projector] .round .chip",
    "/?view=stage": ".stage[data-view=stage] .round .chip",
    "/?tour=2": ".tour-says",
    "/race": ".lane",
    "/helps": "[data-testid=stTabs]",
    "/worksheet": "[data-testid=stMetric]",
    "/learn?lesson=rejection": ".diagram svg",
    "/learn?part=quiz": ".st-key-quiz-1-0",
    "/learn?part=words": ".words .entry",
    "/learn?part=why": ".explained",
    "/proof": "#sampling",
    "/play": ".play .so-far",
}


@pytest.fixture(scope="module", params=SCREENS)
def narrow(browser: Browser, app_server: AppServer, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """One visitor for all pages, who has seen one: the app's scripts are loaded."""
    width, height, zoom = SCREENS[request.param]
    made = browser.new_context(
        viewport={"width": width, "height": height}, device_scale_factor=zoom, reduced_motion="reduce"
    )
    made.set_default_timeout(PATIENCE)
    first = made.new_page()
    first.goto(app_server.url)
    wait_until_drawn(first, PAGES["/"])
    first.close()
    yield made
    made.close()


def open_page(context: BrowserContext, server: AppServer, path: str) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}{path}")
    page.locator(PAGES[path]).first.wait_for()
    wait_until_still(page)
    return page


@pytest.mark.parametrize("path", PAGES)
def test_no_page_scrolls_sideways(narrow: BrowserContext, app_server: AppServer, path: str) -> None:
    page = open_page(narrow, app_server, path)
    expect_no_sideways_scroll(page)
    page.close()


def test_in_the_visitors_own_colours_every_part_of_the_player_can_be_seen(
    browser: Browser, app_server: AppServer
) -> None:
    context = browser.new_context(color_scheme="dark", forced_colors="active", reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    page = open_page(context, app_server, "/?view=full")
    ground = page.locator(".stage").evaluate("(stage) => getComputedStyle(stage).backgroundColor")
    for part, paint in ((".block.verify", "fill"), (".curve.accepted", "stroke"), (".key.draft", "background-color")):
        drawn = page.locator(f".stage {part}").first.evaluate(
            "(node, paint) => getComputedStyle(node).getPropertyValue(paint)", paint
        )
        assert drawn != ground, part
    track = page.locator(".stage .scrubber").evaluate("(input) => getComputedStyle(input).forcedColorAdjust")
    assert track == "none"
    marks = page.locator(".legend .chip").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    )
    assert len(set(marks)) == len(marks)
    page.locator(".strip .chip[tabindex='0']").focus()
    expect(page.locator(".strip .chip:focus")).not_to_have_css("outline-style", "none")
    context.close()
