"""Own text on Watch in a real Chromium, on a line on which answers come late."""

import re

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.browser.test_large_trace import ends_a_drawing
from tests.conftest import AppServer
from tests.support.grids import grid
from tests.support.visitor import TWO_FRAMES, wait_until_drawn, wait_until_still


class LateAnswers:
    """A line on which the server hears what the visitor does, and its answers come later."""

    def __init__(self, page: Page) -> None:
        self.page, self.late, self.waiting = page, False, list[bytes]()
        page.route_web_socket(re.compile("/_stcore/stream"), self._between)

    def _between(self, browser: WebSocketRoute) -> None:
        def take(message: str | bytes) -> None:
            if self.late:
                assert isinstance(message, bytes)
                self.waiting.append(message)
            else:
                browser.send(message)

        self.browser = browser
        browser.connect_to_server().on_message(take)

    def wait_for_answers(self, number: int) -> None:
        """Until the server has drawn the page so often for what the visitor did; the browser does not get it."""
        while sum(map(ends_a_drawing, self.waiting)) < number:
            self.page.evaluate(TWO_FRAMES)

    def let_them_come(self) -> None:
        self.late = False
        for message in self.waiting:
            self.browser.send(message)


def open_field(page: Page) -> Locator:
    page.get_by_role("button", name="Own text").click()
    field = page.get_by_test_id("stPopoverBody")
    expect(field).to_be_visible()
    wait_until_still(page)
    return field


@pytest.mark.parametrize("view", grid(["simple", "full"], ["simple"]))
def test_a_button_that_is_pressed_before_the_answer_to_the_text_came_runs_the_text(
    page: Page, app_server: AppServer, view: str
) -> None:
    """The browser said once more that its menu has the old prompt, which the server took for a choice."""
    line = LateAnswers(page)
    page.goto(f"{app_server.url}/?view={view}")
    wait_until_drawn(page, ".stage .round .chip")
    field = open_field(page) if view == "simple" else page.get_by_test_id("stMain")
    text = field.get_by_role("textbox", name="Prompt text")
    text.fill("The dog saw a cat and")
    line.late = True
    text.blur()
    line.wait_for_answers(1)
    field.get_by_role("button", name="Run this text" if view == "simple" else "Run again").click()
    line.wait_for_answers(2)
    line.let_them_come()
    wait_until_still(page)
    expect(page.get_by_role("combobox", name="Prompt")).to_have_value("Your own text")
    expect(page.locator(".stage[data-run^='live'][data-done] .strip")).to_contain_text("The dog saw a cat and")
