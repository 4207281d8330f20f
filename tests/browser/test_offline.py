"""A run offline in a Chromium without a network: as a page opened from disk, and in a notebook's cell."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

import specviz
from specviz.data.measured.first_run import first_trace
from specviz.player.html_file import Scheme
from specviz.player.offline import offline_page
from tests.conftest import NewContext
from tests.support.fake_traces import fake_trace
from tests.support.from_disk import open_from_disk
from tests.support.known import known

pytestmark = pytest.mark.visitor(reduced_motion="no-preference", offline=True)
RECORDED = known(first_trace())


def opened(context: BrowserContext, folder: Path, text: str) -> tuple[Page, list[str]]:
    page, heard = open_from_disk(context, folder / "run.html", text)
    expect(page.locator(".stage .chip").first).to_be_visible()
    return page, heard


def test_it_plays_and_explains_without_a_network(context: BrowserContext, tmp_path: Path) -> None:
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


def test_a_hostile_run_does_nothing(context: BrowserContext, tmp_path: Path) -> None:
    page, heard = opened(context, tmp_path, offline_page(fake_trace(hostile=True)))
    page.keyboard.press("End")
    for chip in page.locator(".strip .chip").all()[-12:]:
        chip.click()
    assert page.locator("main :is(script, img), .strip b").count() == 0
    assert heard == []


# ---- in a notebook's cell

AROUND = "<!doctype html><meta charset='utf-8'><title>A notebook</title><body>{cell}</body>"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_frame_plays_in_the_theme_that_was_asked_for(
    new_context: NewContext, tmp_path: Path, theme: Scheme
) -> None:
    other = "light" if theme == "dark" else "dark"
    context = new_context(offline=True, color_scheme=other, reduced_motion="no-preference")
    page, heard = open_from_disk(
        context, tmp_path / "cell.html", AROUND.format(cell=specviz.show(RECORDED, theme)._repr_html_())
    )
    frame = page.frame_locator("iframe")
    expect(frame.locator(".stage .chip").first).to_be_visible()
    expect(frame.locator(f"[data-scheme={theme}]").first).to_be_attached()
    expect(frame.locator(".round-number")).not_to_contain_text("Round 1 of")  # it plays by itself
    assert heard == []


def test_a_hostile_run_does_nothing_to_the_notebook(new_context: NewContext, tmp_path: Path) -> None:
    context = new_context(offline=True)
    cell = specviz.show(fake_trace(hostile=True))._repr_html_()
    page, heard = open_from_disk(context, tmp_path / "cell.html", AROUND.format(cell=cell))
    expect(page.frame_locator("iframe").locator(".stage .chip").first).to_be_visible()
    assert page.locator("body > *").count() == 1
    assert heard == []
