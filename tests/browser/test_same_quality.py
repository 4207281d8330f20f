"""The Same quality page in a real Chromium, engine and all."""

from playwright.sync_api import expect

from tests.conftest import Visit

READY = "text=Break it on purpose"


def test_greedy_is_compared_live_and_the_near_tie_runs_here(visit: Visit) -> None:
    page = visit("same_quality", READY)
    page.get_by_role("button", name="Run this example here").click()
    expect(page.get_by_text("LIVE · this machine").first).to_be_visible()
    expect(page.get_by_role("button", name="Compare my prompt")).to_be_enabled()
    page.get_by_role("button", name="Compare my prompt").click()
    expect(page.get_by_text("64 of 64 tokens identical, id for id.")).to_be_visible()
