"""The whole app in a real Chromium: what a visitor does on the Watch page; the engine replays."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import AppServer, Visit

MEASURED_HERE = re.compile("^(live · this machine|measured here on .* UTC)$")  # another test may have had this run made
CHIP = ".stage .round .chip"

pytestmark = pytest.mark.visitor(permissions=["clipboard-read", "clipboard-write"])


def stage(page: Page) -> Locator:
    return page.locator(".stage")


def wait_for_live_run(page: Page, other_than: str | None = None) -> str:
    """Wait until a live run, and the plain run after it, are over; returns its id."""
    but = f":not([data-run='{other_than}'])" if other_than else ""
    page.wait_for_selector(f".stage[data-run^='live']{but}[data-done]")
    return str(stage(page).get_attribute("data-run"))


def test_a_change_runs_live_and_the_link_reproduces_it(visit: Visit, app_server: AppServer) -> None:
    page = visit("?view=full", CHIP)
    page.get_by_role("slider", name="Draft length").focus()
    page.keyboard.press("ArrowRight")
    wait_for_live_run(page)
    expect(stage(page).locator(".badge")).to_have_text(MEASURED_HERE)
    expect(page.get_by_text("Identical: both wrote the same 64 tokens.")).to_be_visible()
    expect(page).to_have_url(re.compile("gamma=5"))

    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Forward one round").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    strip = stage(page).locator(".round").first.inner_text()

    other = visit(link.removeprefix(f"{app_server.url}/"), CHIP)
    wait_for_live_run(other)
    expect(other.get_by_role("slider", name="Draft length")).to_have_value("5")
    expect(stage(other).locator(".round").first).to_have_text(strip, use_inner_text=True)
    at = re.search(r"[?&]step=(\d+)", link)
    assert at is not None
    expect(stage(other).locator(".scrubber")).to_have_value(at[1])

    prompt = other.get_by_role("textbox", name="Prompt text")
    prompt.fill("The dog saw a cat and")
    prompt.press("Control+Enter")  # inside the prompt it runs what stands there
    expect(stage(other).locator(".strip")).to_contain_text("The dog saw a cat and")
    expect(other.get_by_role("combobox", name="Prompt")).to_have_value("Your own text")


def test_reloading_in_the_middle_of_a_run_brings_it_back(visit: Visit, app_server: AppServer) -> None:
    with app_server.at_most(run=5):
        page = visit("?preset=prose-1&tokens=256&gamma=2", CHIP)
        expect(stage(page)).to_have_attribute("data-rounds", "5")
        page.reload()
        page.wait_for_selector(".stage .round .chip")
    wait_for_live_run(page)
    expect(page).to_have_url(re.compile("tokens=256"))


def test_the_chosen_view_is_remembered_by_the_browser(visit: Visit) -> None:
    page = visit("", CHIP)
    expect(page.locator(".stage[data-view=simple]")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(page.get_by_role("slider", name="Temperature")).to_be_visible()
    page.wait_for_function("document.cookie.includes('specviz_view=full')")
    again = visit("", CHIP)
    expect(again.locator(".stage[data-view=full]")).to_be_visible()
