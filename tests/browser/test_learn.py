"""The Learn page in a real Chromium: the story, q and “Under load” by keyboard, q by finger too."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.data.lessons.story import steps
from tests.conftest import Visit
from tests.support.grids import grid
from tests.support.layout import placed
from tests.support.visitor import PHONE, expect_no_sideways_scroll, wait_until_still

STAGE = ".stage .round .chip"


pytestmark = pytest.mark.visitor(reduced_motion="no-preference")


def expect_title(page: Page, text: str) -> None:
    """One title in the end: while a page is being drawn, what it replaces stands beside it for a moment."""
    expect(page.get_by_role("heading", level=2)).to_have_text([text])


def test_the_story_is_walked_by_keyboard_to_its_end(visit: Visit) -> None:
    last = len(steps())
    page = visit(f"learn?lesson={steps()[-2].name}", STAGE)
    for number, step in list(enumerate(steps(), start=1))[-2:]:  # tests/pages has all
        expect_title(page, f"{number}. {step.title.technical}")
        expect(page.get_by_role("img", name=f"Step {number} of {last}")).to_be_visible()
        expect(page.locator(f".stage.lesson[data-focus={step.focus}]")).to_be_visible()
        right = page.locator(f".st-key-step-{step.name}-{step.question.right} button")
        right.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_text("Right.", exact=True)).to_be_visible()
        wait_until_still(page)  # the key is heard once the page's script has ended
        page.keyboard.press("PageDown")
    expect_title(page, "What do you remember?")
    expect(page).to_have_url(re.compile("part=quiz"))


def test_page_up_and_the_back_key_go_back_and_arrows_still_move_the_stage(visit: Visit) -> None:
    page = visit("learn?lesson=3", STAGE)
    number = page.locator(".stage .sentence")
    before = number.text_content() or ""
    page.keyboard.press("ArrowRight")
    expect(number).not_to_have_text(before)
    expect_title(page, f"3. {steps()[2].title.technical}")
    wait_until_still(page)  # the key is heard once the page's script has ended
    page.keyboard.press("PageUp")
    expect_title(page, f"2. {steps()[1].title.technical}")
    wait_until_still(page)
    page.go_back()
    expect_title(page, f"3. {steps()[2].title.technical}")


@pytest.mark.visitor(viewport=PHONE)
@pytest.mark.parametrize("words", grid(["technical", "plain"], ("technical",)))
def test_q_is_moved_by_keyboard_and_by_finger_and_p_stays(visit: Visit, words: str) -> None:
    page = visit(f"learn?lesson=lossless&words={words}", ".lossless")
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
    expect_no_sideways_scroll(page)


def slider(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=re.compile(f"^{name}"))


@pytest.mark.visitor(reduced_motion="reduce")
def test_a_larger_batch_turns_the_verdict_and_longer_texts_turn_it_back(visit: Visit) -> None:
    page = visit("learn?part=load", ".roofline .roof-line")
    headline = page.locator(".roofline .headline")
    expect(headline).to_have_text(re.compile(r"^Helps, .*, modelled$"))
    drawn = page.locator(".drawing .mark.matrices.check").get_attribute("cx")
    slider(page, "Batch size").focus()
    page.keyboard.press("End")
    expect(headline).to_have_text(re.compile("^Hurts"))
    expect(slider(page, "Batch size")).to_have_attribute("aria-valuetext", "512 texts")
    expect(page.locator(".drawing .mark.matrices.check")).not_to_have_attribute("cx", str(drawn))
    expect(page.locator(".roofline .why")).to_contain_text("its own time")
    slider(page, "Context length").focus()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(headline).to_have_text(re.compile("^Helps"))
    expect(page.locator(".roofline .memory")).to_contain_text("several machines")  # the price
