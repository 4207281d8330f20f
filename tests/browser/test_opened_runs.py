"""A run of another system, opened on Watch in a real Chromium: it stands under its own names on every page."""

from playwright.sync_api import Page, expect

from tests.conftest import AppServer
from tests.support.records import RECORDS
from tests.support.visitor import DESK, PHONE, expect_no_sideways_scroll, wait_until_drawn

SCREENS = (PHONE, DESK)
NOT_REPORTED = ("[data-figure=speedup]", "[data-figure=lengths]", ".draft-length")
RECORD = RECORDS / "vllm-0.29-chat.json"


def test_a_record_of_another_system_stands_under_its_own_names(page: Page, app_server: AppServer) -> None:
    page.goto(f"{app_server.url}/?view=full")
    page.wait_for_selector(".stage .round .chip")
    page.get_by_text("Save this run, or open one").click()
    page.locator(".st-key-trace_file input[type=file]").set_input_files(RECORD)
    page.wait_for_selector(".stage[data-run^='file']")
    expect_what_it_reports(page)
    fill_in_what_it_lacks(page)
    page.locator(".st-key-trace_file input[type=file]").set_input_files(RECORDS / "lmstudio-sdk-1.5.json")
    expect(page.locator(".stage .badge")).to_contain_text("imported from LM Studio")
    expect(page.get_by_label("Name of its draft")).to_have_value("")
    expect_a_run_of_this_program_to_have_its_timeline_again(page)


def expect_what_it_reports(page: Page) -> None:
    stage = page.locator(".stage")
    expect(stage.locator(".badge")).to_contain_text("imported from vLLM")
    expect(page.get_by_text("On screen is the run of your file: vLLM draft → Qwen/Qwen3-8B")).to_be_visible()
    expect(page.get_by_role("button", name="Make a task link")).to_be_disabled()
    for screen in SCREENS:
        page.set_viewport_size(screen)
        expect(stage.get_by_role("button", name="Copy link")).to_be_hidden()
        for part in (".lanes", ".keys", ".zoom", *NOT_REPORTED):
            expect(stage.locator(part)).to_be_hidden()
        for part in ("acceptance", "positions"):
            expect(stage.locator(f"[data-figure={part}] .plot > svg")).to_be_visible()
        expect(page.get_by_text("What checking k tokens at once costs")).to_be_hidden()
        expect(page.get_by_text("The target alone wrote")).to_be_hidden()
        expect(stage.locator(".caption")).to_contain_text("the times of this run are not reported")
        expect_no_sideways_scroll(page)


def fill_in_what_it_lacks(page: Page) -> None:
    page.get_by_label("Name of its draft").fill("<b>my head</b>")
    page.get_by_label("Name of its draft").press("Enter")
    expect(page.get_by_text("<b>my head</b> → Qwen/Qwen3-8B").first).to_be_visible()
    page.get_by_label("Its prompt").fill("Tell a story.")
    page.get_by_label("Its prompt").press("Enter")
    expect(page.locator(".stage .strip")).to_contain_text("Tell␣a␣story.")  # one piece: its tokens are not known
    wait_until_drawn(page)
    for screen in SCREENS:
        page.set_viewport_size(screen)
        expect_no_sideways_scroll(page)


def expect_a_run_of_this_program_to_have_its_timeline_again(page: Page) -> None:
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(".stage[data-run^='live'][data-done]")
    stage = page.locator(".stage")
    for screen in SCREENS:
        page.set_viewport_size(screen)
        for part in (".lanes", ".keys", *NOT_REPORTED):
            expect(stage.locator(part)).to_be_visible()
        expect(stage.get_by_role("button", name="Copy link")).to_be_visible()
    expect(page.get_by_text("On screen is the run of your file")).to_be_hidden()
