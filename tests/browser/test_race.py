"""Race and Same quality in a real Chromium, engine and all."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.conftest import Visit
from tests.support.visitor import wait_until_drawn, wait_until_still

SMALL = "?preset=story-1&preset=random-1&tokens=16&repeats=2"


def race(page: Page) -> Locator:
    return page.locator(".race")


def start(page: Page) -> None:
    page.get_by_role("button", name="Start the race").click()


def wait_for_race(page: Page) -> str:
    page.wait_for_selector(".race[data-run^=live]")
    return str(race(page).get_attribute("data-run"))


def test_the_recorded_race_plays_to_its_end_and_its_clock_is_moved_by_keys_and_scrubber(visit: Visit) -> None:
    page = visit("race", ".race .lane")
    expect(race(page).locator(".badge")).to_contain_text("recorded on")
    expect(race(page).locator(".lane")).to_have_count(8)
    expect(race(page).locator(".lane-tokens .chip.accepted").first).to_be_visible()
    page.wait_for_selector(".race[data-done]")
    expect(race(page).locator(".lane.finished")).to_have_count(8)
    expect(race(page).locator(".flag", has_text="Helps").first).to_be_visible()
    expect(race(page).locator(".flag", has_text="Hurts").first).to_be_visible()
    expect(race(page).locator("p.spoken[role=status]")).to_contain_text("The race is over.")
    expect(race(page).locator(".lap .spoken").first).to_contain_text("target alone wrote 64 tokens in")
    race(page).get_by_role("button", name="Restart").click()
    race(page).get_by_role("button", name="Pause").click()
    expect(race(page)).not_to_have_attribute("data-done", "")
    race(page).locator(".scrubber").fill("500")
    half = race(page).locator(".count").all_inner_texts()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    expect(race(page).locator(".scrubber")).to_have_value("520")
    page.keyboard.press("ArrowLeft")
    expect(race(page).locator(".scrubber")).to_have_value("500")
    assert race(page).locator(".count").all_inner_texts() == half, "forth and back is where it was"
    page.keyboard.press("End")
    expect(race(page).locator(".lane.finished")).to_have_count(8)
    page.keyboard.press(" ")
    expect(race(page).get_by_role("button", name="Pause")).to_be_visible()
    race(page).get_by_label("Slow motion").select_option("1")
    page.wait_for_selector(".race[data-done]")


def test_a_real_race_gives_lanes_table_and_verdict_and_survives_a_visit_elsewhere(visit: Visit) -> None:
    page = visit(f"race{SMALL}", ".race .lane")
    expect(race(page).locator(".badge")).to_contain_text("recorded on")
    start(page)
    run = wait_for_race(page)
    expect(race(page).locator(".badge")).to_have_text("measured on this machine")
    expect(race(page).locator(".lap")).to_have_count(2)
    wait_until_drawn(page)  # the table of before stands beside the new one for a moment
    expect(page.get_by_test_id("stDataFrame")).to_be_visible()
    expect(page.get_by_text(re.compile(r"over 2 prompts \(95 % interval"))).to_be_visible()
    expect(page.get_by_text("Identical: on every prompt")).to_be_visible()
    wanted = {"preset", "target", "draft", "gamma", "temperature", "top_k", "top_p", "tokens", "seed"}
    assert wanted | {"repeats", "same_length"} <= set(re.findall(r"[?&](\w+)=", page.url))
    assert page.url.count("preset=") == 2

    wait_until_drawn(page)  # a click while the page is still being drawn is lost
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    laps = json.loads(download.value.path().read_text(encoding="utf-8"))["laps"]
    assert [len(lap["speculative_seconds"]) for lap in laps] == [2, 2]
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert len(download.value.path().read_text(encoding="utf-8").splitlines()) == 5

    page.get_by_test_id("stTopNavLink").filter(has_text="Worksheet").click()
    page.get_by_text("Does a draft pay?").wait_for()
    page.get_by_test_id("stTopNavLink").filter(has_text="Race").click()
    assert wait_for_race(page) == run


@pytest.mark.visitor(reduced_motion="reduce")  # the race is over at once
def test_a_prompts_run_is_saved_as_a_page_that_plays_offline(
    visit: Visit, context: BrowserContext, tmp_path: Path
) -> None:
    page = visit("race", ".race[data-done]")
    box = page.get_by_test_id("stExpander").filter(has_text="story-1: identical")
    box.locator("summary").click()
    expect(box.get_by_test_id("stText")).to_have_count(3)  # they are loaded late, and push the button down
    wait_until_still(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save this run as a page that plays offline").first.click()
    file = tmp_path / "run.html"
    download.value.save_as(file)
    context.set_offline(True)
    alone = context.new_page()
    alone.goto(file.as_uri())
    expect(alone.locator(".stage .chip").first).to_be_visible()
    expect(alone.get_by_text("pairs of runs of one text on")).to_be_visible()


def test_greedy_is_compared_live_and_the_near_tie_runs_here(visit: Visit) -> None:
    page = visit("same_quality", "text=Break it on purpose")
    page.get_by_role("button", name="Run this example here").click()
    expect(page.get_by_text("LIVE · this machine").first).to_be_visible()
    expect(page.get_by_role("button", name="Compare my prompt")).to_be_enabled()
    page.get_by_role("button", name="Compare my prompt").click()
    expect(page.get_by_text("64 of 64 tokens identical, id for id.")).to_be_visible()
