"""A round whose draft is a tree, in a real Chromium: how it is drawn, and reached by keyboard."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.stage_page import visit_stage
from tests.support.visitor import wait_until_still

SHAPE = "tree=4,2,1"  # 20 guesses in 8 rows
PROPOSED, CHECKED, JUDGED = 6, 7, 8  # of round 3
BOXES = "all => all.map(one => { const {x, y, width} = one.getBoundingClientRect(); return [x, y, width]; })"


pytestmark = pytest.mark.visitor(reduced_motion="reduce")


def open_tree(context: BrowserContext, step: int = JUDGED, query: str = SHAPE) -> Page:
    page = visit_stage(context, f"{query}&step={step}")
    expect(nodes(page).first).to_be_visible()
    wait_until_still(page)
    return page


def nodes(page: Page) -> Locator:
    """The guesses of the tree in sight."""
    return page.locator(".strip .current").get_by_role("treeitem")


def note(page: Page) -> Locator:
    return page.locator(".strip .current .tree-note")


def boxes_of(locator: Locator) -> list[list[float]]:
    found: list[list[float]] = locator.evaluate_all(BOXES)
    return found


def test_it_is_proposed_checked_and_judged_and_nothing_moves(context: BrowserContext) -> None:
    page = open_tree(context, PROPOSED)
    expect(page.locator(".sentence")).to_have_text("The draft guesses a tree: 20 guesses for 3 places.")
    expect(note(page)).to_have_text(re.compile("20 guesses, place by place"), use_inner_text=True)
    before = boxes_of(nodes(page))
    page.get_by_label("Forward one step").click()
    expect(note(page)).to_have_text(re.compile("one pass: 20 guesses"), use_inner_text=True)
    assert boxes_of(nodes(page)) == before
    page.get_by_label("Forward one step").click()
    expect(note(page)).to_have_text(re.compile(r"accepted ✓ · \d+ failed ✗ · \d+ not taken ⋯"), use_inner_text=True)
    assert boxes_of(nodes(page)) == before


def test_the_accepted_path_is_text_and_only_the_tree_in_sight_is_drawn(context: BrowserContext) -> None:
    page = open_tree(context)
    accepted = page.locator(".strip .current .branches .accepted")
    path = page.locator(".strip .current .path .chip")
    expect(path).to_have_text([*accepted.all_inner_texts(), *path.all_inner_texts()[-1:]])
    expect(page.locator(".strip .branches:visible")).to_have_count(1)
    expect(page.locator(".strip .round").first.locator(".path .chip").first).to_be_visible()
    page.get_by_label("Back one round").click()
    page.get_by_label("Back one step").click()
    expect(page.locator(".strip .current .branches")).to_be_visible()
    expect(page.locator(".strip .branches:visible")).to_have_count(1)


def test_it_has_one_tab_stop_its_arrow_keys_follow_the_branches_and_enter_explains(context: BrowserContext) -> None:
    page = open_tree(context)
    expect(page.locator(".strip .chip[tabindex='0']")).to_have_count(1)
    nodes(page).first.focus()
    focused = page.locator(".strip .chip:focus")
    for key, level, place, of in (
        ("ArrowRight", 2, 1, 2),
        ("ArrowDown", 2, 2, 2),
        ("ArrowRight", 3, 1, 1),
        ("ArrowRight", 3, 1, 1),
        ("ArrowLeft", 2, 2, 2),
        ("ArrowUp", 2, 1, 2),
        ("ArrowLeft", 1, 1, 4),
        ("ArrowDown", 1, 2, 4),
        ("End", 3, 1, 1),
        ("Home", 1, 1, 4),
    ):
        page.keyboard.press(key)
        said = {name: focused.get_attribute(f"aria-{name}") for name in ("level", "posinset", "setsize")}
        assert said == {"level": str(level), "posinset": str(place), "setsize": str(of)}, key
    page.keyboard.press("ArrowUp")
    expect(page.locator(".strip .path .chip:focus")).to_have_count(1)  # out of the tree, to the text
    page.keyboard.press("ArrowRight")
    expect(nodes(page).first).to_be_focused()
    expect(page.locator(".round-number")).to_have_text(re.compile("Round 3 of"))  # no key moved the playhead
    page.keyboard.press("Enter")
    expect(page.locator(".spoken")).to_contain_text("in the order tried")
    page.keyboard.press("Escape")
    expect(page.locator(".unpin")).to_have_count(0)


def test_hostile_guesses_are_only_text(context: BrowserContext) -> None:
    page = open_tree(context, 8, "tree=3,2&hostile&sharpness=1")
    for node in nodes(page).all():
        node.click()
    assert page.locator(".stage :is(script, img), .strip b").count() == 0
