"""What holds for every page: the frame around it, whichever is opened first."""

import re

from playwright.sync_api import Page, expect

from tests.conftest import AppServer


def test_the_first_page_opened_on_a_fresh_server_has_its_frame(fresh_server: AppServer, page: Page) -> None:
    page.goto(f"{fresh_server.url}/learn?lesson=3")
    for title in ("Watch", "Race", "When it helps", "Worksheet", "Learn", "Same quality", "Be the draft"):
        expect(page.get_by_test_id("stHeader").get_by_text(title, exact=True)).to_be_visible(timeout=60_000)
    expect(page.get_by_test_id("stSidebar")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/learn\?.*lesson=(3|round)"))
