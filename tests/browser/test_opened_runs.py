"""A run of another system, opened on Watch in a real Chromium: it stands under its own names on every page."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import PATIENCE, AppServer
from tests.support.records import RECORDS
from tests.support.visitor import expect_no_sideways_scroll, wait_until_drawn

RECORD = RECORDS / "vllm-0.29-chat.json"


@pytest.fixture(params=[(1280, 720), (390, 844)], ids=["desk", "phone"])
def page(browser: Browser, app_server: AppServer, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The run of the record is on screen."""
    width, height = request.param
    context = browser.new_context(viewport={"width": width, "height": height})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{app_server.url}/?view=full")
    page.wait_for_selector(".stage .round .chip")
    page.get_by_text("Save this run, or open one").click()
    page.locator(".st-key-trace_file input[type=file]").set_input_files(RECORD)
    page.wait_for_selector(".stage[data-run^='file']")
    yield page
    context.close()


def test_it_has_its_own_names_and_nothing_that_it_does_not_report(page: Page) -> None:
    stage = page.locator(".stage")
    expect(stage.locator(".badge")).to_contain_text("imported from vLLM")
    expect(page.get_by_text("On screen is the run of your file: vLLM draft → Qwen/Qwen3-8B")).to_be_visible()
    expect(stage.get_by_role("button", name="Copy link")).to_be_hidden()
    expect(page.get_by_role("button", name="Make a task link")).to_be_disabled()
    for part in (".lanes", ".keys", ".zoom"):
        expect(stage.locator(part)).to_be_hidden()
    expect(stage.locator(".caption")).to_contain_text("the times of this run are not reported")
    expect_no_sideways_scroll(page)


def test_what_the_record_lacks_is_filled_in_and_shown(page: Page) -> None:
    page.get_by_label("Name of its draft").fill("<b>my head</b>")
    page.get_by_label("Name of its draft").press("Enter")
    expect(page.get_by_text("<b>my head</b> → Qwen/Qwen3-8B").first).to_be_visible()
    page.get_by_label("Its prompt").fill("Tell a story.")
    page.get_by_label("Its prompt").press("Enter")
    expect(page.locator(".stage .strip")).to_contain_text("Tell␣a␣story.")  # one piece: its tokens are not known
    wait_until_drawn(page)
    expect_no_sideways_scroll(page)
    page.locator(".st-key-trace_file input[type=file]").set_input_files(RECORDS / "lmstudio-sdk-1.5.json")
    expect(page.locator(".stage .badge")).to_contain_text("imported from LM Studio")
    expect(page.get_by_label("Name of its draft")).to_have_value("")


def test_a_run_of_this_program_has_its_timeline_again(page: Page) -> None:
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    stage = page.locator(".stage")
    for part in (".lanes", ".keys"):
        expect(stage.locator(part)).to_be_visible()
    expect(stage.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_text("On screen is the run of your file")).to_be_hidden()
