"""A lesson's files in Chromium: the sheet and the key on paper, and the offline page with the network off."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from specviz.data.lessons.plans import LessonPlan, Moment, Screen, all_plans, find_plan
from specviz.player.offline import lesson_page
from specviz.player.sheet import key_html, lesson_address, sheet_html
from tests.support.from_disk import open_from_disk
from tests.support.known import known
from tests.support.paper import PAPERS, expect_nothing_cut, on_paper, pages_of

TEN_MINUTES = known(find_plan("ten-minutes"))
pytestmark = pytest.mark.visitor(offline=True)


def opened(context: BrowserContext, folder: Path, text: str) -> tuple[Page, list[str]]:
    return open_from_disk(context, folder / "lesson.html", text)


@pytest.mark.parametrize("plan", all_plans(), ids=lambda plan: plan.name)
def test_the_sheet_is_one_page_and_the_key_is_whole(context: BrowserContext, tmp_path: Path, plan: LessonPlan) -> None:
    sheet = sheet_html(plan, lesson_address("https://specviz.example.org/", plan))
    for kind, text in (("sheet", sheet), ("key", key_html(plan))):
        page, heard = opened(context, tmp_path, text)
        for paper in PAPERS:
            with on_paper(page, paper):
                expect_nothing_cut(page)
            pdf = page.pdf(format=paper)  # the margins are the file's own
            assert kind == "key" or pages_of(pdf) == 1
        assert heard == []


def test_a_lesson_is_walked_without_a_network(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, lesson_page(TEN_MINUTES))
    expect(page.locator(".moments li")).to_have_count(len(TEN_MINUTES.moments))
    page.get_by_role("link", name="Which guess fails?").click()
    expect(page.locator(".round-number")).to_have_text("Round 2 of 14")
    expect(page.locator(".current .chip.drafted")).to_have_count(4)
    expect(page.get_by_text(TEN_MINUTES.moments[1].question)).to_be_visible()
    page.get_by_role("button", name="Forward one step").click()
    expect(page.locator(".current .chip.rejected")).to_have_count(1)
    page.locator(".strip .current .chip.rejected").click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    expect(page.get_by_text("26 of 35 judged guesses accepted")).to_be_hidden()  # as the moment's link has it
    page.get_by_role("link", name="Next moment").click()
    expect(page.locator(".round-number")).to_have_text("Round 5 of 14")
    expect(page.locator(".strip .round.current")).to_have_attribute("data-phase", "check")
    page.keyboard.press("ArrowRight")  # the heading has the focus, and the keys still step the run
    expect(page.locator(".strip .round.current")).to_have_attribute("data-phase", "judge")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stage")).to_have_attribute("data-scheme", "dark")
    expect(page.locator(".strip .round.current")).to_have_attribute("data-phase", "judge")  # its place is kept
    page.locator(".strip .chip.rejected").first.click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    page.go_back()
    expect(page.locator(".round-number")).to_have_text("Round 2 of 14")
    page.get_by_role("link", name="All moments").click()
    expect(page.locator(".moments")).to_be_visible()
    expect(page.locator(".stage")).to_have_count(0)
    assert heard == []


def test_a_hostile_plan_does_nothing(context: BrowserContext, tmp_path: Path) -> None:
    evil = "</script></style><img src=x onerror=alert(1)><script>alert(1)</script> & {{script}}"
    moment = Moment(evil, 1, Screen.from_link("./?run=first&step=4"), evil, evil, evil, evil)
    plan = LessonPlan(evil, 1, (evil,), (moment,), "mine")
    for text in (lesson_page(plan), sheet_html(plan, f"https://host/{evil}"), key_html(plan)):
        page, heard = opened(context, tmp_path, text)
        assert page.locator("img, h1 script").count() == 0
        assert heard == []
