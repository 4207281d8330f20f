"""The Learn page in a real Chromium: the story, q and “Under load” by keyboard, q by finger; the tour by keyboard."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.data.lessons.story import steps, tour_of
from specviz.data.measured.first_run import first_trace
from tests.conftest import Visit
from tests.support.known import known
from tests.support.visitor import PHONE, placed, wait_until_still

STAGE = ".stage .round .chip"
TOUR = known(tour_of(known(first_trace())))


def expect_title(page: Page, text: str) -> None:
    """One title in the end: while a page is being drawn, what it replaces stands beside it for a moment."""
    expect(page.get_by_role("heading", level=2)).to_have_text([text])
    wait_until_still(page)


def test_the_story_is_walked_by_keyboard_to_its_end_and_back(visit: Visit) -> None:
    *_, step = steps()
    page = visit(f"learn?lesson={step.name}", STAGE)
    last = len(steps())
    expect_title(page, f"{last}. {step.title.technical}")
    page.locator(f".st-key-step-{step.name}-{step.question.right} button").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Right.", exact=True)).to_be_visible()
    wait_until_still(page)  # a key is heard once the page's script has ended
    page.keyboard.press("PageDown")
    expect_title(page, "What do you remember?")
    expect(page).to_have_url(re.compile("part=quiz"))
    page.goto(re.sub(r"learn.*", "learn?lesson=3", page.url))
    expect_title(page, f"3. {steps()[2].title.technical}")
    before = page.locator(".stage .sentence").text_content() or ""
    page.keyboard.press("ArrowRight")  # moves the stage
    expect(page.locator(".stage .sentence")).not_to_have_text(before)
    expect_title(page, f"3. {steps()[2].title.technical}")
    page.keyboard.press("PageUp")
    expect_title(page, f"2. {steps()[1].title.technical}")
    page.go_back()
    expect_title(page, f"3. {steps()[2].title.technical}")
    page.set_viewport_size(PHONE)
    page.goto(re.sub(r"learn.*", "learn?lesson=lossless", page.url))
    expect_q_is_moved_and_p_stays(page)


def expect_q_is_moved_and_p_stays(page: Page) -> None:
    """By keyboard and by finger."""
    expect_title(page, f"9. {steps()[8].title.technical}")
    group, sliders = page.locator(".lossless"), page.locator(".lossless input:enabled")
    rate, sums = group.locator("output.both"), group.locator(".figures")
    recorded, whole = rate.text_content() or "", [text.split("=")[1] for text in sums.all_text_contents()]
    sliders.nth(0).focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(rate).not_to_have_text(recorded)
    assert [text.split("=")[1] for text in sums.all_text_contents()] == whole
    expect(page.get_by_role("heading", level=2)).to_contain_text("9.")  # the keys move q only
    group.get_by_role("button").first.click()
    expect(rate).to_have_text(recorded)
    group.get_by_role("button").last.click()
    expect(rate).not_to_have_text(recorded)
    sliders.nth(1).scroll_into_view_if_needed()
    [box] = placed(sliders.nth(1))
    before = rate.text_content() or ""
    page.mouse.click(box["x"] + 0.9 * box["width"], box["y"] + box["height"] / 2)
    expect(rate).not_to_have_text(before)


def test_a_larger_batch_turns_the_verdict(visit: Visit) -> None:
    page = visit("learn?part=load", ".roofline .roof-line")
    headline, mark = page.locator(".roofline .headline"), page.locator(".drawing .mark.matrices.check")
    expect(headline).to_have_text(re.compile(r"^Helps, .*, modelled$"))
    drawn = str(mark.get_attribute("cx"))
    page.get_by_role("slider", name="Batch size").focus()
    page.keyboard.press("End")
    expect(headline).to_have_text(re.compile("^Hurts"))
    expect(mark).not_to_have_attribute("cx", drawn)


# ---- the tour of a first visit


def card(page: Page) -> Locator:
    return page.locator(".tour")


def expect_step(page: Page, number: int) -> None:
    """The card of that step: its words, its light, its place in the address, and no playing."""
    beat = TOUR.beats[number - 1]
    expect(page.locator(".tour-place")).to_have_text(f"Step {number} of 6")
    expect(page.get_by_role("status").filter(has_text=beat.says)).to_be_visible()
    expect(page.locator(".stage")).to_have_attribute("data-focus", " ".join(beat.lights))
    expect(page.locator(".stage .play")).not_to_have_class(re.compile("playing"))
    page.wait_for_url(re.compile(f"[?&]tour={number}(&|$)"))


@pytest.mark.full
def test_the_whole_tour_by_keyboard_across_a_reload_and_left_by_escape(visit: Visit) -> None:
    """What the card says of what was done: `tests/js/rendered.js`."""
    page = visit("", STAGE)
    inspector, slider = page.locator(".inspector"), page.get_by_role("slider", name="Draft length")
    page.get_by_role("button", name="New here?").focus()
    page.keyboard.press("Enter")
    expect_step(page, 1)
    expect(card(page)).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2)
    page.reload()
    expect_step(page, 2)
    wait_until_still(page)
    page.get_by_role("button", name="Skip this step").click()
    expect_step(page, 3)
    page.get_by_role("button", name="Back", exact=True).click()
    expect_step(page, 2)
    while page.evaluate("document.activeElement?.shadowRoot?.activeElement?.className ?? ''").split(" ")[0] != "chip":
        page.keyboard.press("Tab")
    expect_step(page, 2)  # a token with the focus is no guess yet
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect_step(page, 3)
    expect(card(page)).to_contain_text("You chose “and”: right.")
    expect(inspector).to_be_hidden()  # it opens when the token is opened
    page.keyboard.press("Enter")
    expect_step(page, 4)
    expect(inspector).to_contain_text("Why “and” was rejected")
    page.keyboard.press("Escape")  # closes the token, not the tour
    expect(inspector).to_be_hidden()
    page.get_by_role("button", name="Forward one round").focus()
    for _ in range(TOUR.beats[4].round - TOUR.beats[3].round):
        page.keyboard.press("Enter")
    expect_step(page, 5)
    slider.focus()
    for length in range(5, 9):
        expect_step(page, 5)
        page.keyboard.press("ArrowRight")
        expect(card(page) if length == 8 else page.locator(".round-number")).to_contain_text(str(length))
    expect(slider).to_have_value("8")  # the visitor looks at what it changed
    page.get_by_role("button", name="Next", exact=True).click()
    expect_step(page, 6)
    expect(slider).to_have_value("4")
    page.keyboard.press("Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator(".stage .play")).to_be_focused()
    page.get_by_role("button", name="Continue the tour: step 6 of 6").click()
    expect_step(page, 6)
    page.locator(".stage .play").focus()
    page.keyboard.press("Space")
    expect(card(page)).to_contain_text(TOUR.end)
    for one in TOUR.next:
        expect(card(page).get_by_role("link", name=one.name, exact=True)).to_have_attribute("href", f"./{one.page}")
    expect(page).not_to_have_url(re.compile("tour="))
