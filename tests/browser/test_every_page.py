"""One visit to every page looks at it in light and dark, through axe-core, on paper and on the narrowest screens."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.conftest import ROOT, AppServer, NewContext, contexts_of
from tests.support.grids import grid
from tests.support.paper import expect_nothing_cut, on_paper, pages_of, print_page
from tests.support.visitor import (
    DESK,
    PHONE,
    RULES,
    SCHEMES,
    SHOTS,
    expect_no_sideways_scroll,
    violations_of,
    wait_until_drawn,
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
ON_WHITE = {  # parts that are dark on white paper, from the dark theme too
    "/?view=full": (".stApp", ".stage", ".stage .sentence", ".stage .says", "h1 strong", ".st-key-outcome p"),
    "/when_it_helps": (".stApp", "h1 strong", ".chart"),
}
# parts that another page has too, and pages that the longer tests look at
LIKE_OTHERS = {"/?view=stage", "/?view=projector", "/?tour=1", "/?tour=5", "/same_quality", "/worksheet"}
LIKE_OTHERS |= {f"/learn?lesson={name}" for name in ("rejection", "bonus", "lossless", "stop")}
LIKE_OTHERS |= {f"/learn?part={name}" for name in ("why", "load", "teach")}
NOT_FOR_PAPER = ("tour=", "moment=")  # they point at what to press
# a small window at 200 % zoom, a phone, a small phone
NARROW = ({"width": 640, "height": 360}, PHONE, {"width": 320, "height": 640})
SCREENS: dict[str, dict[str, Any]] = {
    "320 px": {"viewport": {"width": 320, "height": 640}},
    "200 % zoom": {"viewport": {"width": 640, "height": 360}, "device_scale_factor": 2},
    "dark": {"viewport": DESK, "color_scheme": "dark"},
}
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
COLOURS = "node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]"
COLOURS_OF_ALL = f"nodes => nodes.map({COLOURS})"
FILLS = "nodes => nodes.map((node) => getComputedStyle(node).fill)"


@pytest.fixture(scope="module")
def visitor(browser: Browser) -> Iterator[BrowserContext]:
    """One visitor for all pages: the app's scripts are loaded once. The stage stands at its end."""
    with contexts_of(browser) as new:
        yield new(reduced_motion="reduce")


def open_page(context: BrowserContext, server: AppServer, path: str) -> Page:
    page = context.new_page()
    page.goto(f"{server.url}{path}")
    wait_until_drawn(page)
    if ".chart" in PAGES[path]:
        page.locator(".chart").first.scroll_into_view_if_needed()  # a figure is drawn when it is nearly seen
    expect(page.locator(PAGES[path]).first).to_be_visible()
    return page


@pytest.mark.parametrize("path", grid(PAGES, PAGES.keys() - LIKE_OTHERS))
def test_a_page_is_right_in_every_look(visitor: BrowserContext, app_server: AppServer, path: str) -> None:
    page = open_page(visitor, app_server, path)
    expect(page).to_have_title(f"{TITLES[urlsplit(path).path]} · specviz")
    if path in TITLES:
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("heading", level=1)).to_contain_text("specviz")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        expect(page.get_by_test_id("stApp")).to_have_css("background-color", as_css(THEME[scheme]["backgroundColor"]))
        assert violations_of(page, *RULES[scheme]) == [], scheme
        expect_colours_of_the_theme(page, scheme)
    if path in ON_WHITE:
        expect_dark_on_white(page, ON_WHITE[path])
    if not any(part in path for part in NOT_FOR_PAPER):
        expect_paper(page, path, "A4")
    for screen in NARROW:
        page.set_viewport_size(screen)  # type: ignore[arg-type]
        wait_until_still(page)
        expect_no_sideways_scroll(page)
        if page.locator(".explained:visible").count():
            page.locator(".explained:visible").first.focus()  # its explanation opens
            expect_no_sideways_scroll(page)
    page.close()


@pytest.mark.full
@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("path", PAGES)
def test_a_visit_on_that_screen_finds_the_page_right(
    new_context: NewContext, app_server: AppServer, path: str, screen: str
) -> None:
    page = open_page(new_context(**SCREENS[screen], reduced_motion="reduce"), app_server, path)
    wait_until_still(page)
    expect_no_sideways_scroll(page)
    assert violations_of(page) == []
    if not any(part in path for part in NOT_FOR_PAPER):
        expect_paper(page, path, "Letter")


def expect_paper(page: Page, path: str, paper: str) -> None:
    """A printer cuts nothing, and prints no control that means nothing on paper."""
    with on_paper(page, paper):
        expect_nothing_cut(page)
        height = page.evaluate("document.documentElement.scrollHeight / innerHeight")
        expect(page.locator("button:visible:not([class*=st-key-] *, .chip, .explained)")).to_have_count(0)
    pdf = print_page(page, paper)
    assert pages_of(pdf) >= height - 1  # the window's part alone would be one page
    SHOTS.mkdir(exist_ok=True)
    (SHOTS / f"print-{re.sub('[^a-z0-9]+', '-', path)}-{paper}.pdf").write_bytes(pdf)


def expect_colours_of_the_theme(page: Page, scheme: str) -> None:
    """Found: in the dark a button of another blue, and a legend on a white ground."""
    filled = page.locator("[data-testid^=stBaseButton-primary]:not(:disabled)").evaluate_all(COLOURS_OF_ALL)
    assert {ground for _, ground in filled} <= {as_css(THEME[scheme]["primaryColor"])}
    legends = page.locator(".chart .legend .bg").evaluate_all(FILLS)
    assert all("rgba(0, 0, 0, 0)" in fill or brightness(fill) < 60 for fill in legends if scheme == "dark")


def expect_dark_on_white(page: Page, parts: Sequence[str]) -> None:
    """The dark theme's page on paper."""
    with on_paper(page, "A4"):
        for part in parts:
            ink, ground = page.locator(part).first.evaluate(COLOURS)
            assert brightness(ink) < 60, part
            assert ground == "rgba(0, 0, 0, 0)" or brightness(ground) == 255, part
        labels = page.locator(".chart .xtick text")
        assert all(brightness(fill) < 120 for fill in labels.evaluate_all(FILLS))


def brightness(colour: str) -> float:
    """The mean of red, green and blue, 0 to 255."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


def as_css(colour: str) -> str:
    """#rrggbb as a browser computes it."""
    return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"


def test_in_the_visitors_own_colours_every_part_of_the_player_can_be_seen(
    new_context: NewContext, app_server: AppServer
) -> None:
    context = new_context(color_scheme="dark", forced_colors="active", reduced_motion="reduce")
    page = open_page(context, app_server, "/?view=full")
    ground = page.locator(".stage").evaluate("(stage) => getComputedStyle(stage).backgroundColor")
    for part, paint in ((".block.verify", "fill"), (".curve.accepted", "stroke"), (".key.draft", "background-color")):
        drawn = page.locator(f".stage {part}").first.evaluate(
            "(node, paint) => getComputedStyle(node).getPropertyValue(paint)", paint
        )
        assert drawn != ground, part
    track = page.locator(".stage .scrubber").evaluate("(input) => getComputedStyle(input).forcedColorAdjust")
    assert track == "none"
    marks = page.locator(".legend .chip").evaluate_all(
        "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    )
    assert len(set(marks)) == len(marks)
    page.locator(".strip .chip[tabindex='0']").focus()
    expect(page.locator(".strip .chip:focus")).not_to_have_css("outline-style", "none")
