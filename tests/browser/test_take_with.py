"""“Take this with you”: the live file with the settings on screen, put together in the visitor's browser."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from tests.conftest import NewContext, Visit

EVIL = "A dog</script><script>document.title='hacked'</script>"
ASKED = {"prompt": EVIL, "target": "wren-base", "draft": "wren-small", "gamma": "3", "seed": "7", "tokens": "24"}
INSTEAD = "use draft wren-nano in place of wren-small."
FILE = "**/app/static/live-*.html"


@pytest.mark.full
@pytest.mark.visitor(once=True)
def test_after_a_failure_it_can_be_tried_again_and_has_the_settings_on_screen_as_text(
    visit: Visit, new_context: NewContext, tmp_path: Path
) -> None:
    page: Page = visit(f"?{urlencode(ASKED | {'view': 'full'})}", ".stage .round .chip")
    page.get_by_text("Save this run, or open one").click()
    button, said = page.get_by_role("button", name="Take this with you"), page.locator(".take [role=status]")
    held: list[Route] = []
    page.route(FILE, lambda route: held.append(route))
    with page.expect_request(FILE):
        button.click()
    expect(said).to_have_text("Preparing the file of 34 MB…")
    button.click()  # a second press while it is prepared asks for nothing
    held[0].fulfill(status=206, body="half a model")
    expect(said).to_have_text("The file could not be loaded. Try again.")
    assert len(held) == 1
    expect(page.locator(".take progress")).to_be_hidden()
    page.unroute(FILE)

    with page.expect_download() as download, page.expect_response(FILE) as answer:
        button.press("Enter")
    assert answer.value.status == 206  # as it lies on the disk: the server would compress 34 MB for each visitor
    assert "content-encoding" not in answer.value.headers
    assert download.value.suggested_filename == "specviz-live.html"
    expect(said).to_contain_text("Saved as specviz-live.html")
    expect(said).to_contain_text(INSTEAD)
    download.value.save_as(tmp_path / "live.html")
    taken = new_context(offline=True, once=True).new_page()
    taken.goto((tmp_path / "live.html").as_uri())
    taken.wait_for_selector(".stage[data-run^='live'][data-done]")
    for name, value in {"prompt": EVIL, "draft": "wren-nano", "seed": "7", "tokens": "24"}.items():
        expect(taken.locator(f".asked [name={name}]")).to_have_value(value)
    expect(taken.locator(".stage .draft-length output")).to_have_text("3")
    expect(taken.locator(".instead")).to_contain_text(INSTEAD)
    expect(taken.get_by_role("link", name="specviz")).to_have_attribute("href", page.url.split("?")[0])
    expect(taken).to_have_title("Speculative decoding, live in this browser")
