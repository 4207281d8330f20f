"""Race in a real Chromium: its clock by keys and scrubber."""

import pytest
from playwright.sync_api import expect

from tests.conftest import Visit


@pytest.mark.full
@pytest.mark.visitor(reduced_motion="no-preference")  # else the race is over at once
def test_the_recorded_race_plays_to_its_end_and_its_clock_is_moved_by_keys_and_scrubber(visit: Visit) -> None:
    page = visit("race", ".race .lane")
    race = page.locator(".race")
    finished, clock, pause = race.locator(".lane.finished"), race.locator(".scrubber"), race.get_by_label("Pause")
    page.wait_for_selector(".race[data-done]")
    expect(finished).to_have_count(8)
    expect(race.locator("p.spoken[role=status]")).to_contain_text("The race is over.")
    race.get_by_role("button", name="Restart").click()
    pause.click()
    expect(race).not_to_have_attribute("data-done", "")
    clock.fill("500")
    half = race.locator(".count").all_inner_texts()
    page.evaluate("document.activeElement.blur()")
    for key, at in (("ArrowRight", "520"), ("ArrowLeft", "500")):
        page.keyboard.press(key)
        expect(clock).to_have_value(at)
    assert race.locator(".count").all_inner_texts() == half, "forth and back is where it was"
    page.keyboard.press("End")
    expect(finished).to_have_count(8)
    page.keyboard.press(" ")
    expect(pause).to_be_visible()
    race.get_by_label("Slow motion").select_option("1")
    page.wait_for_selector(".race[data-done]")
