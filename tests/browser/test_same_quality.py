"""The Same quality page in a real Chromium, engine and all: recorded at first, then proved and broken live."""

from playwright.sync_api import expect

from specviz.measure.proof.rows import RULES
from tests.conftest import AppServer, Visit

READY = "text=Why not accept only exact matches?"
WRONG = [rule for rule in RULES if not rule.lossless]


def test_greedy_is_compared_live_and_the_near_tie_runs_here(visit: Visit, real_app_server: AppServer) -> None:
    page = visit("same_quality", READY, real_app_server)
    page.get_by_role("button", name="Run this example here").click()
    expect(page.get_by_text("LIVE · this machine").first).to_be_visible()
    expect(page.get_by_role("button", name="Compare my prompt")).to_be_enabled()
    page.get_by_role("button", name="Compare my prompt").click()
    expect(page.get_by_text("64 of 64 tokens identical, id for id.")).to_be_visible()


def test_it_works_by_keyboard(visit: Visit, app_server: AppServer) -> None:
    page = visit("same_quality?draws=20000&preset=copy-1", READY)
    page.get_by_role("radio", name=WRONG[0].title).focus()
    page.keyboard.press("ArrowDown")
    after = WRONG[1].does.partition("guess ")[2]  # the word itself has its explanation beside it
    assert after
    expect(page.get_by_text(after)).to_be_visible()
    with app_server.at_most(prove=2):
        page.get_by_role("button", name="Draw 20,000 times", exact=True).focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        page.get_by_role("button", name="Cancel").focus()
        page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Draw 20,000 times", exact=True)).to_be_enabled()
