"""The stage in a real Chromium, on a page of its own without a server, with made-up runs."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.layout import placed
from tests.support.stage_page import visit_stage

PAUSED = "step=11&sharpness=6"  # round 4, judged
LATE_ASKING = """() => {
  const set = setTimeout;
  window.setTimeout = (run, ms) => set(run, `${run}`.includes("ask") ? 2000 : ms);
}"""


pytestmark = pytest.mark.visitor(reduced_motion="no-preference")


def round_number(page: Page) -> Locator:
    return page.locator(".stage .round-number")


def test_the_playhead_moves_by_key_button_and_scrubber_and_its_place_is_reported_and_found_again(
    context: BrowserContext,
) -> None:
    page = visit_stage(context, PAUSED)
    sentence = page.locator(".stage .sentence")
    expect(round_number(page)).to_have_text("Round 4 of 21")
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_have_text("The target checks all 4 in one pass.")
    page.keyboard.press("ArrowLeft")
    expect(sentence).to_have_text("The draft guesses 4 tokens.")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    expect(round_number(page)).to_have_text("Round 5 of 21")
    page.keyboard.press("Shift+ArrowLeft")
    expect(sentence).to_have_text("The draft guesses 4 tokens.")
    token = page.locator(".stage .chip.drafted:visible").first
    token.focus()  # found: after a click on a token, Shift moved among tokens
    page.keyboard.press("Shift+ArrowRight")
    expect(sentence).not_to_have_text("The draft guesses 4 tokens.")
    page.keyboard.press("Shift+ArrowLeft")
    expect(sentence).to_have_text("The draft guesses 4 tokens.")
    token.blur()
    page.keyboard.press("End")
    expect(round_number(page)).to_have_text("Round 21 of 21")
    page.get_by_label("First step").click()
    expect(round_number(page)).to_have_text("Round 1 of 21")
    page.get_by_label("Forward one step").click()
    expect(page.get_by_text("reported 1", exact=True)).to_be_visible()
    page.get_by_label("Step of the run").fill("32")
    expect(round_number(page)).to_have_text("Round 11 of 21")
    expect(page.get_by_text("reported 32")).to_be_visible()
    # keys typed into a field stay there
    field = page.get_by_label("something to type in")
    field.click()
    page.keyboard.type("a b")
    for key in ("Home", "End", "ArrowLeft"):
        page.keyboard.press(key)
    expect(field).to_have_value("a b")
    expect(round_number(page)).to_have_text("Round 11 of 21")
    # another page, and back
    page.get_by_label("Forward one round").click()
    expect(page.get_by_text("reported 35")).to_be_visible()
    page.get_by_text("elsewhere").click()
    expect(page.locator(".stage")).to_have_count(0)
    page.get_by_text("elsewhere").click()
    expect(round_number(page)).to_have_text("Round 12 of 21")
    expect(page.get_by_label("Play", exact=True)).to_be_visible()


def test_the_draft_lengths_keys_are_its_own_and_dragging_without_a_foresight_says_why_nothing_is_replayed(
    context: BrowserContext,
) -> None:
    page = visit_stage(context, PAUSED)
    slider = page.get_by_role("slider", name="Draft length")
    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".draft-length output")).to_have_text("7")
    expect(page.get_by_text("asked 7", exact=True)).to_be_visible()
    expect(round_number(page)).to_have_text("Round 4 of 21")  # the playhead's arrow keys are elsewhere
    page.keyboard.press("End")
    expect(page.get_by_text("asked 16", exact=True)).to_be_visible()  # once the keys rest
    slider.evaluate("it => { it.value = 9; it.dispatchEvent(new Event('input')); }")
    expect(page.locator(".stage .notice")).to_contain_text("another draft length writes another text")
    expect(page.locator(".draft-length output")).to_have_text("9")
    expect(page.locator(".stage .badge")).not_to_contain_text("MODELLED")


def test_a_draft_length_let_go_is_asked_for_though_the_page_is_drawn_anew_just_then(context: BrowserContext) -> None:
    """Found on a slow machine: data that came between letting go and asking took the slider back, unasked."""
    page = visit_stage(context, PAUSED)
    page.evaluate(LATE_ASKING)
    slider = page.get_by_role("slider", name="Draft length")
    slider.focus()
    page.keyboard.press("End")
    page.get_by_role("button", name="new run").click()
    expect(page.locator(".stage")).to_have_attribute("data-run", "run 1")
    expect(slider).to_have_value("16")
    expect(page.get_by_text("asked 16", exact=True)).to_be_visible()


def test_who_moves_back_before_the_answer_has_come_is_not_moved_forth_by_it(context: BrowserContext) -> None:
    page = visit_stage(context, f"{PAUSED}&latency=1")
    slider = page.get_by_role("slider", name="Draft length")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("[data-testid=stApp][data-test-script-state=running]")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("asked 4", exact=True)).to_be_visible()
    expect(slider).to_have_value("4")


def test_a_token_opens_its_inspector_and_escape_gives_it_back(context: BrowserContext) -> None:
    page = visit_stage(context, PAUSED)
    for drawing in page.locator(".stage .plot > svg").all():
        expect(drawing).to_have_attribute("translate", "no")  # its words have places of their own length
    inspector = page.locator(".inspector")
    expect(inspector.locator("bdi").first).to_have_attribute("translate", "no")
    expect(inspector.locator(".title")).to_contain_text("was rejected")  # unasked: the most instructive token
    automatic = inspector.locator(".title").text_content()
    page.locator(".strip .chip.accepted").first.click()
    expect(inspector.locator(".title")).to_contain_text("was accepted")
    expect(inspector).to_contain_text("Accept with probability min(1, p/q) = min(1, ")
    expect(inspector).to_contain_text(": accepted")
    page.locator(".strip .chip.discarded").first.click()
    expect(inspector).to_contain_text("Never judged because")
    page.locator(".strip .chip.correction").first.click()
    expect(inspector).to_contain_text("Drawn from the leftover (p − q)₊, normalised")
    page.locator(".strip .chip.bonus").first.click()
    expect(inspector).to_contain_text("a token drawn from p itself")
    inspector.get_by_role("button").click()
    expect(inspector.locator(".title")).to_have_text(automatic or "")


def test_tokens_are_reached_by_keyboard(context: BrowserContext) -> None:
    page = visit_stage(context, PAUSED)
    chips = page.locator(".strip .chip")
    expect(page.locator(".strip .chip[tabindex='0']")).to_have_count(1)
    chips.first.focus()
    page.keyboard.press("ArrowRight")
    expect(chips.nth(1)).to_be_focused()
    expect(chips.nth(1)).to_have_class(re.compile("selected"))
    page.keyboard.press("ArrowDown")
    below, above = placed(page.locator(".strip .chip:focus"), chips.nth(1))
    assert below["y"] > above["y"]
    page.keyboard.press("Enter")
    expect(page.locator(".spoken")).to_contain_text("“")
    page.keyboard.press("Escape")
    expect(page.locator(".unpin")).to_have_count(0)
    expect(round_number(page)).to_have_text("Round 4 of 21")


def test_hostile_tokens_are_only_text(context: BrowserContext) -> None:
    page = visit_stage(context, "hostile&step=999")
    expect(page.locator(".stage figure svg").first).to_be_attached()
    expect(page.locator(".strip .chip", has_text="<script>").first).to_be_attached()
    for chip in page.locator(".strip .chip").all()[-12:]:
        chip.click()
    assert page.locator(".stage :is(script, img), .strip b").count() == 0


def test_copy_link_holds_every_setting_and_the_step(context: BrowserContext) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit_stage(context, PAUSED)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    copied = urlsplit(page.evaluate("navigator.clipboard.readText()"))
    assert parse_qs(copied.query) == {"target": ["wren-base"], "prompt": ["a & b"], "step": ["11"], "view": ["full"]}
    page.keyboard.press("ArrowRight")  # no longer the place that was copied
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()


SPEAKS = """(stage) => {
  const live = "output:not([aria-live=off]), [role=status], [aria-live=polite]";
  window.spoken = [];
  const heard = (all) => window.spoken.push(...all.map(({ target }) => target.textContent));
  const all = { childList: true, characterData: true, subtree: true };
  for (const one of stage.querySelectorAll(live)) new MutationObserver(heard).observe(one, all);
}"""


def test_nothing_speaks_while_it_plays_and_the_place_is_said_on_pause(context: BrowserContext) -> None:
    page = visit_stage(context, "step=3&sharpness=6")
    page.locator(".stage").evaluate(SPEAKS)
    page.keyboard.press("Space")
    expect(round_number(page)).to_have_text(re.compile(r"^Round ([4-9]|\d\d)"))  # or a later one: who looks may be slow
    assert page.evaluate("window.spoken") == []
    page.keyboard.press("Space")
    page.wait_for_function("window.spoken.some((said) => said.startsWith('Round'))")


def test_a_tip_stays_under_the_pointer_and_escape_takes_it_away(context: BrowserContext) -> None:
    page = visit_stage(context, PAUSED)
    figure = page.locator("[data-figure=acceptance]")
    tip = figure.locator(".tip")
    figure.locator(".term").hover()
    expect(tip).to_be_visible()
    tip.hover()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    figure.locator(".term").hover()
    expect(tip).to_be_visible()


def test_the_token_that_is_explained_is_pressed(context: BrowserContext) -> None:
    page = visit_stage(context, PAUSED)
    chip = page.locator(".strip .chip.accepted").first
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".strip [aria-pressed=true]")).to_have_count(1)
