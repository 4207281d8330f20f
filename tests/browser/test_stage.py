"""The stage in a real Chromium, on a page without a server, with made-up runs: keys, focus, places."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.fake_traces import SHARPNESS, fake_trace
from tests.support.records import tree_run
from tests.support.stage_page import visit_stage
from tests.support.visitor import placed

RUN, GREEDY = fake_trace(sharpness=SHARPNESS), fake_trace(sharpness=SHARPNESS, greedy=True)
PAUSED = 11  # a step: round 4, judged
GUESSED = "The draft guesses 4 tokens."
moving = pytest.mark.visitor(reduced_motion="no-preference")


def round_number(page: Page) -> Locator:
    return page.locator(".stage .round-number")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


# ---- the playhead: tests/js/playing.test.js has where it goes


def test_the_playhead_moves_by_key_button_and_scrubber_and_its_place_is_reported(context: BrowserContext) -> None:
    page = visit_stage(context, RUN, PAUSED)
    sentence, token = page.locator(".stage .sentence"), page.locator(".stage .chip.drafted:visible").first
    expect(round_number(page)).to_have_text("Round 4 of 21")
    press(page, "ArrowLeft", "ArrowLeft")
    expect(sentence).to_have_text(GUESSED)
    token.focus()  # found: after a click on a token, Shift moved among tokens
    press(page, "Shift+ArrowRight")
    expect(sentence).not_to_have_text(GUESSED)
    press(page, "Shift+ArrowLeft")
    expect(sentence).to_have_text(GUESSED)
    page.get_by_label("Step of the run").fill("32")
    page.wait_for_function("asked.step === 32")
    field = page.get_by_label("something to type in")  # keys typed into a field stay there
    field.focus()
    press(page, "a", "Space", "b", "Home", "End", "ArrowLeft")
    expect(field).to_have_value("a b")
    expect(round_number(page)).to_have_text("Round 11 of 21")
    page.get_by_label("First step").click()
    page.get_by_label("Forward one step").click()
    page.wait_for_function("asked.step === 1")


SPEAKS = """(stage) => {
  const live = "output:not([aria-live=off]), [role=status], [aria-live=polite]";
  window.spoken = [];
  const heard = (all) => window.spoken.push(...all.map(({ target }) => target.textContent));
  const all = { childList: true, characterData: true, subtree: true };
  for (const one of stage.querySelectorAll(live)) new MutationObserver(heard).observe(one, all);
}"""


@moving
def test_nothing_speaks_while_it_plays_and_the_place_is_said_on_pause(context: BrowserContext) -> None:
    page = visit_stage(context, RUN, 3)
    page.locator(".stage").evaluate(SPEAKS)
    press(page, "Space")
    expect(round_number(page)).to_have_text(re.compile(r"^Round ([4-9]|\d\d)"))  # or a later one: who looks may be slow
    assert page.evaluate("window.spoken") == []
    press(page, "Space")
    page.wait_for_function("window.spoken.some((said) => said.startsWith('Round'))")


@pytest.mark.visitor(once=True)  # its clock stays as it is set
def test_the_draft_lengths_keys_are_its_own_and_it_is_asked_for_once_they_rest(context: BrowserContext) -> None:
    page = visit_stage(context, RUN, PAUSED)
    slider = page.get_by_role("slider", name="Draft length")
    page.clock.install(time=0)
    page.clock.pause_at(10_000)  # from here on it stands, but for `run_for`
    slider.focus()
    for _ in range(3):
        press(page, "ArrowRight")
        page.clock.run_for(500)  # the next key comes before the length is asked for
    expect(page.locator(".draft-length output")).to_have_text("7")
    expect(round_number(page)).to_have_text("Round 4 of 21")  # the playhead's arrow keys are elsewhere
    expect(page.locator(".stage .notice")).to_contain_text("another draft length writes another text")
    expect(page.locator(".stage .badge")).not_to_contain_text("MODELLED")
    assert page.evaluate("asked.lengths") == []
    page.clock.run_for(1000)
    # Found on a slow machine: what came between letting go and asking took the slider back.
    for key, answered, length in (("End", 4, 16), ("ArrowLeft", 16, 15)):
        press(page, key)
        page.evaluate("(gamma) => stage.put({ ...sent, gamma, run_id: `of ${gamma}` })", answered)
        page.clock.run_for(1000)
        expect(slider).to_have_value(str(length))
    assert page.evaluate("asked.lengths") == [7, 16, 15]


# ---- tokens

EXPLAINED = {  # a token, and what its explanation says
    "accepted": r"was accepted.*Accept with probability min\(1, p/q\) = min\(1, .*: accepted",
    "discarded": "Never judged because",
    "correction": r"Drawn from the leftover \(p − q\)₊, normalised",
    "bonus": "a token drawn from p itself",
}


def test_a_token_is_explained_and_pressed_and_reached_by_keyboard(context: BrowserContext) -> None:
    page = visit_stage(context, RUN, PAUSED)
    inspector, chips = page.locator(".inspector"), page.locator(".strip .chip")
    for untranslated in (".stage .plot > svg", ".inspector bdi"):
        expect(page.locator(untranslated).first).to_have_attribute("translate", "no")
    expect(inspector.locator(".title")).to_contain_text("was rejected")  # unasked: the most instructive token
    automatic = inspector.locator(".title").inner_text()
    for status, says in EXPLAINED.items():
        page.locator(f".strip .chip.{status}").first.click()
        expect(inspector).to_have_text(re.compile(says, re.DOTALL))
        expect(page.locator(".strip [aria-pressed=true]")).to_have_count(1)
        expect(page.locator(f".strip .chip.{status}").first).to_have_attribute("aria-pressed", "true")
    inspector.get_by_role("button").click()
    expect(inspector.locator(".title")).to_have_text(automatic)
    expect(page.locator(".strip .chip[tabindex='0']")).to_have_count(1)
    chips.first.focus()
    press(page, "ArrowRight")
    expect(chips.nth(1)).to_be_focused()
    expect(chips.nth(1)).to_have_class(re.compile("selected"))
    press(page, "ArrowDown")
    below, above = placed(page.locator(".strip .chip:focus"), chips.nth(1))
    assert below["y"] > above["y"]
    press(page, "Enter")
    expect(page.locator(".spoken")).to_contain_text("“")
    press(page, "Escape")
    expect(page.locator(".unpin")).to_have_count(0)
    expect(round_number(page)).to_have_text("Round 4 of 21")


# ---- a tree: tests/js has its rows and where its keys lead

BOXES = "all => all.map(one => { const {x, y, width} = one.getBoundingClientRect(); return [x, y, width]; })"
PLACES = {"ArrowRight": "2 1 2", "ArrowDown": "2 2 2", "ArrowLeft": "1 1 4"}  # level, place and number of guesses there


def test_a_tree_is_judged_in_its_place_and_keys_lead_into_it_through_it_and_out_of_it(context: BrowserContext) -> None:
    page = visit_stage(context, tree_run(), 6)  # round 3, proposed
    current = page.locator(".strip .current")
    nodes, path = current.get_by_role("treeitem"), current.locator(".path .chip")
    expect(nodes).to_have_count(20)
    before = nodes.evaluate_all(BOXES)
    for note in ("20 guesses, place by place", "one pass: 20 guesses", r"accepted ✓ · \d+ failed ✗ · \d+ not taken ⋯"):
        expect(current.locator(".tree-note")).to_have_text(re.compile(note), use_inner_text=True)
        assert nodes.evaluate_all(BOXES) == before
        page.get_by_label("Forward one step").click()
    page.get_by_label("Back one step").click()
    accepted = current.locator(".branches .accepted").all_inner_texts()
    expect(path).to_have_text([*accepted, *path.all_inner_texts()[-1:]])
    expect(page.locator(".strip .branches:visible")).to_have_count(1)  # of the other rounds only the path
    expect(page.locator(".strip .round").first.locator(".path .chip").first).to_be_visible()
    nodes.first.focus()
    focused = page.locator(".strip .chip:focus")
    for key, place in PLACES.items():
        press(page, key)
        for name, value in zip(("level", "posinset", "setsize"), place.split(), strict=True):
            expect(focused).to_have_attribute(f"aria-{name}", value)
    press(page, "Home", "ArrowUp")
    expect(page.locator(".strip .path .chip:focus")).to_have_count(1)  # out of the tree, to the text
    press(page, "ArrowRight")
    expect(nodes.first).to_be_focused()
    expect(round_number(page)).to_have_text(re.compile("Round 3 of"))  # no key moved the playhead
    press(page, "Enter")
    expect(page.locator(".spoken")).to_contain_text("in the order tried")


# ---- the equation above the tokens, and rows that stay where they are

LIT = {  # a part of the equation: its words, what it is made of, and what is pale meanwhile
    "tokens": (
        r"^[\d.]+ tokens per target call$",
        ".block.accepted, .block.verify, [data-figure=acceptance]",
        ".block.alone, .block.wasted, .strip .rejected",
    ),
    "steps": (r"^[\d.]+ steps$", ".block.accepted, .block.wasted, .block.verify, .block.alone", ".strip, figure"),
    "speedup": (
        r"^[\d.]+×$",
        ".block.verify, .block.alone, [data-figure=speedup]",
        ".strip, [data-figure=acceptance]",
    ),
}
ROWS = (".top", ".strips", ".transport", ".under", ".legend", ".keys", ".zoom", ".timeline", ".change", ".grid")


def opacities(page: Page, selectors: str) -> set[float]:
    found = page.locator(".stage").locator(f":is({selectors}):visible")
    assert found.count()
    return set(found.evaluate_all("all => all.map(one => Number(getComputedStyle(one).opacity))"))


def test_a_part_of_the_equation_lights_what_it_is_made_of_and_its_tip_stays_until_escape(
    context: BrowserContext,
) -> None:
    page = visit_stage(context, GREEDY, view="simple")
    for name, (words, made_of, others) in LIT.items():
        part, tip = page.get_by_role("button", name=re.compile(words)), page.locator(f"#tip-{name}")
        assert opacities(page, f"{made_of}, {others}") == {1}
        for touch in (part.focus, part.hover):
            touch()
            assert opacities(page, made_of) == {1}
            assert max(opacities(page, others)) < 0.5
            expect(tip).to_be_visible()
        tip.hover()
        part.blur()
        expect(tip).to_be_visible()
        press(page, "Escape")
        expect(tip).to_be_hidden()
        page.mouse.move(0, 0)


def test_at_the_end_of_a_run_no_row_moves_and_the_timeline_shows_a_part_or_all_of_it(context: BrowserContext) -> None:
    page = visit_stage(context, GREEDY, 0, view="simple")
    step, when, zoom = page.get_by_label("Step of the run"), page.locator(".when"), page.locator(".zoom")
    last = int(step.get_attribute("max") or "")
    places = []
    for at, said in ((last - 1, "at the end"), (last, "")):
        step.fill(str(at))
        expect(when).to_have_text(said)
        places.append([(box["y"], box["height"]) for box in placed(*map(page.locator, ROWS))])
    assert places[0] == places[1]
    steps = page.locator(".lanes .block.alone")
    whole = steps.get_attribute("d") or ""
    zoom.click()
    expect(zoom).to_have_text("whole run")
    expect(steps).not_to_have_attribute("d", whole)
    zoom.click()
    expect(steps).to_have_attribute("d", whole)
