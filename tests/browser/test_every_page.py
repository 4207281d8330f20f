"""One visit to every page in each language: in light and dark, through axe-core, on paper, on a desk and on a phone."""

import re
from itertools import product
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from specviz.core.languages import languages
from tests.conftest import Visit
from tests.support.grids import grid
from tests.support.paper import expect_nothing_cut, on_paper, pages_of, print_page
from tests.support.visitor import (
    DESK,
    PHONE,
    RULES,
    SCHEMES,
    SMALL,
    expect_no_scroll,
    violations_of,
    wait_until_still,
)

MENU = {  # by address, in the order of the menu
    "/": "Watch",
    "/learn": "Learn",
    "/race": "Race",
    "/when_it_helps": "When it helps",
    "/worksheet": "Worksheet",
    "/same_quality": "Same quality",
    "/be_the_draft": "Be the draft",
}
TITLES = MENU | {"/class": "Class board"}
PAGES = {  # address, and what can be seen once the page is drawn
    "/": ".stage .round .chip",
    "/?view=full": ".stage[data-view=full] .round .chip",
    "/?view=projector": ".stage[data-view=projector] .round .chip",
    "/?view=stage": ".stage[data-view=stage] .round .chip",
    "/?tour=1": ".tour-says",
    "/?tour=5": ".tour-says",
    "/race": ".race .lane",
    "/when_it_helps": ".chart .main-svg",
    "/worksheet": ".chart .main-svg",
    "/learn": ".diagram .odds",
    "/learn?lesson=rejection": ".diagram .box",
    "/learn?lesson=bonus": ".diagram .place",
    "/learn?lesson=lossless": ".lossless",
    "/learn?lesson=stop": ".diagram .guessed",
    "/learn?part=methods": ".family",
    "/learn?part=load": ".roofline .roof-line",
    "/learn?part=quiz": ".st-key-quiz-1-0",
    "/learn?part=words": ".words .entry",
    "/learn?part=why": ".explained",
    "/learn?part=teach": ".st-key-lesson_papers",
    "/learn?lesson=fifty-minutes&moment=1": ".st-key-lesson_bar",
    "/same_quality": ".chart .main-svg",
    "/be_the_draft": ".play .so-far",
    "/class": "[data-testid=stForm]",
}
NOT_FOR_PAPER = ("tour=", "moment=")  # they point at what to press
WORDS = ".annotation-text, .xtick text, .ytick text, .xtitle, .ytitle, .legendtext"  # of a chart
LINES = ".says, .reason, .same, .draft-length, .now"  # of the stage
# Parts that lie over each other by more than a rounded edge, and those that reach beyond the frame. A slanted name lies
# over nothing: the box around it is much larger than the name.
CROWDED = """(frame, parts) => {
  const around = frame.getBoundingClientRect();
  const slanted = (node) => Number(/rotate\\(([-0-9.]+)/.exec(node.getAttribute("transform"))?.[1] ?? 0) % 90 !== 0;
  const all = [...frame.querySelectorAll(parts)].filter((node) => node.checkVisibility({ visibilityProperty: true }))
    .map((node) => ({ text: node.textContent.trim(), box: node.getBoundingClientRect(), slanted: slanted(node) }));
  const shared = (one, other, from, to) => Math.min(one[to], other[to]) - Math.max(one[from], other[from]);
  const over = (one, other) => shared(one, other, "left", "right") > 1 && shared(one, other, "top", "bottom") > 1;
  const beyond = ({ left, top, right, bottom }) =>
    Math.max(around.left - left, around.top - top, right - around.right, bottom - around.bottom) > 1;
  const upright = all.filter((one) => !one.slanted);
  return {
    over: upright.flatMap((one, i) => upright.slice(i + 1).filter((other) => over(one.box, other.box))
      .map((other) => [one.text, other.text])),
    beyond: all.filter(({ box }) => beyond(box)).map(({ text }) => text),
  };
}"""
EVERY_DAY = [(path, "en") for path in ("/", "/race", "/when_it_helps", "/learn", "/class")]


@pytest.mark.parametrize(("path", "lang"), grid(product(PAGES, languages()), EVERY_DAY))
def test_a_page_is_right_in_every_look(visit: Visit, path: str, lang: str) -> None:
    page = visit(f"{path[1:]}{'&' if '?' in path else '?'}lang={lang}")
    if ".chart" in PAGES[path]:
        page.locator(".chart").first.scroll_into_view_if_needed()  # a figure is drawn when it is nearly seen
    expect(page.locator(PAGES[path]).first).to_be_visible()
    if lang == "en":
        expect(page).to_have_title(f"{TITLES[urlsplit(path).path]} · specviz")
    if path in TITLES:
        expect(page.get_by_role("heading", level=1)).to_have_text([re.compile("specviz")])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        assert violations_of(page, *RULES[scheme]) == [], scheme
    if not any(part in path for part in NOT_FOR_PAPER):
        expect_paper(page)
    for screen in (DESK, PHONE):
        page.set_viewport_size(screen)
        expect_nothing_over_another_or_cut_off(page)
    page.set_viewport_size(SMALL)
    wait_until_still(page)
    expect_no_scroll(page, "Width")
    if page.locator(".explained:visible").count():
        page.locator(".explained:visible").first.focus()  # its explanation opens
        expect_no_scroll(page, "Width")


def expect_nothing_over_another_or_cut_off(page: Page) -> None:
    wait_until_still(page)
    expect_no_scroll(page, "Width")
    for stage in page.locator(".stage").all():
        assert stage.evaluate(CROWDED, LINES)["over"] == []
    for chart in page.locator(".chart").filter(visible=True).all():
        chart.scroll_into_view_if_needed()
        expect(chart.locator(".main-svg").first).to_be_visible()
        wait_until_still(page)
        assert chart.evaluate(CROWDED, WORDS) == {"over": [], "beyond": []}


def expect_paper(page: Page) -> None:
    """A printer cuts nothing, and prints no control that means nothing on paper."""
    with on_paper(page, "A4"):
        expect_nothing_cut(page)
        height = page.evaluate("document.documentElement.scrollHeight / innerHeight")
        expect(page.locator("button:visible:not([class*=st-key-] *, .chip, .explained)")).to_have_count(0)
    assert pages_of(print_page(page, "A4")) >= height - 1  # the window's part alone would be one page


def test_words_that_lie_over_each_other_or_beyond_the_frame_are_found(page: Page) -> None:
    words = [
        (10, 20, "one", ""),
        (12, 22, "two", ""),
        (10, 60, "slanted", "rotate(-40 10 60)"),
        (190, 90, "beyond", ""),
    ]
    texts = "".join(f"<text x='{x}' y='{y}' transform='{turned}'>{word}</text>" for x, y, word, turned in words)
    page.set_content(f"<svg width='200' height='100' style='overflow: visible'>{texts}</svg>")
    assert page.locator("svg").evaluate(CROWDED, "text") == {"over": [["one", "two"]], "beyond": ["beyond"]}


@pytest.mark.visitor(color_scheme="dark", forced_colors="active")
def test_in_the_visitors_own_colours_every_part_of_the_player_can_be_seen(visit: Visit) -> None:
    page = visit("?view=full", PAGES["/"])
    ground = page.locator(".stage").evaluate("(stage) => getComputedStyle(stage).backgroundColor")
    for part, paint in ((".block.verify", "fill"), (".curve.accepted", "stroke"), (".key.draft", "background-color")):
        expect(page.locator(f".stage {part}").first).not_to_have_css(paint, ground)
    marks = page.locator(".legend .chip").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    )
    assert len(set(marks)) == len(marks)
