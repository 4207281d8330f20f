"""The game in a real Chromium, engine and all: by keyboard alone."""

import re

import pytest
from playwright.sync_api import expect

from tests.conftest import Visit
from tests.support.visitor import wait_until_drawn

SO_FAR = ".play .so-far"


@pytest.mark.full
def test_one_round_as_the_draft_by_keyboard_alone(visit: Visit) -> None:
    page = visit("be_the_draft?seed=3", SO_FAR)
    words = page.get_by_label("What are the next few words?")
    expect(words).to_be_focused()
    page.keyboard.type("Lilx")
    page.keyboard.press("Backspace")  # a slip is mended before it is sent
    page.keyboard.type("y. She xylophoned")
    page.keyboard.press("Enter")
    expect(page.get_by_text("round 2 of 5")).to_be_visible()
    expect(page.get_by_role("region", name="The result of the draft").locator(".headline")).to_contain_text("3 of ")
    expect(page.locator(f"{SO_FAR} mark")).to_have_text(re.compile(r"^Lily\. She \w+"))
    expect(words).to_be_focused()
    expect(words).to_have_value("")


def test_picking_by_number_and_enter(visit: Visit) -> None:
    page = visit("be_the_draft?mode=pick", SO_FAR)
    offers = page.locator("[class*=st-key-be_the_draft_offer_]")
    chosen = offers.filter(has_text="● ")
    expect(offers).to_have_count(5)
    expect(page.locator(".st-key-be_the_draft_offer_1 button")).to_be_enabled()
    wait_until_drawn(page)
    for key, at in (("2", 1), ("4", 3)):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-be_the_draft_offer_{at} button")).to_contain_text("● ")
        expect(chosen).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("round 2 of 5")).to_be_visible()
    expect(offers).to_have_count(5)
    expect(chosen).to_have_count(0)
