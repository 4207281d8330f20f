"""How far the parts of Watch move while it is drawn for the first time, however slowly its scripts arrive."""

import re
from collections import deque
from itertools import product

import pytest
from playwright.sync_api import BrowserContext, Page, Route, WebSocketRoute, expect

from tests.conftest import AppServer
from tests.support.grids import grid
from tests.support.visitor import DESK, PHONE, RESTING, TWO_FRAMES, wait_until_still

SCREENS = {"desk": DESK, "phone": PHONE}
EVERY_DAY = (("", "phone"), ("?view=full", "desk"))
MOST = 0.1  # what "good" means for the sum of all layout shifts
# The browser's own measure: the share of the window that moved, times how far it moved.
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries()) {
    if (hadRecentInput) continue;
    const said = ({ node, previousRect: a, currentRect: b }) =>
      `${node?.className ?? node?.nodeName} ${[a.x, a.y, a.width, a.height]} -> ${[b.x, b.y, b.width, b.height]}`;
    window.shifts.push([value, sources.map(said)]);
  }
}).observe({ type: "layout-shift", buffered: true });
"""
LATE = re.compile(r"/static/js/")


class SlowLine:
    """A line on which scripts and messages of the server come one at a time, and the page is drawn after each."""

    def __init__(self, page: Page) -> None:
        self.page, self.waiting = page, deque[Route | tuple[WebSocketRoute, str | bytes]]()
        page.route(LATE, lambda route: self.waiting.append(route))
        page.route_web_socket(re.compile("/_stcore/stream"), self._slow)

    def _slow(self, browser: WebSocketRoute) -> None:
        browser.connect_to_server().on_message(lambda message: self.waiting.append((browser, message)))

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="commit")
        while self.waiting or not self.page.locator(f"{RESTING} .stage .round .chip").count():
            self.page.evaluate(TWO_FRAMES)
            if not self.waiting:
                continue
            one = self.waiting.popleft()
            if isinstance(one, Route):
                one.continue_()
            else:
                one[0].send(one[1])


@pytest.mark.parametrize(
    ("query", "screen"), grid(product(("", "?view=full"), SCREENS), [("", "phone"), ("?view=full", "desk")])
)
def test_the_first_view_does_not_jump_while_it_is_drawn(
    context: BrowserContext, app_server: AppServer, query: str, screen: str
) -> None:
    page = context.new_page()
    page.set_viewport_size(SCREENS[screen])
    page.add_init_script(WATCH_SHIFTS)
    SlowLine(page).open(f"{app_server.url}/{query}")
    wait_until_still(page)
    expect(page.locator(".stage[data-view]")).to_be_visible()
    shifts = page.evaluate("window.shifts")
    assert sum(value for value, _ in shifts) < MOST, shifts
