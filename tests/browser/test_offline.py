"""The page that plays a run offline, opened from disk in a Chromium without a network."""

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from specviz.data.measured.first_run import first_trace
from specviz.player.offline import offline_page
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
    expect(page.locator(".round-number")).to_have_text("Round 2 of 20")  # it plays by itself
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
