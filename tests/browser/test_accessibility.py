"""Every page through axe-core, in light and dark: axe finds no violation of our making.

axe comes with axe-playwright-python, a pinned development dependency. Nothing of it is committed.
"""

from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.conftest import PATIENCE, AppServer
from tests.support.visitor import wait_until_drawn, wait_until_still

AXE = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = "axe.run(document, {resultTypes: ['violations']}).then((done) => done.violations)"
LOOKS = 4
PAGES = {  # address, and what can be seen once the page is drawn
    "/": ".stage .round .chip",
    "/?view=full": ".chart .main-svg",
    "/?tour=1": ".tour-says",
    "/?tour=5": ".tour-says",
    "/?view=projector": ".stage[data-view=projector] .round .chip",
    "/?view=stage": ".stage[data-view=stage] .round .chip",
    "/race": "[data-testid=stDataFrame]",
    "/helps": "[data-testid=stTabs]",
    "/worksheet": "[data-testid=stMetric]",
    "/learn?lesson=rejection": ".stage .round .chip",
    "/learn?part=quiz": "[data-testid=stMain] button",
    "/learn?part=words": ".words .entry",
    "/learn?part=why": ".explained",
    "/learn?part=teach": ".st-key-lesson_start",
    "/learn?lesson=fifty-minutes&moment=1": ".st-key-lesson_bar",
    "/proof": ".chart .main-svg",
    "/play": ".stage",
    "/class": "[data-testid=stForm]",
}


@pytest.fixture(scope="module", params=["light", "dark"])
def context(browser: Browser, app_server: AppServer, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    """One visitor for all pages, who has seen one: the app's scripts are loaded and its engine has started."""
    made = browser.new_context(
        viewport={"width": 1280, "height": 720},
        color_scheme=request.param,
        reduced_motion="reduce",  # the stage then stands at its end; a chip that fades in has no colour yet
    )
    made.set_default_timeout(PATIENCE)
    first = made.new_page()
    first.goto(app_server.url)
    wait_until_drawn(first, PAGES["/"])
    first.close()
    yield made
    made.close()


@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_no_violation_of_our_making(context: BrowserContext, app_server: AppServer, path: str) -> None:
    page = context.new_page()
    if "full" in path:
        page.set_viewport_size({"width": 1280, "height": 1600})  # its figures are drawn when they are nearly seen
    page.goto(f"{app_server.url}{path}")
    wait_until_drawn(page, PAGES[path])
    page.evaluate(AXE)
    violations = found_at_rest(page)
    page.close()
    assert [f"{one['id']}: {node['html'][:120]} {data_of(node)}" for one in violations for node in one["nodes"]] == []


def found_at_rest(page: Page) -> list[dict[str, Any]]:
    """The violations that stay: while the page's script runs once more, its parts are faded and have other colours."""
    for _ in range(LOOKS):
        wait_until_still(page)
        found: list[dict[str, Any]] = page.evaluate(VIOLATIONS)
        if not found:
            break
    return found


def data_of(node: dict[str, Any]) -> list[Any]:
    """What axe measured: of a contrast, both colours and their ratio."""
    return [check.get("data") for check in node["any"]]
