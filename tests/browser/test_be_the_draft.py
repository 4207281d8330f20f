"""The game in a real Chromium: what is picked by keyboard. `test_nothing_is_lost` types a round."""

from playwright.sync_api import expect

from tests.conftest import Visit


def test_picking_by_number_and_enter(visit: Visit) -> None:
    page = visit("be_the_draft?mode=pick", ".st-key-be_the_draft_offer_1 button:enabled")
    offers = page.locator("[class*=st-key-be_the_draft_offer_]")
    chosen = offers.filter(has_text="● ")
    expect(offers).to_have_count(5)
    for key, at in (("2", 1), ("4", 3)):
        page.keyboard.press(key)
        expect(page.locator(f".st-key-be_the_draft_offer_{at} button")).to_contain_text("● ")
        expect(chosen).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_text("round 2 of 5")).to_be_visible()
    expect(offers).to_have_count(5)
    expect(chosen).to_have_count(0)
