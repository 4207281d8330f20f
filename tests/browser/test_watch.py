"""The whole app in a real Chromium: what a visitor does on the Watch page, its first view, opened files."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from specviz.core.trace import UPLOAD, Trace, dump_trace
from tests.conftest import AppServer, Visit
from tests.support.fake_traces import fake_trace, without_alternatives
from tests.support.known import known
from tests.support.records import RECORDS
from tests.support.visitor import PHONE, expect_no_scroll, placed, wait_until_drawn, wait_until_still

MEASURED_HERE = re.compile("^(live · this machine|measured here on .* UTC)$")  # another test may have had this run made
CHIP = ".stage .round .chip"
DONE = ".stage[data-run^='live'][data-done]"  # a live run, and the plain run after it, are over

pytestmark = pytest.mark.visitor(permissions=["clipboard-read", "clipboard-write"])


def stage(page: Page) -> Locator:
    return page.locator(".stage")


def slider_of(page: Page) -> Locator:
    return page.get_by_role("slider", name="Draft length")


def test_a_change_runs_live_and_the_link_reproduces_it(visit: Visit, app_server: AppServer) -> None:
    page = visit("?view=full", CHIP)
    slider_of(page).press("ArrowRight")
    page.wait_for_selector(DONE)
    expect(stage(page).locator(".badge")).to_have_text(MEASURED_HERE)
    expect(page.get_by_text("Identical: both wrote the same 64 tokens.")).to_be_visible()
    expect(page).to_have_url(re.compile("gamma=5"))
    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Forward one round").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    strip = stage(page).locator(".round").first.inner_text()
    step = page.locator(".scrubber").input_value()
    assert f"step={step}" in link
    page.locator(".scrubber").press("End")  # no longer the place that was copied
    expect(page.get_by_role("button", name="Copy link")).to_be_visible()

    other = visit(link.removeprefix(f"{app_server.url}/"), DONE)
    expect(slider_of(other)).to_have_value("5")
    expect(stage(other).locator(".round").first).to_have_text(strip, use_inner_text=True)
    expect(stage(other).locator(".scrubber")).to_have_value(step)
    prompt = other.get_by_role("textbox", name="Prompt text")
    prompt.fill("The dog saw a cat and")
    prompt.press("Control+Enter")  # inside the prompt it runs what stands there
    expect(stage(other).locator(".strip")).to_contain_text("The dog saw a cat and")
    expect(other.get_by_role("combobox", name="Prompt")).to_have_value("Your own text")


@pytest.mark.full
def test_reloading_in_the_middle_of_a_run_brings_it_back(visit: Visit, app_server: AppServer) -> None:
    with app_server.at_most(run=5):
        page = visit("?preset=prose-1&tokens=256&gamma=2", CHIP)
        expect(stage(page)).to_have_attribute("data-rounds", "5")
        page.reload()
        page.wait_for_selector(CHIP)
    page.wait_for_selector(DONE)
    expect(page).to_have_url(re.compile("tokens=256"))


HELD = "sessionStorage.getItem('specviz-tried')?.split(' ').length === 2"


def drag(page: Page, length: int) -> None:
    slider_of(page).evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", length)


@pytest.mark.full
def test_the_list_of_tries_survives_a_reload(visit: Visit) -> None:
    page = visit("", CHIP)
    page.get_by_role("combobox", name="Draft").click()
    page.get_by_role("option", name="wren-small").first.click()
    page.wait_for_selector(DONE)
    wait_until_drawn(page)
    shown = stage(page).get_attribute("data-run")
    drag(page, 6)
    slider_of(page).dispatch_event("change")
    page.wait_for_selector(f"{DONE}:not([data-run='{shown}'])")
    page.wait_for_function(HELD)
    page.reload()
    page.wait_for_selector(DONE)
    page.wait_for_function(HELD)
    page.get_by_role("button", name="What you tried").click()
    page.get_by_role("combobox", name="A run").click()
    listed = page.get_by_role("listbox").get_by_role("option")
    expect(listed).to_have_count(3)
    for at, name in ((1, "1: wren-small, 4"), (2, "2: wren-small, 6")):
        expect(listed.nth(at)).to_contain_text(name)


SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
PLOTS = [f"[data-figure={name}]" for name in ("acceptance", "speedup", "lengths")]


def test_the_first_view_fills_the_window_dragging_moves_one_dot_and_on_a_phone_the_controls_come_first(
    visit: Visit,
) -> None:
    page = visit("", CHIP)
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        expect_no_scroll(page, "Width", "Height")
        for plot in PLOTS:
            expect(page.locator(f"{plot} .plot")).to_be_in_viewport(ratio=1)
            expect(page.locator(f"{plot} .plot .curve:not(.pale)").first).to_be_visible()
    expect_dragging_moves_one_dot(page)
    page.set_viewport_size(PHONE)
    wait_until_still(page)
    parts = [page.get_by_role("combobox", name=name) for name in ("Prompt", "Target", "Draft")]
    parts += [slider_of(page), *map(page.locator, (".says", ".strip", ".scrubber", *PLOTS))]
    tops = [box["y"] for box in placed(*parts)]
    assert tops == sorted(tops)


def expect_dragging_moves_one_dot(page: Page) -> None:
    """Of the plot by length, and nothing else."""
    dots, says = page.locator("[data-figure=lengths] .dot.corrected:not(.pale)"), page.locator(".says strong")
    still = [page.locator(part) for part in (".strips", ".draft-length input", ".scrubber", ".change", ".grid")]
    before, [at] = placed(*still), placed(dots)
    seen = [at["x"]]

    for length in (5, 9, 16):
        drag(page, length)
        expect(dots).to_have_class("dot corrected hollow")
        seen.append(placed(dots)[0]["x"])
        assert placed(*still) == before
        expect(says).to_contain_text("estimated")
    expect(page.locator(".badge")).to_have_text("MODELLED")
    expect(page.locator(".badge")).to_have_attribute("title", re.compile("^Counted .*: exact"))
    assert seen == sorted(set(seen)), "the dot goes to the right with the length"
    drag(page, 4)
    expect(says).not_to_contain_text("estimated")
    assert placed(dots) == [at]


KILOBYTE = 1_000


def large_trace(number: int) -> Trace:
    """A run of so many rounds."""
    whole = without_alternatives(fake_trace(tokens=4 * number, sharpness=0.3))
    rounds = whole.rounds[:number]
    ids = [token for round in rounds for token in round.emitted_ids]
    plain = replace(known(whole.autoregressive), token_ids=ids, seconds_per_token=[0.004] * len(ids))
    settings, output = replace(whole.settings, max_new_tokens=len(ids)), replace(whole.output, token_ids=ids)
    return replace(whole, rounds=rounds, autoregressive=plain, output=output, settings=settings)


def ends_a_drawing(message: bytes) -> bool:
    return ForwardMsg.FromString(message).WhichOneof("type") == "script_finished"


@pytest.mark.full
def test_the_largest_trace_is_sent_once_and_a_record_of_another_system_shows_what_it_has(
    page: Page, app_server: AppServer
) -> None:
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    with page.expect_websocket() as opened:
        page.goto(f"{app_server.url}/?view=full")
    wait_until_drawn(page, ".stage")
    page.get_by_text("Save this run, or open one").click()
    content = dump_trace(large_trace(UPLOAD.rounds)).encode()
    received.clear()
    upload = page.locator(".st-key-trace_file input[type=file]")
    upload.set_input_files({"name": "trace.json", "mimeType": "application/json", "buffer": content})
    page.wait_for_selector(".stage[data-run^='file']")
    wait_until_drawn(page)
    expect(page.locator(".stage .strip .round")).to_have_count(UPLOAD.rounds)
    run = sum(received)
    assert run > 200 * KILOBYTE, "the run itself, so that what follows is measured at all"
    received.clear()
    with opened.value.expect_event("framereceived", ends_a_drawing):  # the place is reported: the script runs again
        page.get_by_role("button", name="Last step").click()
    assert 0 < sum(received) < run / 2
    page.get_by_role("button", name="First step").click()
    # At once: what the stage reported in this moment made a file be lost.
    upload.set_input_files(RECORDS / "vllm-0.29-chat.json")
    expect(page.locator(".stage .badge")).to_contain_text("imported from vLLM")
    for part in (".lanes", "[data-figure=speedup]", "[data-figure=lengths]", ".draft-length", ".copy-link"):
        expect(page.locator(f".stage {part}")).to_be_hidden()
