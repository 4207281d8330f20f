"""A round whose draft is a tree, in a real Chromium: how it is drawn, reached by keyboard and explained."""

import re

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.support.grids import grid
from tests.support.layout import bottom, placed
from tests.support.stage_page import visit_stage
from tests.support.visitor import (
    DESK,
    PHONE,
    RULES,
    SCHEMES,
    expect_no_sideways_scroll,
    shot,
    violations_of,
    wait_until_still,
)

SHAPE = "tree=4,2,1"  # 20 guesses in 8 rows
WIDE = "tree=4,4"  # 20 guesses in 16 rows
DEEP = "tree=2,2,1,1,1,1,1,1"
PROPOSED, CHECKED, JUDGED = 6, 7, 8  # of round 3
LOOKS = [(JUDGED, SHAPE), (CHECKED, SHAPE), (JUDGED, WIDE)]
BOXES = "all => all.map(one => { const {x, y, width} = one.getBoundingClientRect(); return [x, y, width]; })"


pytestmark = pytest.mark.visitor(reduced_motion="reduce")


def open_tree(context: BrowserContext, step: int = JUDGED, query: str = SHAPE) -> Page:
    page = visit_stage(context, f"{query}&step={step}")
    expect(nodes(page).first).to_be_visible()
    wait_until_still(page)
    return page


def nodes(page: Page) -> Locator:
    """The guesses of the tree in sight."""
    return page.locator(".strip .current").get_by_role("treeitem")


def note(page: Page) -> Locator:
    return page.locator(".strip .current .tree-note")


def boxes_of(locator: Locator) -> list[list[float]]:
    found: list[list[float]] = locator.evaluate_all(BOXES)
    return found


def test_a_judged_tree_is_drawn_in_columns_and_said_in_words_marks_and_costs(context: BrowserContext) -> None:
    page = open_tree(context)
    expect(page.get_by_role("tree")).to_have_accessible_name("20 guesses in a tree, 3 places deep")
    expect(nodes(page)).to_have_count(20)
    lefts: dict[str, set[float]] = {}
    for box, node in zip(boxes_of(nodes(page)), nodes(page).all(), strict=True):
        lefts.setdefault(node.get_attribute("aria-level") or "", set()).add(round(box[0]))
    assert [len(lefts[level]) for level in "123"] == [1, 1, 1], "all guesses for a place stand in one column"
    assert len({round(box[1]) for box in boxes_of(nodes(page))}) == 8
    first = page.locator(".strip .current .row").first.get_by_role("treeitem")
    expect(first).to_have_count(3)
    assert len({round(box[1]) for box in boxes_of(first)}) == 1, "a chain is one row"
    # what became of it
    marks = {
        status: set(
            page.locator(f".strip .current .branches .{status}").evaluate_all(
                "all => all.map(one => getComputedStyle(one, '::before').content)"
            )
        )
        for status in ("accepted", "rejected", "not-taken")
    }
    assert marks == {"accepted": {'"✓"'}, "rejected": {'"✗"'}, "not-taken": {'"⋯"'}}
    legend = page.locator(".legend")
    expect(legend.get_by_text("not taken")).to_be_visible()
    expect(page.locator(".spoken")).to_have_text(re.compile(r"Round 3 of \d+\. It accepts "))
    label = nodes(page).first.get_attribute("aria-label") or ""
    assert re.search("(accepted|rejected|not taken, never judged), round 3$", label)
    # a wider check costs more, and a fixed shape has no slider
    expect(page.locator(".lanes .block.width")).to_have_attribute("d", re.compile("M"))
    expect(note(page)).to_contain_text(re.compile(r"21 tokens at once: \d\.\d\d× the time of one"))
    expect(page.locator(".width-key")).to_be_visible()
    expect(page.get_by_role("slider", name="Draft length")).to_be_hidden()
    why = page.get_by_role("button", name="tree 4,2,1")
    why.focus()
    expect(page.locator("#tip-fixed")).to_be_visible()
    for said in (page.locator("#tip-fixed"), page.locator("[data-figure=lengths] .note")):
        expect(said).to_contain_text("what another tree would draft is not known from this run")


def test_it_is_proposed_checked_and_judged_and_nothing_moves(context: BrowserContext) -> None:
    page = open_tree(context, PROPOSED)
    expect(page.locator(".sentence")).to_have_text("The draft guesses a tree: 20 guesses for 3 places.")
    expect(note(page)).to_have_text(re.compile("20 guesses, place by place"), use_inner_text=True)
    before = boxes_of(nodes(page))
    page.get_by_label("Forward one step").click()
    expect(note(page)).to_have_text(re.compile("one pass: 20 guesses"), use_inner_text=True)
    assert boxes_of(nodes(page)) == before
    page.get_by_label("Forward one step").click()
    expect(note(page)).to_have_text(re.compile(r"accepted ✓ · \d+ failed ✗ · \d+ not taken ⋯"), use_inner_text=True)
    assert boxes_of(nodes(page)) == before


def test_the_accepted_path_is_text_and_only_the_tree_in_sight_is_drawn(context: BrowserContext) -> None:
    page = open_tree(context)
    accepted = page.locator(".strip .current .branches .accepted")
    path = page.locator(".strip .current .path .chip")
    expect(path).to_have_text([*accepted.all_inner_texts(), *path.all_inner_texts()[-1:]])
    expect(page.locator(".strip .branches:visible")).to_have_count(1)
    expect(page.locator(".strip .round").first.locator(".path .chip").first).to_be_visible()
    page.get_by_label("Back one round").click()
    page.get_by_label("Back one step").click()
    expect(page.locator(".strip .current .branches")).to_be_visible()
    expect(page.locator(".strip .branches:visible")).to_have_count(1)


def test_the_words_of_a_chain_come_back_with_a_chain(context: BrowserContext) -> None:
    page = visit_stage(context, "step=11&sharpness=6")
    expect(page.locator(".stage .width-key")).to_be_hidden()
    expect(page.get_by_role("slider", name="Draft length")).to_be_visible()


@pytest.mark.parametrize("query", grid([SHAPE, WIDE, "tree=2,2", DEEP], (WIDE, DEEP)))
def test_every_guess_can_be_read_without_scrolling(context: BrowserContext, query: str) -> None:
    page = open_tree(context, JUDGED, query)
    [strip] = placed(page.locator(".strip"))
    assert bottom(page.locator(".transport")) <= 720, "the tokens and the playback fit the screen"
    for _, top, width in boxes_of(nodes(page).and_(page.locator(":visible"))):
        assert strip["y"] - 1 <= top <= strip["y"] + strip["height"] - 20
        assert width >= 60, "the mark and five letters"
    expect_no_sideways_scroll(page)


def test_on_a_phone_it_is_an_outline(context: BrowserContext) -> None:
    page = open_tree(context)
    page.set_viewport_size(PHONE)
    wait_until_still(page)
    rows = page.locator(".strip .current .row")
    lefts = [round(boxes_of(row.get_by_role("treeitem"))[0][0]) for row in rows.all()]
    levels = [int(row.get_by_role("treeitem").first.get_attribute("aria-level") or 0) for row in rows.all()]
    assert [left for _, left in sorted(zip(levels, lefts, strict=True))] == sorted(lefts), "deeper rows are indented"
    assert len(set(lefts)) == len(set(levels))
    for box in boxes_of(nodes(page)):
        assert 0 <= box[0] <= 390 - box[2]
        assert box[2] >= 40
    expect_no_sideways_scroll(page)


def test_it_has_one_tab_stop_its_arrow_keys_follow_the_branches_and_enter_explains(context: BrowserContext) -> None:
    page = open_tree(context)
    expect(page.locator(".strip .chip[tabindex='0']")).to_have_count(1)
    nodes(page).first.focus()
    focused = page.locator(".strip .chip:focus")
    for key, level, place, of in (
        ("ArrowRight", 2, 1, 2),
        ("ArrowDown", 2, 2, 2),
        ("ArrowRight", 3, 1, 1),
        ("ArrowRight", 3, 1, 1),
        ("ArrowLeft", 2, 2, 2),
        ("ArrowUp", 2, 1, 2),
        ("ArrowLeft", 1, 1, 4),
        ("ArrowDown", 1, 2, 4),
        ("End", 3, 1, 1),
        ("Home", 1, 1, 4),
    ):
        page.keyboard.press(key)
        said = {name: focused.get_attribute(f"aria-{name}") for name in ("level", "posinset", "setsize")}
        assert said == {"level": str(level), "posinset": str(place), "setsize": str(of)}, key
    page.keyboard.press("ArrowUp")
    expect(page.locator(".strip .path .chip:focus")).to_have_count(1)  # out of the tree, to the text
    page.keyboard.press("ArrowRight")
    expect(nodes(page).first).to_be_focused()
    expect(page.locator(".round-number")).to_have_text(re.compile("Round 3 of"))  # no key moved the playhead
    page.keyboard.press("Enter")
    expect(page.locator(".spoken")).to_contain_text("in the order tried")
    page.keyboard.press("Escape")
    expect(page.locator(".unpin")).to_have_count(0)


@pytest.mark.parametrize("more", grid(["", "&greedy"], ("",)))
def test_the_inspector_works_on_every_guess(context: BrowserContext, more: str) -> None:
    page = open_tree(context, 300, f"{SHAPE}{more}")  # at the end of the run
    inspector = page.locator(".inspector")
    seen: set[str] = set()
    while seen < {"accepted", "rejected", "not taken"}:
        page.get_by_label("Back one round").click()
        page.get_by_label("Back one step").click()  # the round before, judged
        for node in nodes(page).all():
            status = next(
                s for s in ("accepted", "rejected", "not taken") if s in (node.get_attribute("aria-label") or "")
            )
            node.click()
            expect(inspector.locator(".title")).to_contain_text(status if status == "not taken" else f"was {status}")
            expect(inspector.get_by_text("target p")).to_be_visible()
            expect(inspector.get_by_text("draft q")).to_be_visible()
            if status == "not taken":
                expect(inspector).to_contain_text("Not taken: ")
            elif "greedy" in more:
                expect(inspector).to_contain_text(re.compile("Greedy: .*the target’s top token"))
            else:
                expect(inspector).to_contain_text(re.compile(f"drew .*: {status}"))
            seen.add(status)


def test_a_large_proposed_tree_shows_its_most_probable_rows_opens_and_keeps_its_secret(context: BrowserContext) -> None:
    page = open_tree(context, PROPOSED, WIDE)
    fold = page.locator(".strip .current .fold")
    expect(fold).to_have_text(re.compile(r"^\+\d+ guesses, best [\d.]+ %"))
    shown = nodes(page).and_(page.locator(":visible"))
    hidden = int(re.findall(r"\d+", fold.inner_text())[0])
    expect(shown).to_have_count(20 - hidden)
    assert len({round(box[1]) for box in boxes_of(shown)}) == 7
    fold.click()
    expect(shown).to_have_count(20)
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.click()
    expect(shown).to_have_count(20 - hidden)
    page.locator(".strip .current [aria-level='1']").nth(1).click()
    expect(page.locator(".inspector")).to_contain_text("4 guesses for this place")


def test_an_accepted_path_is_never_hidden(context: BrowserContext) -> None:
    page = open_tree(context, 2, f"{WIDE}&sharpness=2")
    rounds = int((page.locator(".round-number").inner_text()).split()[-1])
    found = 0
    for _ in range(rounds):
        accepted = page.locator(".strip .current .branches .accepted")
        for chip in accepted.all():
            expect(chip).to_be_visible()
        found += page.locator(".strip .current .fold.aside").count()
        page.get_by_label("Forward one round").click()
    assert found, "in one round at least the accepted path would be hidden: else this test says nothing"


def test_a_dynamic_tree_has_a_slider_and_no_replay(context: BrowserContext) -> None:
    page = open_tree(context, JUDGED, f"{WIDE}&setting=dynamic:20&greedy")
    slider = page.get_by_role("slider", name="Draft length")
    slider.evaluate("it => { it.value = 5; it.dispatchEvent(new Event('input')); }")
    expect(page.locator(".notice")).to_have_text(re.compile("What a tree would draft at another depth is not known"))
    expect(page.locator(".badge")).not_to_contain_text("MODELLED")


def test_heads_that_draft_everything_at_once_say_so(context: BrowserContext) -> None:
    page = open_tree(context, PROPOSED, f"{SHAPE}&kind=medusa")
    expect(note(page)).to_have_text(re.compile("20 guesses, all at once"), use_inner_text=True)
    nodes(page).first.click()
    expect(page.locator(".inspector")).to_contain_text("The head for this place gave it q = ")


def test_a_block_is_explained_as_a_block(context: BrowserContext) -> None:
    page = visit_stage(context, "step=11&sharpness=6&block")
    page.locator(".strip .chip.accepted").first.click()
    expect(page.locator(".inspector")).to_contain_text(re.compile("The block up to here"))
    page.locator(".strip .chip.discarded").first.click()
    expect(page.locator(".inspector")).to_contain_text("no block with this token passed")
    expect(page.locator(".inspector")).not_to_contain_text("ever judged")


def test_hostile_guesses_are_only_text(context: BrowserContext) -> None:
    page = open_tree(context, 8, "tree=3,2&hostile&sharpness=1")
    for node in nodes(page).all():
        node.click()
    assert page.locator(".stage :is(script, img), .strip b").count() == 0


@pytest.mark.parametrize(
    ("step", "query"), grid([(JUDGED, SHAPE), (CHECKED, SHAPE), (JUDGED, WIDE)], ((JUDGED, SHAPE),))
)
def test_axe_finds_nothing_and_the_picture_can_be_looked_at(context: BrowserContext, step: int, query: str) -> None:
    page = open_tree(context, step, query)
    for screen in (DESK, PHONE):
        page.set_viewport_size(screen)
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            expect(page.locator(f".stage[data-scheme={scheme}]")).to_be_visible()
            shot(page.locator(".stage"), f"tree-{query}-{step}-{scheme}-{screen['width']}")
            assert violations_of(page, *RULES[scheme]) == []
