"""Back, Forward, a reload and a change of page lose no game, no answer, no setting, no language, in a real Chromium."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Visit
from tests.support.visitor import wait_until_still

GUESS = "[class*=st-key-be_the_draft_guess] input"


def go_to(page: Page, name: str) -> None:
    heading = page.get_by_role("heading", level=1)
    before = heading.inner_text()
    page.get_by_role("link", name=name, exact=True).first.click()
    expect(heading).not_to_have_text(before)  # a loaded server begins late, and is still until then
    wait_until_still(page)


# ---- the game


def play_one_round(page: Page) -> None:
    page.locator(GUESS).fill("Lily. She loved")
    page.keyboard.press("Enter")
    expect_round(page, 2)
    wait_until_still(page)  # the tab holds the game at the end of the script that draws the round


def expect_round(page: Page, number: int, text: int = 1) -> None:
    expect(page.get_by_text(f"Text {text} of 3 · round {number} of 5")).to_be_visible()


@pytest.mark.full
def test_a_game_is_there_after_a_reload_and_other_pages_and_a_new_one_stays_new(visit: Visit) -> None:
    page = visit("be_the_draft?seed=21&set=story&mode=type")
    play_one_round(page)
    before = page.locator("[class*=st-key-be_the_draft_turn] .headline").inner_text()
    page.reload()
    expect_round(page, 2)
    expect(page.locator("[class*=st-key-be_the_draft_turn] .headline")).to_have_text(before)
    wait_until_still(page)
    go_to(page, "Race")
    page.reload()
    wait_until_still(page)
    go_to(page, "Be the draft")
    expect_round(page, 2)
    page.wait_for_url("**seed=21*")  # the address follows the game a moment later
    page.locator(GUESS).fill("to play with")
    page.keyboard.press("Enter")
    expect_round(page, 3)
    page.get_by_role("button", name="End the game").click()
    page.get_by_role("button", name="Play again").click()
    expect_round(page, 1)
    wait_until_still(page)
    page.reload()
    expect_round(page, 1)
    wait_until_still(page)
    expect_round(page, 1)


# ---- the quiz


def answer(page: Page, question: int, option: int) -> None:
    page.locator(f".st-key-quiz-{question}-{option} button").click()
    expect(page.locator(f".st-key-reveal-quiz-{question}")).to_be_visible()
    wait_until_still(page)  # the tab holds the answers at the end of the script


@pytest.mark.full
def test_a_reload_back_and_forward_keep_the_answers(visit: Visit) -> None:
    page = visit("learn?part=quiz")
    answer(page, 1, 0)
    answer(page, 2, 1)
    page.reload()
    expect(page.get_by_text("of 2 right so far.")).to_be_visible()
    expect(page.locator(".st-key-reveal-quiz-2")).to_be_visible()
    wait_until_still(page)
    go_to(page, "Race")
    page.go_back()
    expect(page.locator(".st-key-reveal-quiz-1")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("button", name="Start the race")).to_be_visible()
    page.go_back()
    expect(page.locator(".st-key-reveal-quiz-1")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("of 2 right so far.")).to_have_count(0)
    wait_until_still(page)  # the tab forgets the answers at the end of the script
    page.reload()
    wait_until_still(page)
    expect(page.get_by_text("so far.")).to_have_count(0)


# ---- settings


@pytest.mark.full
def test_a_setting_is_there_after_a_reload_and_after_another_page(visit: Visit) -> None:
    page = visit("race")
    setting = page.get_by_role("slider", name="Repeats")
    setting.focus()
    for _ in range(2):
        before = setting.input_value()
        page.keyboard.press("ArrowRight")
        expect(setting).not_to_have_value(before)
        wait_until_still(page)
    value = setting.input_value()
    page.wait_for_url(f"**repeats={value}*")  # a slow server writes it a moment later
    page.reload()
    expect(setting).to_have_value(value)
    wait_until_still(page)  # a script that still writes its address replaces the entry of the next page
    go_to(page, "Learn")
    page.wait_for_url("**/learn*")
    wait_until_still(page)  # what a page sends while it is drawn asks Streamlit for that page, and goes before Back
    page.go_back()  # one step: not through the settings of before
    expect(setting).to_have_value(value)
    go_to(page, "Be the draft")
    go_to(page, "Race")
    expect(setting).to_have_value(value)
    page.wait_for_url(f"**repeats={value}*")  # for the next reload
    page.reload()
    expect(setting).to_have_value(value)


def test_the_choice_in_the_header_changes_the_page_and_is_in_the_link_and_remembered(visit: Visit) -> None:
    page = visit("learn")
    menu = page.get_by_role("combobox", name="Language")
    menu.click()
    page.get_by_role("option", name="Español").click()
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page).to_have_url(re.compile("lang=es"))
    expect(page).to_have_title(re.compile("^Aprende"))
    page.wait_for_function("document.cookie.includes('specviz_lang=es')")
    page.goto(page.url.partition("?")[0])
    expect(page.get_by_role("button", name=re.compile("Siguiente"))).to_be_visible()
    expect(page.get_by_role("combobox", name="Idioma")).to_have_value("Español")
