"""“Take this with you”: the live file with the settings on screen, put together in the visitor's browser."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.conftest import AppServer, NewContext
from tests.support.visitor import violations_of, wait_for_what_an_event_starts

EVIL = "A dog</script><script>document.title='hacked'</script>"
ASKED = {"prompt": EVIL, "target": "wren-base", "draft": "wren-small", "gamma": "3", "seed": "7", "tokens": "24"}
INSTEAD = "use draft wren-nano in place of wren-small."
LISTENERS_OF_THE_WINDOW = """() => {
  const listen = window.addEventListener.bind(window);
  window.heard = [];
  window.addEventListener = (kind, ...more) => {
    if (kind.startsWith("pointer")) window.heard.push(kind);
    listen(kind, ...more);
  };
}"""
FILE = "**/app/static/live-*.html"


@pytest.fixture
def visited(new_context: NewContext, app_server: AppServer) -> Page:
    page = new_context(once=True).new_page()
    page.goto(f"{app_server.url}/?{urlencode(ASKED | {'view': 'full'})}")
    page.wait_for_selector(".stage .round .chip")
    page.get_by_text("Save this run, or open one").click()
    return page


def button(page: Page) -> Locator:
    return page.get_by_role("button", name="Take this with you")


def said(page: Page) -> Locator:
    return page.locator(".take [role=status]")


@pytest.mark.full
def test_after_a_failure_it_can_be_tried_again_and_has_the_settings_on_screen_as_text(
    visited: Page, new_context: NewContext, tmp_path: Path
) -> None:
    held: list[Route] = []
    visited.route(FILE, lambda route: held.append(route))
    with visited.expect_request(FILE):
        button(visited).click()
    expect(said(visited)).to_have_text("Preparing the file of 34 MB…")
    button(visited).click()  # a second press while it is prepared asks for nothing
    wait_for_what_an_event_starts(visited)
    [route] = held
    route.fulfill(status=206, body="half a model")
    expect(said(visited)).to_have_text("The file could not be loaded. Try again.")
    expect(visited.locator(".take progress")).to_be_hidden()
    visited.unroute(FILE)

    visited.evaluate(LISTENERS_OF_THE_WINDOW)
    with visited.expect_download() as download, visited.expect_response(FILE) as answer:
        button(visited).press("Enter")
    assert answer.value.status == 206  # as it lies on the disk: the server would compress 34 MB for each visitor
    assert "content-encoding" not in answer.value.headers
    assert download.value.suggested_filename == "specviz-live.html"
    expect(said(visited)).to_contain_text("Saved as specviz-live.html")
    expect(said(visited)).to_contain_text(INSTEAD)
    assert visited.evaluate("window.heard") == []  # its form was read in a copy of its page, which goes
    assert [problem for problem in violations_of(visited) if "take" in problem] == []
    file = tmp_path / "live.html"
    download.value.save_as(file)
    page = new_context(offline=True, once=True).new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    values = {
        name: page.locator(f".asked [name={name}]").input_value() for name in ("prompt", "draft", "seed", "tokens")
    }
    assert values == {"prompt": EVIL, "draft": "wren-nano", "seed": "7", "tokens": "24"}
    expect(page.locator(".stage .draft-length output")).to_have_text("3")
    expect(page.locator(".instead")).to_contain_text(INSTEAD)
    expect(page.get_by_role("link", name="specviz")).to_have_attribute("href", visited.url.split("?")[0])
    assert page.title() == "Speculative decoding, live in this browser"
