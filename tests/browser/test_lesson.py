"""A lesson in a real Chromium: by a clicker, with the notes in their own window, and what is hidden out of reach."""

import pytest
from playwright.sync_api import Page, expect

from specviz.data.lessons.plans import find_plan
from tests.browser.test_views import step_of
from tests.conftest import Visit
from tests.support.known import known
from tests.support.visitor import PHONE, violations_of, wait_until_still

PLAN = known(find_plan("ten-minutes"))
pytestmark = pytest.mark.visitor(reduced_motion="reduce")


def expect_moment(page: Page, at: int) -> None:
    """The bar, the step of the moment's link, and the place in the address."""
    expect(page.locator(".st-key-lesson_bar")).to_contain_text(f"Moment {at} of 4: {PLAN.moments[at - 1].title}")
    wait_until_still(page)  # until then the stage of the moment before may be there too
    expect(step_of(page)).to_have_value(str(PLAN.moments[at - 1].screen.step))
    page.wait_for_url(f"**/?lesson=ten-minutes&moment={at}")


def test_a_clicker_steps_the_run_and_never_the_lesson(visit: Visit) -> None:
    page = visit("?lesson=ten-minutes&moment=3")
    expect_moment(page, 3)
    page.get_by_role("button", name="Next", exact=True).click()
    expect_moment(page, 4)  # the last step of the run
    page.keyboard.press("PageDown")
    page.keyboard.press("ArrowRight")
    expect_moment(page, 4)
    page.keyboard.press("PageUp")
    expect(step_of(page)).to_have_value("40")
    page.get_by_role("button", name="Previous", exact=True).click()
    expect_moment(page, 3)
    page.keyboard.press("Space")  # plays: the button that was clicked does not have the focus
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.reload()
    expect_moment(page, 3)


def test_notes_and_page_of_one_browser_go_together(visit: Visit) -> None:
    page = visit("?lesson=ten-minutes&moment=1")
    expect_moment(page, 1)
    notes = visit("?lesson=ten-minutes&moment=1&notes=1")
    expect(notes.get_by_role("heading", name="1. The draft guesses")).to_be_visible()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(notes.get_by_role("heading", name="2. Which guess fails?")).to_be_visible()
    expect(notes.get_by_text(PLAN.moments[1].answer[:40])).to_be_visible()
    assert violations_of(notes) == []
    notes.get_by_role("button", name="Next", exact=True).click()
    expect(notes.get_by_role("heading", name="3. The best round")).to_be_visible()
    expect_moment(page, 3)
    page.close()
    page = visit("?lesson=ten-minutes&moment=1")  # notes that were read to the end follow a lesson that starts
    expect(notes.get_by_role("heading", name="1. The draft guesses")).to_be_visible()
    expect_moment(page, 1)
    notes.set_viewport_size(PHONE)


def test_hidden_parts_of_the_stage_are_out_of_reach(visit: Visit) -> None:
    names = "draft-length,explanation,legend,timeline,figures,copy-link,menu"
    page = visit(f"?run=first&step=8&view=full&hide={names}", ".strip .round.current .chip")
    for part in (".draft-length", ".inspector", ".legend", ".lanes", "figure", ".copy", "[data-testid=stHeader]"):
        expect(page.locator(part).first).to_be_hidden()
    page.locator(".strip .round.current .chip.rejected").click()
    assert "was rejected" not in page.locator(".spoken").inner_text()
    for _ in range(60):
        page.keyboard.press("Tab")
        assert not page.locator(".draft-length input").evaluate("input => input.getRootNode().activeElement === input")
