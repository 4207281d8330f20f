"""The game in a real Chromium, engine and all: by keyboard alone."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.conftest import Visit
from tests.support.visitor import expect_no_sideways_scroll, wait_until_drawn

SO_FAR = ".play .so-far"
INPUT = "input[aria-label='What are the next few words?']"


def so_far(page: Page) -> Locator:
    return page.locator(SO_FAR)


def turn(page: Page) -> Locator:
    return page.get_by_role("region", name="The result of the draft")


def wait_for_round(page: Page, number: int) -> None:
    expect(page.get_by_text(f"round {number} of 5")).to_be_visible()


def test_one_round_as_the_draft_by_keyboard_alone(visit: Visit) -> None:
    page = visit("be_the_draft?seed=3", SO_FAR)
    expect(page.locator(INPUT)).to_be_focused()
    expect(page.get_by_text("How it goes: an example, recorded")).to_be_visible()
    expect(so_far(page)).to_have_text("Once upon a time, there was a little girl named …")
    expect_no_sideways_scroll(page)
    page.keyboard.type("Lilx")
    page.keyboard.press("Backspace")  # a slip is mended before it is sent
    page.keyboard.type("y. She xylophoned")
    page.keyboard.press("Enter")
    wait_for_round(page, 2)
    expect(turn(page).locator(".headline")).to_contain_text("3 of ")
    expect(turn(page).locator(".word").first).to_contain_text("Lily")
    expect(turn(page).locator(".words-row:not(.rival) .chip.accepted")).to_have_count(3)
    expect(turn(page).locator(".words-row:not(.rival) .chip.rejected")).to_have_count(1)
    expect(turn(page).get_by_text("was rejected: there the target wanted")).to_be_visible()
    expect(turn(page).get_by_text("What the others drafted there:")).to_be_visible()
    expect(so_far(page).locator("mark")).to_have_text(re.compile(r"^Lily\. She \w+"))
    expect(page.locator(INPUT)).to_be_focused()
    expect(page.locator(INPUT)).to_have_value("")


def test_picking_by_number_and_enter(visit: Visit) -> None:
    page = visit("be_the_draft?mode=pick", SO_FAR)
    expect(page.locator("[class*=st-key-be_the_draft_offer_]")).to_have_count(5)
    expect(page.locator(".st-key-be_the_draft_offer_1 button")).to_be_enabled()
    wait_until_drawn(page)
    page.keyboard.press("2")
    expect(page.locator(".st-key-be_the_draft_offer_1 button")).to_contain_text("● ")
    page.keyboard.press("4")
    expect(page.locator(".st-key-be_the_draft_offer_3 button")).to_contain_text("● ")
    expect(page.locator(".st-key-be_the_draft_offer_1 button")).not_to_contain_text("● ")
    page.keyboard.press("Enter")
    wait_for_round(page, 2)
    expect(page.locator("[class*=st-key-be_the_draft_offer_]")).to_have_count(5)
    expect(page.locator("[class*=st-key-be_the_draft_offer_]").filter(has_text="● ")).to_have_count(0)
