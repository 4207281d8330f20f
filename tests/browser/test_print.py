"""Every page on paper: nothing is cut, nothing scrolls, no control that means nothing there, dark on white."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import PATIENCE, AppServer
from tests.support.paper import PAPERS, expect_nothing_cut, on_paper, pages_of, print_page
from tests.support.visitor import wait_until_drawn

SHOTS = Path(__file__).parents[1] / "shots"  # git-ignored; to be looked at
PAGES = {  # by address: what shows that the page is there
    "/?run=first&step=62&view=simple": ".stage .chip",
    "/?run=first&step=62&view=full": ".st-key-outcome .chart .main-svg",
    "/?run=first&step=62&view=projector": ".stage .chip",
    "/?run=first&step=62&view=stage": ".stage .chip",
    "/learn": ".stage .chip",
    "/learn?part=quiz": "[data-testid=stMain] .stButton",
    "/learn?part=words": ".words .entry",
    "/learn?part=why": "[data-testid=stMain] p",
    "/learn?part=teach": ".st-key-lesson_papers",
    "/race": ".race .lane",
    "/helps": ".chart .main-svg",
    "/worksheet": ".chart .main-svg",
    "/proof": "[data-testid=stMain] p",
    "/play": ".play .so-far",
    "/class": "[data-testid=stMain] p",
}
COLOURS = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
FILLS = "nodes => nodes.map((node) => getComputedStyle(node).fill)"


def opened(page: Page, server: AppServer, path: str) -> None:
    page.goto(f"{server.url}{path}")
    wait_until_drawn(page)
    if ".chart" in PAGES[path]:
        page.locator(".chart").first.scroll_into_view_if_needed()  # a figure is drawn when it is nearly seen
    expect(page.locator(PAGES[path]).first).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_a_printer_cuts_nothing(app_server: AppServer, page: Page, path: str) -> None:
    opened(page, app_server, path)
    for paper in PAPERS:
        with on_paper(page, paper):
            expect_nothing_cut(page)
            height = page.evaluate("document.documentElement.scrollHeight / innerHeight")
            expect(page.locator("button:visible:not([class*=st-key-] *, .chip, .explained)")).to_have_count(0)
        pdf = print_page(page, paper)
        assert pages_of(pdf) >= height - 1  # the window's part alone would be one page
        SHOTS.mkdir(exist_ok=True)
        (SHOTS / f"print-{re.sub('[^a-z0-9]+', '-', path)}-{paper}.pdf").write_bytes(pdf)


def test_the_dark_theme_prints_dark_on_white(app_server: AppServer, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme="dark")
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    opened(page, app_server, "/?run=first&step=62&view=full")
    expect(page.locator(".stage[data-scheme=dark]")).to_be_visible()
    with on_paper(page, "A4"):
        for part in (".stApp", ".stage", ".stage .sentence", "h1 strong", ".st-key-outcome p", ".chart"):
            ink, ground = page.locator(part).first.evaluate(COLOURS)
            assert brightness(ink) < 60, part
            assert ground == "rgba(0, 0, 0, 0)" or brightness(ground) == 255, part
        labels = page.locator(".chart .xtick text")
        assert all(brightness(fill) < 120 for fill in labels.evaluate_all(FILLS))
    context.close()


def brightness(colour: str) -> float:
    """The mean of red, green and blue, 0 to 255."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3
