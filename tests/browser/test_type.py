"""How large the type is, and where titles stand, in a real Chromium."""

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from tests.browser.test_every_page import TITLES
from tests.conftest import Visit
from tests.support.layout import placed
from tests.support.visitor import DESK, expect_no_sideways_scroll, wait_until_still

CHIP = ".stage .round .chip"
PROJECTOR: ViewportSize = {"width": 1920, "height": 1080}
TYPE = {  # what a room reads, and who shows it
    "navigation": ("", "[data-testid=stTopNavLink] p"),
    "title": ("", "h1"),
    "label": ("", "[data-testid=stWidgetLabel] p"),
    "menu": ("", "[data-testid=stSelectbox] input"),
    "button": ("", ".stButton button p"),
    "tokens": ("", CHIP),
    "prose": ("worksheet", "[data-testid=stMarkdownContainer] p"),
    "story": ("learn", ".explains"),
    "parts": ("learn", "[data-testid=stButtonGroup] button p"),
}
NEAR = 0.02  # of the stage's growth
FONT_SIZE = "node => parseFloat(getComputedStyle(node).fontSize)"


def size_of(part: Locator) -> float:
    size: float = part.first.evaluate(FONT_SIZE)
    return size


@pytest.mark.full
def test_on_a_projector_all_type_grows_with_the_stage_and_titles_stand_at_one_height_on_all_pages(
    visit: Visit,
) -> None:
    tops: dict[int, dict[str, int]] = {}
    sizes: dict[str, list[float]] = {}
    for path in (title.removeprefix("/") for title in TITLES):
        page = visit(path, "[data-testid=stMain] h1")
        parts = {name: page.locator(selector) for name, (where, selector) in TYPE.items() if where == path}
        for screen in (DESK, PROJECTOR):
            page.set_viewport_size(screen)
            wait_until_still(page)
            title = page.locator("[data-testid=stMain] h1").first
            expect(title).to_have_css("font-weight", "600")  # the app's style is there
            [box] = placed(title)
            tops.setdefault(screen["width"], {})[path] = round(box["y"])
            for name, part in parts.items():
                sizes.setdefault(name, []).append(size_of(part))
            expect_no_sideways_scroll(page)
        page.close()
    assert [its for its in tops.values() if len(set(its.values())) > 1] == []
    growth = {name: large / small for name, (small, large) in sizes.items()}
    assert growth.keys() == TYPE.keys()
    assert growth["tokens"] > 1.3
    assert {name: round(grown, 2) for name, grown in growth.items() if abs(grown / growth["tokens"] - 1) > NEAR} == {}


def test_the_headline_keeps_its_size_whatever_the_result_says(visit: Visit) -> None:
    page = visit("", CHIP, reduced_motion="reduce")
    says, tokens = page.locator(".stage .says"), page.locator(".stage .strips")
    size, [place] = size_of(says), placed(tokens)
    slider = page.get_by_role("slider", name="Draft length γ")
    slider.evaluate("node => { node.value = 12; node.dispatchEvent(new Event('input', { bubbles: true })); }")
    expect(says).to_contain_text("estimated")
    assert (size_of(says), placed(tokens)) == (size, [place])
    page.locator(".stage").evaluate("node => node.setAttribute('data-doubt', '')")
    assert (size_of(says), placed(tokens)) == (size, [place])
