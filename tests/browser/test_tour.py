"""The tour of a first visit in a real Chromium: the whole of it by keyboard, and after a reload."""

import re

from playwright.sync_api import Locator, Page, expect

from specviz.core.metrics import count
from specviz.core.replay import replay
from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import first_draft_guesses, first_trace
from tests.conftest import Visit
from tests.support.known import known

CHIP = ".stage .round .chip"
TRACE = known(first_trace())
TOUR = known(tour_of(TRACE))


def expect_step(page: Page, number: int) -> None:
    """The card of that step: its words, its light, its place in the address, and no playing."""
    beat = TOUR.beats[number - 1]
    expect(page.locator(".tour-place")).to_have_text(f"Step {number} of 6")
    expect(page.get_by_role("status").filter(has_text=beat.says)).to_be_visible()
    expect(page.locator(".stage")).to_have_attribute("data-focus", " ".join(beat.lights))
    expect(page.locator(".stage .play")).not_to_have_class(re.compile("playing"))
    page.wait_for_url(re.compile(f"[?&]tour={number}(&|$)"))


def longer_draft() -> str:
    """What the card says of draft length 8, from the replay that the page has too."""
    counts = count(replay(known(first_draft_guesses()), 8, TRACE.settings.max_new_tokens))
    wasted = counts.rejected + counts.discarded
    return f"{counts.rounds} target passes instead of {len(TRACE.rounds)}, but {wasted} guesses are wasted"


def card(page: Page) -> Locator:
    return page.locator(".tour")


def chip(page: Page, index: int) -> Locator:
    return page.locator(".strip .round.current .chip").nth(index)


def test_the_whole_tour_by_keyboard(visit: Visit) -> None:
    page = visit("", CHIP)
    page.get_by_role("button", name="New here?").focus()
    page.keyboard.press("Enter")
    expect_step(page, 1)
    expect(card(page)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    expect(card(page)).to_contain_text("You stepped to the check.")
    while page.evaluate("document.activeElement?.shadowRoot?.activeElement?.className ?? ''").split(" ")[0] != "chip":
        page.keyboard.press("Tab")
    expect_step(page, 2)  # a token with the focus is no guess yet
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect_step(page, 3)
    expect(card(page)).to_contain_text("You chose “and”: right.")
    expect(page.locator(".inspector")).to_be_hidden()  # it opens when the token is opened
    page.keyboard.press("Enter")
    expect_step(page, 4)
    expect(card(page)).to_contain_text("You opened “and”")
    expect(page.locator(".inspector")).to_contain_text("Why “and” was rejected")
    page.keyboard.press("Escape")  # closes the token, not the tour
    expect(page.locator(".inspector")).to_be_hidden()
    page.get_by_role("button", name="Forward one round").focus()
    for _ in range(TOUR.beats[4].round - TOUR.beats[3].round):
        page.keyboard.press("Enter")
    expect_step(page, 5)
    expect(card(page)).to_contain_text(f"You found round {TOUR.beats[4].round + 1}: all 4 guesses are accepted.")
    slider = page.get_by_role("slider", name="Draft length")
    slider.focus()
    for length in range(5, 9):
        expect_step(page, 5)
        page.keyboard.press("ArrowRight")
        expect(card(page) if length == 8 else page.locator(".round-number")).to_contain_text(str(length))
    expect(card(page)).to_contain_text(longer_draft())
    expect(slider).to_have_value("8")  # the visitor looks at what it changed
    page.get_by_role("button", name="Next", exact=True).click()
    expect_step(page, 6)
    expect(slider).to_have_value("4")
    expect(page.get_by_role("button", name="Skip this step")).to_be_visible()
    page.locator(".stage .play").focus()
    page.keyboard.press("Space")
    expect(card(page)).to_contain_text(TOUR.end)
    expect(card(page)).to_contain_text("You saw the run to its end.")
    for one in TOUR.next:
        expect(card(page).get_by_role("link", name=one.name, exact=True)).to_have_attribute("href", f"./{one.page}")
    expect(page.locator(".stage[data-run=first]")).to_be_visible()  # nothing ran
    expect(page).not_to_have_url(re.compile("tour="))


def test_a_reload_goes_on_at_the_same_step_and_escape_leaves(visit: Visit) -> None:
    page = visit("?tour=2", CHIP)
    expect_step(page, 2)
    page.get_by_role("button", name="Skip this step").click()
    expect_step(page, 3)
    page.reload()
    expect_step(page, 3)
    expect(page.locator(".round-number")).to_have_text("Round 11 of 20")
    page.get_by_role("button", name="Back", exact=True).click()
    expect_step(page, 2)
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator(".stage")).not_to_have_attribute("data-focus", re.compile(""))
    expect(page.locator(".stage .play")).to_be_focused()
    page.get_by_role("button", name="Continue the tour: step 2 of 6").click()
    expect_step(page, 2)
