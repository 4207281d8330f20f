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
STEPS = steps()
TOUR = known(tour_of(known(first_trace())))


def expect_title(page: Page, step: int) -> None:
    """One title in the end: while a page is being drawn, what it replaces stands beside it for a moment."""
    expect(page.get_by_role("heading", level=2)).to_have_text([f"{step}. {STEPS[step - 1].title.technical}"])
    wait_until_still(page)  # a key is heard once the page's script has ended


def test_the_story_is_walked_by_keyboard_to_its_end_and_back(visit: Visit) -> None:
    page = visit(f"learn?lesson={STEPS[-1].name}", STAGE)
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("part=quiz"))
    page = visit("learn?lesson=3", STAGE)
    sentence = page.locator(".stage .sentence")
    before = sentence.inner_text()
    page.keyboard.press("ArrowRight")  # moves the stage
    expect(sentence).not_to_have_text(before)
    expect_title(page, 3)
    page.keyboard.press("PageUp")
    expect_title(page, 2)
    page.go_back()
    expect_title(page, 3)


@pytest.mark.visitor(viewport=PHONE)
def test_q_is_moved_by_keyboard_and_finger_and_p_stays(visit: Visit) -> None:
    page = visit("learn?lesson=lossless", ".lossless")
    group, sliders = page.locator(".lossless"), page.locator(".lossless input:enabled")
    rate, sums = group.locator("output.both"), group.locator(".figures")
    recorded, whole = rate.inner_text(), [text.split("=")[1] for text in sums.all_inner_texts()]
    sliders.nth(0).focus()
    for _ in range(5):
        page.keyboard.press("ArrowLeft")
    expect(rate).not_to_have_text(recorded)
    assert [text.split("=")[1] for text in sums.all_inner_texts()] == whole
    expect_title(page, 9)  # the keys move q only
    group.get_by_role("button").first.click()
    expect(rate).to_have_text(recorded)
    group.get_by_role("button").last.click()
    expect(rate).not_to_have_text(recorded)
    sliders.nth(1).scroll_into_view_if_needed()
    [box] = placed(sliders.nth(1))
    before = rate.inner_text()
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


# ---- the tour of a first visit: tests/js/rendered.js has what it says of what was done


def card(page: Page) -> Locator:
    return page.locator(".tour")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


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
    page = visit("", STAGE)
    inspector, slider = page.locator(".inspector"), page.get_by_role("slider", name="Draft length")
    page.get_by_role("button", name="New here?").focus()
    press(page, "Enter")
    expect_step(page, 1)
    expect(card(page)).to_be_focused()
    press(page, "ArrowRight")
    expect_step(page, 2)
    page.reload()
    expect_step(page, 2)
    wait_until_still(page)
    page.get_by_role("button", name="Skip this step").click()
    expect_step(page, 3)
    page.get_by_role("button", name="Back", exact=True).click()
    expect_step(page, 2)
    while not page.locator(".strip .chip:focus").count():
        press(page, "Tab")
    expect_step(page, 2)  # a token with the focus is no guess yet
    press(page, "ArrowRight", "ArrowRight", "Enter")
    expect_step(page, 3)
    expect(card(page)).to_contain_text("You chose “and”: right.")
    expect(inspector).to_be_hidden()  # it opens when the token is opened
    press(page, "Enter")
    expect_step(page, 4)
    expect(inspector).to_contain_text("Why “and” was rejected")
    press(page, "Escape")  # closes the token, not the tour
    expect(inspector).to_be_hidden()
    page.get_by_role("button", name="Forward one round").focus()
    press(page, *["Enter"] * (TOUR.beats[4].round - TOUR.beats[3].round))
    expect_step(page, 5)
    slider.focus()
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    expect(card(page)).to_contain_text("8")
    expect_step(page, 5)  # the visitor looks at what it changed
    expect(slider).to_have_value("8")
    page.get_by_role("button", name="Next", exact=True).click()
    expect_step(page, 6)
    expect(slider).to_have_value("4")
    press(page, "Escape")
    expect(card(page)).to_be_hidden()
    expect(page.locator(".stage .play")).to_be_focused()
    page.get_by_role("button", name="Continue the tour: step 6 of 6").click()
    expect_step(page, 6)
    page.locator(".stage .play").focus()
    press(page, "Space")
    expect(card(page)).to_contain_text(TOUR.end)
    for one in TOUR.next:
        expect(card(page).get_by_role("link", name=one.name, exact=True)).to_have_attribute("href", f"./{one.page}")
    expect(page).not_to_have_url(re.compile("tour="))
