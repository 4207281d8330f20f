"""The lines above the tokens in a real Chromium: the equation and what it lights, and rows that stay where they are."""

import re
from collections.abc import Iterator
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.conftest import Visit
from tests.support.known import known
from tests.support.layout import boxes_of, overlapping, placed
from tests.support.stage_page import visit_stage
from tests.support.visitor import PHONE, wait_for_what_an_event_starts, wait_until_still

pytestmark = pytest.mark.visitor(reduced_motion="reduce")
RUN = "greedy&sharpness=6&simple"
SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
PARTS = {"tokens": r"^[\d.]+ tokens per target call$", "steps": r"^[\d.]+ steps$", "speedup": r"^[\d.]+×$"}
# what a part of the equation is made of, and what is pale meanwhile
LIT = {
    "tokens": (
        ".block.accepted, .block.verify, [data-figure=acceptance]",
        ".block.alone, .block.wasted, .strip .rejected",
    ),
    "steps": (".block.accepted, .block.wasted, .block.verify, .block.alone", ".strip, figure"),
    "speedup": (".block.verify, .block.alone, [data-figure=speedup]", ".strip, [data-figure=acceptance]"),
}
ROWS = (".top", ".strips", ".transport", ".under", ".legend", ".keys", ".zoom", ".timeline", ".change", ".grid")
PALEST = "all => all.map(one => Number(getComputedStyle(one).opacity))"
SAY = "(it, words) => { it.textContent = words }"
SENTENCES = (  # short and long ones
    "The target checks it in one pass.",
    "It accepts 12, replaces guess 13 and discards 3 more.",
    "No block passes: it rejects the first, replaces it and discards the other 15.",
)


def last_step(page: Page) -> int:
    return int(known(page.locator(".scrubber").get_attribute("max")))


def part(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(PARTS[name]))


def opacities(page: Page, selectors: str) -> set[float]:
    found = page.locator(".stage").locator(f":is({selectors}):visible")
    assert found.count()
    return set(found.evaluate_all(PALEST))


def test_a_part_of_the_equation_lights_what_it_is_made_of(context: BrowserContext) -> None:
    page = visit_stage(context, RUN)
    for name, touch in product(PARTS, ("hover", "focus")):
        made_of, others = LIT[name]
        assert opacities(page, made_of) == opacities(page, others) == {1}
        getattr(part(page, name), touch)()
        assert opacities(page, made_of) == {1}
        assert max(opacities(page, others)) < 0.5
        expect(page.locator(f"#tip-{name}")).to_be_visible()
        part(page, name).blur()
        page.mouse.move(0, 0)
        expect(page.locator(f"#tip-{name}")).to_be_hidden()


@pytest.mark.visitor(viewport=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce")
def test_a_tap_on_a_part_of_the_equation_does_the_same(context: BrowserContext) -> None:
    page = visit_stage(context, RUN)
    for name in PARTS:
        part(page, name).tap()
        expect(page.locator(f"#tip-{name}")).to_be_visible()
        assert max(opacities(page, LIT[name][1])) < 0.5


def test_the_first_screen_has_one_share_of_accepted_guesses_and_shows_everything_has_the_checked_ones_too(
    visit: Visit,
) -> None:
    page = visit("", ".stage .round .chip")
    shares = set(
        re.findall(r"\d+ %", page.locator(".stage .top, figure:visible figcaption").all_inner_texts().__str__())
    )
    assert len(shares - {"95 %"}) == 1
    expect(page.locator(".stage")).not_to_contain_text("judged guesses are accepted (here")
    page.get_by_role("button", name="Show everything").click()
    wait_until_still(page)
    expect(page.locator(".reason")).to_contain_text("of the judged guesses are accepted (here ")
    assert page.locator(".reason").evaluate(IS_WHOLE)


LANGUAGES = ("en", "es", "zh-Hans")
SLOWER = "gamma=16&tokens=64"
BUSY = "prompt=busy&draft=wren-mini"  # no other test has the costs of this pair measured, so they are not known
IS_WHOLE = "it => it.scrollWidth <= it.clientWidth && it.scrollHeight <= it.clientHeight"
LIVE = ".stage[data-run^=live][data-done]"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("prompt", [BUSY, "prompt=slower&draft=wren-small"])
def test_of_a_slower_run_nothing_is_cut_not_even_that_its_time_is_not_trusted(
    visit: Visit, prompt: str, lang: str
) -> None:
    """Found: beside a long result the reason had one line, and its end said that the time is not trusted."""
    for view in ("simple", "full"):
        page = visit(f"?{prompt}&{SLOWER}&view={view}&lang={lang}", LIVE)
        if prompt == BUSY:
            expect(page.locator(".stage[data-doubt]")).to_be_visible()
        for part in (".reason", ".same"):
            shown = page.locator(part)
            expect(shown).not_to_be_empty()
            assert shown.evaluate(IS_WHOLE), (view, shown.text_content())
        assert overlapping(boxes_of(page.locator(":is(.says, .reason, .same, .draft-length, .now)"))) == []
        if (prompt, lang) == (BUSY, "en"):
            expect(page.locator(".says")).to_contain_text("on a quiet machine")
            expect(page.locator(".reason")).to_contain_text(
                "This machine is busy: the time of this run is not trusted."
            )


def test_a_line_that_compares_says_only_figures_that_the_screens_of_both_runs_said(visit: Visit) -> None:
    """Found: "it takes longer (2.40 steps, was 2.02)" of a run whose screen said 2.09 steps."""
    page = visit(f"?{BUSY}&gamma=4&tokens=64&view=full", LIVE)
    figures = re.compile(r"\d+\.\d\d")
    screen = "it => { it = it.cloneNode(true); it.querySelector('.change')?.remove(); return it.textContent; }"
    said = set(figures.findall(known(page.locator(".stage").evaluate(screen))))
    run = page.locator(".stage").get_attribute("data-run")
    page.get_by_role("slider", name="Draft length γ").fill("8")
    page.wait_for_selector(f"{LIVE}:not([data-run='{run}'])")
    change = page.locator(".change")
    expect(change).to_contain_text("Busy machine: time cannot rank them")
    said |= set(figures.findall(known(page.locator(".stage").evaluate(screen))))
    compares = figures.findall(known(change.text_content()))
    assert compares
    assert set(compares) <= said


@pytest.mark.parametrize("lang", LANGUAGES)
def test_whether_both_texts_are_the_same_is_on_the_first_screen_once(visit: Visit, lang: str) -> None:
    page = visit(f"?view=full&lang={lang}", ".stage .round .chip")
    same = page.locator(".same")
    assert same.evaluate(IS_WHOLE)
    if lang == "en":
        expect(same).to_have_text("Is it the same text? Identical: both wrote the same 64 tokens.")
    [box] = placed(same)
    assert box["y"] + box["height"] <= 720 / 2
    says = known(same.text_content()).partition("? ")[2] or known(same.text_content()).partition("？")[2]
    expect(page.get_by_text(says)).to_have_count(1)
    for _ in sizes(page):
        assert overlapping(boxes_of(page.locator(".top > :visible"))) == []
    for view in ("simple", "full"):
        page.goto(f"{page.url.partition('?')[0]}?prompt=Once&temperature=0.9&tokens=24&view={view}&lang={lang}")
        expect(page.locator(LIVE)).to_be_visible()
        expect(same).not_to_contain_text("?")
        assert same.evaluate(IS_WHOLE), same.text_content()
    page.goto(f"{page.url}&hide=texts")
    expect(page.locator(".says")).not_to_be_empty()
    expect(same).to_be_empty()


def sizes(page: Page) -> Iterator[None]:
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        yield


def test_at_the_end_of_a_run_no_row_moves_and_the_button_of_the_timeline_stays(context: BrowserContext) -> None:
    page = visit_stage(context, f"{RUN}&step=0")
    last = last_step(page)
    when, zoom = page.locator(".when"), page.locator(".zoom")
    for _ in sizes(page):
        page.get_by_label("Step of the run").fill(str(last - 1))
        expect(when).to_have_text("at the end")
        before = placed(*map(page.locator, ROWS))
        page.get_by_label("Step of the run").fill(str(last))
        expect(when).to_have_text("")
        assert placed(*map(page.locator, ROWS)) == before
        expect(zoom).to_have_text("zoom in")
    page.set_viewport_size({"width": 700, "height": 800})
    wait_until_still(page)
    steps = page.locator(".lanes .block.alone")
    whole = steps.get_attribute("d")
    zoom.click()
    expect(zoom).to_have_text("whole run")
    assert steps.get_attribute("d") != whole
    zoom.click()
    expect(zoom).to_have_text("zoom in")
    assert steps.get_attribute("d") == whole


def test_what_happens_in_this_round_is_never_cut_whatever_stands_beside_it(context: BrowserContext) -> None:
    page = visit_stage(context, f"{RUN}&step=20")
    for _ in sizes(page):
        page.locator(".notice").evaluate(SAY, "From before. “Run again” times it again. " * 9)
        for sentence in SENTENCES:
            page.locator(".sentence").evaluate(SAY, sentence)
            for kept in (".sentence", ".round-number", ".badge"):
                assert page.locator(kept).evaluate("it => it.scrollWidth - it.clientWidth") == 0
            assert overlapping(boxes_of(page.locator(".now > *"))) == []
            badge, stage = placed(page.locator(".badge"), page.locator(".stage"))
            assert badge["x"] + badge["width"] <= stage["x"] + stage["width"]


BUSY_CHANGE = (
    "Busy machine: time cannot rank them. Exact: 59 % accepted, 3.20 tokens per target call "
    "(wren-nano, 4, recorded on another machine) → now 86 %, 4.27 (wren-small, 16, temperature 0.7, measured here)."
)

CUT = (  # of a sentence as the line of changes
    "(it, words) => { it.textContent = words; it.classList.add('long');"
    "return [it.scrollWidth - it.clientWidth, it.scrollHeight - it.clientHeight]; }"
)


def test_how_a_run_differs_from_the_one_before_is_not_cut_on_a_busy_machine(context: BrowserContext) -> None:
    page = visit_stage(context, RUN)
    change = page.locator(".change")
    for _ in sizes(page):
        before = placed(change)
        change.evaluate(SAY, BUSY_CHANGE)
        change.evaluate("it => it.classList.add('long')")
        assert change.evaluate("it => it.scrollWidth - it.clientWidth") == 0
        assert placed(change) == [pytest.approx(box, abs=0.5) for box in before]
        assert change.evaluate(CUT, f"{BUSY_CHANGE} {BUSY_CHANGE}") == [0, 0]
        change.evaluate(SAY, "")
        change.evaluate("it => it.classList.remove('long')")


def test_a_click_into_empty_space_and_a_key_draw_no_frame_around_the_page(visit: Visit) -> None:
    page = visit("", ".stage .round .chip")
    page.mouse.click(4, 700)
    page.keyboard.press("ArrowLeft")
    wait_for_what_an_event_starts(page)
    drawn = page.evaluate(
        "() => [...document.querySelectorAll(':focus')].flatMap((one) => ['', '::before', '::after'].map("
        "(part) => getComputedStyle(one, part || null))).filter((style) => style.content !== 'none' &&"
        "(style.boxShadow !== 'none' || style.outlineStyle !== 'none')).map((style) => style.boxShadow)"
    )
    assert drawn == []
