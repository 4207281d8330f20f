"""The Learn page in a real Chromium: the story by keyboard, the picture that follows, the quiz, a phone, stillness."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from specviz.core.metrics import count
from specviz.data.lessons.story import steps
from tests.conftest import AppServer, Visit
from tests.support.grids import grid
from tests.support.layout import bottom, boxes_of, outside, overlapping, placed
from tests.support.visitor import DESK, PHONE, expect_no_sideways_scroll, wait_until_still

STAGE = ".stage .round .chip"
STATE_GOES_BACK = [("technical", "hidden state goes back"), ("plain", "notes go back")]
WIDE_PICTURES = ("slow", "acceptance", "bonus", "sampled", "arithmetic", "together", "stop")
BOXES = (".box.draft", ".box.target")
ARRIVED = "(node) => Promise.all(node.getAnimations({ subtree: true }).map((token) => token.finished))"


pytestmark = pytest.mark.visitor(reduced_motion="no-preference")


def expect_title(page: Page, text: str) -> None:
    """One title in the end: while a page is being drawn, what it replaces stands beside it for a moment."""
    expect(page.get_by_role("heading", level=2)).to_have_text([text])


def picture(page: Page) -> Locator:
    return page.locator(".diagram svg")


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
        page.keyboard.press("PageDown")
    expect_title(page, "What do you remember?")
    assert "part=quiz" in page.url


@pytest.mark.parametrize("lesson", ["slow", "tree"])
@pytest.mark.parametrize("lang", ["en", "es", "zh-Hans"])
def test_the_badge_is_inside_the_card_and_touches_no_words(visit: Visit, lang: str, lesson: str) -> None:
    """Found: it lay on the border of the card."""
    page = visit(f"learn?lesson={lesson}&lang={lang}", STAGE)
    words = page.locator(".stage .now > *:visible")
    for sentence in ("", "A long sentence of a lesson. " * 6):
        page.locator(".stage .sentence").evaluate("(it, more) => { it.textContent += more }", sentence)
        assert outside(words, page.locator(".stage")) == []
        assert overlapping(boxes_of(words)) == []


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


def test_the_picture_follows_the_playhead(visit: Visit) -> None:
    page = visit("learn?lesson=3", STAGE)
    expect(picture(page)).to_have_attribute("data-phase", "propose")
    expect(picture(page)).to_have_attribute("aria-label", re.compile("Now: draft model"))
    for phase in ("check", "judge"):
        page.keyboard.press("ArrowRight")
        expect(picture(page)).to_have_attribute("data-phase", phase)
    expect(picture(page)).to_have_attribute("aria-label", re.compile("1 rejected.*then one correction"))
    picture(page).evaluate(ARRIVED)
    accepted, failed, own = placed(
        *(page.locator(f".diagram .guess.{kind}").first for kind in ("accepted", "rejected", "correction"))
    )
    assert failed["x"] < accepted["x"]  # an accepted token moves on to the text, a rejected one does not
    assert abs(own["x"] - accepted["x"]) < 3
    assert abs(own["y"] - failed["y"]) < 3  # the correction takes its row
    page.keyboard.press("Home")
    expect(picture(page)).to_have_attribute("data-phase", "propose")


@pytest.mark.parametrize(("words", "said"), grid(STATE_GOES_BACK, STATE_GOES_BACK[:1]))
def test_a_heads_picture_shows_the_state_that_it_reads(
    visit: Visit, app_server: AppServer, words: str, said: str
) -> None:
    page = visit(f"learn?lesson=head&words={words}", STAGE)
    expect(picture(page)).to_have_attribute("aria-label", re.compile(said))
    back, draft, target = placed(*(page.locator(f".diagram {part}") for part in (".arrow.state", *BOXES)))
    edges = 4  # pixels: lines have a width, and it is counted
    assert draft["x"] + draft["width"] - edges < back["x"]
    assert back["x"] + back["width"] < target["x"] + edges
    page.goto(f"{app_server.url}/learn?lesson=tree&words={words}")
    expect(picture(page)).to_have_attribute("aria-label", re.compile("draft model|intern"))
    expect(page.locator(".diagram .arrow")).to_have_count(2)


def test_a_token_drawn_by_lot_is_drawn_phase_by_phase(visit: Visit) -> None:
    page = visit("learn?lesson=sampled", STAGE)
    expect(picture(page)).to_have_attribute("data-phase", "check")
    expect(page.locator(".diagram .roll")).to_be_hidden()
    expect(page.locator(".diagram .odds.left").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".diagram .roll")).to_be_visible()
    expect(picture(page)).to_have_attribute("aria-label", re.compile(r"target model 22 %.*dice roll u"))
    page.keyboard.press("Home")
    expect(page.locator(".diagram .odds.left").first).to_be_hidden()


@pytest.mark.visitor(viewport=PHONE)
@pytest.mark.parametrize("lesson", grid(WIDE_PICTURES, ("acceptance", "sampled", "together")))
def test_a_picture_fits_a_phone(visit: Visit, lesson: str) -> None:
    page = visit(f"learn?lesson={lesson}", ".diagram svg")
    page.keyboard.press("End")
    [svg], texts = placed(page.locator(".diagram svg")), page.locator(".diagram text").all()
    assert len(texts) > 5
    assert svg["width"] > 300  # not made smaller to fit a height
    for text in texts:
        found = text.bounding_box()
        assert found is None or found["x"] + found["width"] <= svg["x"] + svg["width"] + 1, text.text_content()
    expect_no_sideways_scroll(page)


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
    expect(group).to_have_attribute("aria-label", re.compile("all others"))
    expect_no_sideways_scroll(page)


@pytest.mark.parametrize("lesson", grid(("lossless", "stop", "arithmetic", "rejection", "tree"), ("lossless", "tree")))
def test_a_step_fits_a_projector(visit: Visit, lesson: str) -> None:
    page = visit(f"learn?lesson={lesson}", ".diagram :is(svg, .lossless)")
    stage = page.locator(".stage")
    if lesson in ("rejection", "tree"):
        expect(stage.locator(".lanes svg").first).to_be_attached()
    wait_until_still(page)
    if lesson == "tree":  # the tree, its picture and the timeline
        assert bottom(stage.locator(".lanes")) <= 720
        assert placed(stage.locator(".strip"))[0]["y"] >= 0
    else:
        assert bottom(stage, page.locator(f".st-key-step-{lesson}-2")) <= 720


# The box of each ring, and the texts of the parts that it lies over.
RINGS = """(stage) => {
  const lit = [...stage.querySelectorAll("*")].filter((one) => getComputedStyle(one).outlineStyle === "solid"
    && getComputedStyle(one).outlineWidth === "3px");
  return lit.map((one) => {
    const style = getComputedStyle(one), wide = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset);
    const { left, top, right, bottom } = one.getBoundingClientRect();
    const cut = [...stage.querySelectorAll(OTHERS)].filter((other) => {
      const box = other.getBoundingClientRect();
      return other !== one && !other.contains(one) && !one.contains(other) && box.width > 0
        && box.left < right + wide && box.right > left - wide && box.top < bottom + wide && box.bottom > top - wide;
    });
    return { top: top - wide, bottom: bottom + wide, cut: cut.map((other) => other.className || other.ariaLabel) };
  });
}"""
OTHERS = (
    ".sentence, .caption, .buttons button, .scrubber, .speed, .legend .mark, .keys, .zoom, .lanes, .diagram, .strips"
)
CASES = ("idea", "sampled", "lossless", "no-gain", "tree")  # a legend, a picture of its own, below the fold, buttons


@pytest.mark.parametrize("lesson", grid([step.name for step in steps()], CASES))
def test_what_a_step_is_about_is_in_sight_and_its_ring_cuts_no_other_part(visit: Visit, lesson: str) -> None:
    """Found: the ring lay over legend and buttons, and the timeline that step 12 is about was below the screen."""
    page = visit(f"learn?lesson={lesson}", ".diagram :is(svg, .lossless)")
    placed(page.locator(".stage"))
    rings = page.locator(".stage").evaluate(RINGS.replace("OTHERS", repr(OTHERS)))
    assert rings
    assert [ring["cut"] for ring in rings if ring["cut"]] == []
    assert min(ring["top"] for ring in rings) > 0
    assert max(ring["bottom"] for ring in rings) <= DESK["height"]


# How the blocks of a kind look, and how wide each is drawn.
BLOCK = """(path) => ({
  stroke: getComputedStyle(path).stroke,
  height: path.getBBox().height,
  boxes: [...path.getAttribute("d").matchAll(/M([-.0-9]+) [-.0-9]+H([-.0-9]+)/g)].map(([, from, to]) => to - from),
})"""


@pytest.mark.parametrize("width", [DESK["width"], PHONE["width"]])
def test_wasted_guesses_look_unlike_accepted_ones_at_every_zoom(visit: Visit, width: int) -> None:
    """Found: at "whole run" each guess was two pixels of the same blue, 122 wasted ones of 126 too."""
    page = visit("learn?lesson=no-gain", ".stage .lanes svg", viewport={"width": width, "height": 800})
    wasted = count(steps()[11].run.rounds)
    for zoom in ("zoomed in", "whole run", "at the end"):
        if zoom == "whole run":
            page.get_by_role("button", name="whole run").click()
        if zoom == "at the end":
            page.locator(".stage").get_by_role("button", name="Last step").click()
        expect(page.locator(".block.wasted")).to_have_attribute("d", re.compile("M"))
        useful, lost = (page.locator(f".block.{kind}").evaluate(BLOCK) for kind in ("accepted", "wasted"))
        assert useful["stroke"] != lost["stroke"], zoom
        if useful["boxes"]:
            assert lost["height"] < 0.7 * useful["height"], zoom
    assert wasted.accepted < 10 < wasted.drafted
    assert len(lost["boxes"]) <= 2 * wasted.rounds, "those of a round are one block"
    assert sum(lost["boxes"]) > 5 * sum(useful["boxes"]), "and most of the drafting time is wasted"


def test_a_step_explains_its_words(visit: Visit) -> None:
    page = visit("learn?lesson=5", STAGE)
    wait_until_still(page)
    # a word explains itself on focus
    tip = page.locator("#tip-step-rejection-discarded")
    expect(tip).to_be_hidden()
    page.locator(".explained").get_by_text("discarded").focus()
    expect(tip).to_be_visible()
    expect(tip).to_contain_text("never judged")
    expect(page.get_by_role("button", name="discarded", exact=True).first).to_be_attached()
    # plain words reach the stage's labels, and go again
    page.get_by_text("Plain words", exact=True).click()
    expect(page.locator(".legend .chip.rejected")).to_have_text("crossed out")
    expect(page.locator(".under .keys")).to_contain_text("suggesting")
    expect(page.locator(".caption")).to_contain_text("the editor alone")
    expect(page.locator(".stage .sentence")).to_contain_text("crossed out")
    expect(page.locator(".current .chip.rejected")).to_have_attribute("aria-label", re.compile("crossed out"))
    page.get_by_text("Technical", exact=True).click()
    expect(page.locator(".legend .chip.rejected")).to_have_text("rejected")
    expect(page.locator(".current .chip.rejected")).to_have_attribute("aria-label", re.compile("rejected"))


def test_the_vocabulary_shows_chips_and_leads_to_the_step(visit: Visit) -> None:
    page = visit("learn?part=words", ".words .entry")
    entry = page.locator(".words .entry").filter(has=page.get_by_role("heading", name="bonus", exact=True))
    expect(entry.locator(".chip.bonus.ringed")).to_have_count(1)
    entry.get_by_role("link").click()
    expect_title(page, f"6. {steps()[5].title.technical}")


def test_with_reduced_motion_the_picture_jumps(visit: Visit) -> None:
    page = visit("learn?lesson=3", STAGE, reduced_motion="reduce")
    moving = page.locator(".diagram .guess").first.evaluate("(node) => getComputedStyle(node).transitionDuration")
    assert moving == "0s"
    page.keyboard.press("ArrowRight")
    expect(picture(page)).to_have_attribute("data-phase", "check")


def test_the_family_fits_one_screen_and_a_row_leads_to_its_run(visit: Visit) -> None:
    page = visit("learn?part=methods", ".family")
    assert bottom(page.locator(".family")) <= 720
    page.get_by_role("link", name="Prompt lookup: see its run").click()
    expect(page.locator(".stage .round .chip").first).to_be_visible()
    assert "run=method-prompt-lookup" in page.url
