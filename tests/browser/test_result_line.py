"""The lines above the tokens in a real Chromium: the equation and what it lights, and rows that stay where they are."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.known import known
from tests.support.layout import placed
from tests.support.stage_page import visit_stage
from tests.support.visitor import PHONE, wait_until_still

pytestmark = pytest.mark.visitor(reduced_motion="reduce")
RUN = "greedy&sharpness=6&simple"
SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
PARTS = {"tokens": r"^[\d.]+ tokens per target call$", "steps": r"^[\d.]+ steps$", "speedup": r"^[\d.]+×$"}
# what a part of the equation is made of, and what is pale meanwhile
LIT = {
    "tokens": (
        ".block.accepted, .block.verify, [data-figure=acceptance]",
        ".block.alone, .block.wasted, .strip .rejected",
    ),
    "steps": (".block.accepted, .block.wasted, .block.verify, .block.alone", ".strip, figure"),
    "speedup": (".block.verify, .block.alone, [data-figure=speedup]", ".strip, [data-figure=acceptance]"),
}
ROWS = (".top", ".strips", ".transport", ".under", ".legend", ".keys", ".zoom", ".timeline", ".change", ".grid")
PALEST = "all => all.map(one => Number(getComputedStyle(one).opacity))"


def last_step(page: Page) -> int:
    return int(known(page.locator(".scrubber").get_attribute("max")))


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(PARTS[name]))


def opacities(page: Page, selectors: str) -> set[float]:
    found = page.locator(".stage").locator(f":is({selectors}):visible")
    assert found.count()
    return set(found.evaluate_all(PALEST))


def test_a_part_of_the_equation_lights_what_it_is_made_of(context: BrowserContext) -> None:
    page = visit_stage(context, RUN)
    for name, touch in product(PARTS, ("hover", "focus")):
        made_of, others = LIT[name]
        assert opacities(page, made_of) == opacities(page, others) == {1}
        getattr(part(page, name), touch)()
        assert opacities(page, made_of) == {1}
        assert max(opacities(page, others)) < 0.5
        expect(page.locator(f"#tip-{name}")).to_be_visible()
        part(page, name).blur()
        page.mouse.move(0, 0)
        expect(page.locator(f"#tip-{name}")).to_be_hidden()


@pytest.mark.visitor(viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce")
def test_a_tap_on_a_part_of_the_equation_does_the_same(context: BrowserContext) -> None:
    page = visit_stage(context, RUN)
    for name in PARTS:
        part(page, name).tap()
        expect(page.locator(f"#tip-{name}")).to_be_visible()
        assert max(opacities(page, LIT[name][1])) < 0.5


def rows(page: Page) -> list[tuple[float, float]]:
    """Where each row begins, and how high it is."""
    return [(box["y"], box["height"]) for box in placed(*map(page.locator, ROWS))]


def sizes(page: Page) -> Iterator[None]:
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        yield


def test_at_the_end_of_a_run_no_row_moves_and_the_button_of_the_timeline_stays(context: BrowserContext) -> None:
    page = visit_stage(context, f"{RUN}&step=0")
    last = last_step(page)
    when, zoom = page.locator(".when"), page.locator(".zoom")
    for _ in sizes(page):
        page.get_by_label("Step of the run").fill(str(last - 1))
        expect(when).to_have_text("at the end")
        before = rows(page)
        page.get_by_label("Step of the run").fill(str(last))
        expect(when).to_have_text("")
        assert rows(page) == before
        expect(zoom).to_have_text("zoom in")
    page.set_viewport_size({"width": 700, "height": 800})
    wait_until_still(page)
    steps = page.locator(".lanes .block.alone")
    whole = steps.get_attribute("d")
    zoom.click()
    expect(zoom).to_have_text("whole run")
    assert steps.get_attribute("d") != whole
    zoom.click()
    expect(zoom).to_have_text("zoom in")
    assert steps.get_attribute("d") == whole
