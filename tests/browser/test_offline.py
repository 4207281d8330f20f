"""Files in a Chromium without a network: a run as a page and in a notebook's cell, a lesson, its sheet and its key."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import specviz
from specviz.data.lessons.plans import LessonPlan, Moment, Screen, all_plans, find_plan
from specviz.data.measured.first_run import first_trace
from specviz.player.html_file import Scheme
from specviz.player.offline import lesson_page, offline_page
from specviz.player.sheet import key_html, lesson_address, sheet_html
from tests.conftest import NewContext
from tests.support.fake_traces import fake_trace
from tests.support.from_disk import open_from_disk
from tests.support.known import known
from tests.support.paper import PAPERS, expect_nothing_cut, on_paper, pages_of

pytestmark = pytest.mark.visitor(reduced_motion="no-preference", offline=True)
RECORDED = known(first_trace())
TEN_MINUTES = known(find_plan("ten-minutes"))
AROUND = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{cell}</body>"
EVIL = "</script></style><img src=x onerror=alert(1)><script>alert(1)</script> & {{script}}"
HELD = LessonPlan(EVIL, 1, (EVIL,), (Moment(EVIL, 1, Screen.from_link("./?run=first&step=4"), *[EVIL] * 4),), "mine")


def opened(context: BrowserContext, folder: Path, text: str) -> tuple[Page, list[str]]:
    return open_from_disk(context, folder / "page.html", text)


def test_a_run_plays_and_explains_without_a_network(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, offline_page(RECORDED))
    expect(page.locator(".round-number")).not_to_have_text("Round 1 of 20")  # it plays by itself
    page.keyboard.press("End")
    expect(page.locator(".round-number")).to_have_text("Round 20 of 20")
    page.locator(".strip .chip.rejected").first.click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    expect(page.locator("figure .curve").first).to_be_attached()
    expect(page.get_by_text("44 of 54 judged guesses accepted")).to_be_visible()
    expect(page.locator(".copy-link")).to_be_hidden()
    assert heard == []


@pytest.mark.parametrize(("theme", "other"), [("light", "dark"), ("dark", "light")])
def test_a_notebooks_cell_plays_in_the_theme_that_was_asked_for(
    new_context: NewContext, tmp_path: Path, theme: Scheme, other: Scheme
) -> None:
    context = new_context(offline=True, color_scheme=other, reduced_motion="no-preference")
    page, heard = opened(context, tmp_path, AROUND.format(cell=specviz.show(RECORDED, theme)._repr_html_()))
    frame = page.frame_locator("iframe")
    expect(frame.locator(".stage .chip").first).to_be_visible()
    expect(frame.locator(f"[data-scheme={theme}]").first).to_be_attached()
    expect(frame.locator(".round-number")).not_to_contain_text("Round 1 of")  # it plays by itself
    assert heard == []


def test_a_hostile_run_does_nothing_to_its_page_and_to_a_notebook(context: BrowserContext, tmp_path: Path) -> None:
    trace = fake_trace(hostile=True)
    page, heard = opened(context, tmp_path, offline_page(trace))
    page.keyboard.press("End")
    for chip in page.locator(".strip .chip").all()[-12:]:
        chip.click()
    assert page.locator("main :is(script, img), .strip b").count() == 0
    notebook, said = opened(context, tmp_path, AROUND.format(cell=specviz.show(trace)._repr_html_()))
    expect(notebook.frame_locator("iframe").locator(".stage .chip").first).to_be_visible()
    assert notebook.locator("body > *").count() == 1
    assert heard == said == []
    for text in (lesson_page(HELD), sheet_html(HELD, f"https://host/{EVIL}"), key_html(HELD)):
        page, heard = opened(context, tmp_path, text)
        assert page.locator("img, h1 script").count() == 0
        assert heard == []


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
    number, current = page.locator(".round-number"), page.locator(".strip .round.current")
    expect(page.locator(".moments li")).to_have_count(len(TEN_MINUTES.moments))
    page.get_by_role("link", name="Which guess fails?").click()
    expect(number).to_have_text("Round 2 of 14")
    expect(page.locator(".current .chip.drafted")).to_have_count(4)
    expect(page.get_by_text(TEN_MINUTES.moments[1].question)).to_be_visible()
    page.get_by_role("button", name="Forward one step").click()
    expect(page.locator(".current .chip.rejected")).to_have_count(1)
    page.locator(".strip .current .chip.rejected").click()
    expect(page.locator(".inspector .title")).to_contain_text("was rejected")
    expect(page.get_by_text("26 of 35 judged guesses accepted")).to_be_hidden()  # as the moment's link has it
    page.get_by_role("link", name="Next moment").click()
    expect(number).to_have_text("Round 5 of 14")
    expect(current).to_have_attribute("data-phase", "check")
    page.keyboard.press("ArrowRight")  # the heading has the focus, and the keys still step the run
    expect(current).to_have_attribute("data-phase", "judge")
    page.emulate_media(color_scheme="dark")
    expect(page.locator(".stage")).to_have_attribute("data-scheme", "dark")
    expect(current).to_have_attribute("data-phase", "judge")  # its place is kept
    page.go_back()
    expect(number).to_have_text("Round 2 of 14")
    page.get_by_role("link", name="All moments").click()
    expect(page.locator(".moments")).to_be_visible()
    expect(page.locator(".stage")).to_have_count(0)
    assert heard == []
