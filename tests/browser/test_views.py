"""The projector view, the stage in a frame of another page, and a lesson on screen, in a real Chromium."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from specviz.data.lessons.plans import find_plan
from specviz.data.measured.first_run import first_trace
from specviz.player.data import SUBSTEPS
from tests.conftest import AppServer, Visit
from tests.support.known import known
from tests.support.visitor import RESTING, violations_of, wait_until_still

CHIP = ".stage .round .chip"
# the step of the recorded run where a guess is first rejected
REJECTED_AT = next(each.index for each in known(first_trace()).rounds if each.rejected) * SUBSTEPS + SUBSTEPS - 1
PLAN = known(find_plan("ten-minutes"))


def step_of(page: Page) -> Locator:
    return page.locator(".stage .scrubber")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_clicker_and_arrow_keys_step_whatever_was_clicked_before_and_f_is_full_screen(visit: Visit) -> None:
    page = visit("?run=first&step=9&view=projector", CHIP)
    length, chip = page.get_by_role("slider", name="Draft length"), page.locator(".strip .chip.accepted").first
    chip.click()
    press(page, "ArrowRight")
    expect(step_of(page)).to_have_value("10")
    for act in (chip.click, step_of(page).click, length.focus):
        act()
        before = int(step_of(page).input_value())
        press(page, "PageDown")
        expect(step_of(page)).to_have_value(str(before + 1))
        press(page, "PageUp")
        expect(step_of(page)).to_have_value(str(before))
    expect(length).to_have_value("4")
    press(page, "f")
    page.wait_for_function("document.fullscreenElement === document.documentElement")
    page.get_by_role("button", name="Leave full screen").click()
    page.wait_for_function("document.fullscreenElement === null")


# ---- in a frame


BOXES = """() => [document.documentElement, document.querySelector("[data-testid=stMain]")].every(
  (box) => box.scrollWidth === box.clientWidth && box.scrollHeight === box.clientHeight)"""


def test_a_frame_shows_the_player_alone_and_its_link_opens_the_run_and_is_copied_without_the_right_to_the_clipboard(
    context: BrowserContext, app_server: AppServer, tmp_path: Path
) -> None:
    """In the page of another origin, whose frame has no rights."""
    player = f"{app_server.url}/?run=first&amp;step={REJECTED_AT}&amp;view=stage"
    course = tmp_path / "course.html"
    course.write_text(f"<!doctype html><title>A course</title><iframe src='{player}' style='border: 0'></iframe>")
    page = context.new_page()
    page.goto(course.as_uri())
    outside, inside = page.locator("iframe"), page.frame_locator("iframe")
    expect(inside.locator(f"{RESTING} {CHIP}").first).to_be_visible()
    [frame] = [frame for frame in page.frames if frame != page.main_frame]
    expect(frame.get_by_test_id("stHeader")).to_be_hidden()
    back, title = frame.get_by_role("link", name="Open in specviz"), frame.locator(".inspector .title")
    assert frame.get_by_role("link").all_inner_texts() == ["Skip to main content", "Open in specviz"]
    for chosen, (width, height) in ((False, (800, 520)), (True, (800, 520)), (True, (360, 640))):
        outside.evaluate("(it, [width, height]) => Object.assign(it, { width, height })", [width, height])
        if chosen:
            frame.locator(".round.current .chip.rejected").click()
            expect(title).to_contain_text("was rejected")
            expect(title).to_be_in_viewport(ratio=1)
        frame.wait_for_function(BOXES)
        expect(back).to_be_in_viewport(ratio=1)
    assert back.get_attribute("rel") == "noopener"
    with context.expect_page() as opened:
        back.click()
    tab = opened.value
    expect(tab.locator(".stage[data-view=full]")).to_have_attribute("data-run", "first")
    expect(step_of(tab)).to_have_value(str(REJECTED_AT))
    assert "view" not in parse_qs(urlsplit(tab.url).query)
    assert tab.evaluate("opener") is None
    frame.get_by_role("button", name="Copy link").click()
    field = frame.locator(".copy-field")
    expect(field).to_be_in_viewport(ratio=1)
    expect(frame.get_by_role("button", name="Link copied")).to_be_visible()
    context.grant_permissions(["clipboard-read"])
    for link in (field.input_value(), page.evaluate("navigator.clipboard.readText()")):
        asked = parse_qs(urlsplit(link).query)
        assert (asked["run"], asked["step"], asked["view"]) == (["first"], [str(REJECTED_AT)], ["stage"])


# ---- a lesson: by a clicker, with the notes in their own window, and what is hidden out of reach


def expect_moment(page: Page, at: int) -> None:
    """The bar, the step of the moment's link, and the place in the address."""
    expect(page.locator(".st-key-lesson_bar")).to_contain_text(f"Moment {at} of 4: {PLAN.moments[at - 1].title}")
    wait_until_still(page)  # until then the stage of the moment before may be there too
    expect(step_of(page)).to_have_value(str(PLAN.moments[at - 1].screen.step))
    page.wait_for_url(f"**/?lesson=ten-minutes&moment={at}")


def turn(page: Page, to: str) -> None:
    page.get_by_role("button", name=to, exact=True).click()


@pytest.mark.full
def test_a_clicker_steps_the_run_and_never_the_lesson_and_notes_and_page_of_one_browser_go_together(
    visit: Visit,
) -> None:
    def expect_notes(at: int) -> None:
        expect(notes.get_by_role("heading", name=f"{at}. {PLAN.moments[at - 1].title}")).to_be_visible()

    page = visit("?lesson=ten-minutes&moment=3")
    notes = visit("?lesson=ten-minutes&moment=1&notes=1")
    expect_notes(3)
    turn(page, "Next")
    expect_notes(4)
    assert violations_of(notes) == []
    expect_moment(page, 4)  # the last step of the run
    press(page, "PageDown", "ArrowRight")
    expect_moment(page, 4)
    press(page, "PageUp")
    expect(step_of(page)).to_have_value("40")
    turn(notes, "Previous")
    expect_notes(3)
    expect_moment(page, 3)
    turn(page, "Previous")
    expect_moment(page, 2)
    press(page, "Space")  # plays: the button that was clicked does not have the focus
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.reload()
    expect_moment(page, 2)
    page.close()
    page = visit("?lesson=ten-minutes&moment=1")  # notes that were read to the end follow a lesson that starts
    expect_notes(1)


def test_hidden_parts_of_the_stage_are_out_of_reach_and_other_keys_are_the_browsers(visit: Visit) -> None:
    names = "draft-length,explanation,legend,timeline,figures,copy-link,menu"
    page = visit(f"?run=first&step=8&view=full&hide={names}", ".strip .round.current .chip")
    for part in (".draft-length", ".inspector", ".legend", ".lanes", "figure", ".copy", "[data-testid=stHeader]"):
        expect(page.locator(part).first).to_be_hidden()  # so Tab does not reach it either
    press(page, "PageDown", "f", "ArrowRight")
    expect(step_of(page)).to_have_value("9")  # only the arrow key stepped
    press(page, "ArrowLeft")
    page.locator(".strip .round.current .chip.rejected").click()
    expect(step_of(page)).to_have_value("8")
    assert "was rejected" not in page.locator(".spoken").inner_text()
