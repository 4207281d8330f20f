"""The Worksheet in a real Chromium: its first view fits a screen, and nothing of it wraps or is cut."""

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Visit
from tests.support.visitor import DESK, PHONE, expect_no_sideways_scroll

ADDRESS = "worksheet?gamma=10", ".chart .main-svg"  # its widest figures
SLIDERS = ("Acceptance of judged guesses", "Draft length", "Cost of a guess", "Cost of a check")
CUT = "nodes => nodes.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"


def tops(parts: Locator) -> list[float]:
    return parts.evaluate_all("nodes => nodes.map((one) => one.getBoundingClientRect().top)")


def expect_tiles_in_one_line(page: Page) -> None:
    """And nothing of them is cut."""
    tiles = page.get_by_test_id("stMetric")
    expect(tiles).to_have_count(3)
    assert len({round(top) for top in tops(tiles)}) == 1
    texts = tiles.locator("[data-testid=stMetricValue] *, [data-testid=stMetricLabel] *")
    assert texts.count() >= 6
    assert texts.evaluate_all(CUT) == []
    expect_no_sideways_scroll(page)


def test_the_verdict_the_tiles_and_the_four_terms_need_no_scrolling(visit: Visit) -> None:
    page = visit(*ADDRESS, viewport=DESK, reduced_motion="reduce")
    expect_tiles_in_one_line(page)
    sliders = page.get_by_test_id("stSlider")  # of which the input itself cannot be seen
    shown = [sliders.filter(has=page.get_by_role("slider", name=name)) for name in SLIDERS]
    for part in [page.get_by_text("modelled.").first, *shown, page.get_by_test_id("stMetric").last]:
        expect(part).to_be_in_viewport()
    expect(page.get_by_role("slider", name="o, overhead")).to_be_hidden()
    page.get_by_text("All terms", exact=True).click()
    expect(page.get_by_role("slider", name="o, overhead")).to_be_visible()


def test_on_a_phone_the_verdict_comes_first_then_the_sliders_then_the_map(visit: Visit) -> None:
    page = visit(*ADDRESS, viewport=PHONE, reduced_motion="reduce")
    expect_tiles_in_one_line(page)
    parts = ["[data-testid=stMetric]", "[data-testid=stSlider]", ".st-key-worksheet_map"]
    order = [tops(page.locator(part))[0] for part in parts]
    assert order == sorted(order)
