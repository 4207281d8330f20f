"""The whole app in a real Chromium: what a visitor does on the Watch page, its first view, opened files."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, Page, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from specviz.core.trace import UPLOAD, Trace, dump_trace
from tests.conftest import AppServer, Visit
from tests.support.fake_traces import fake_trace, without_alternatives
from tests.support.records import RECORDS
from tests.support.visitor import PHONE, expect_no_scroll, placed, wait_until_drawn, wait_until_still

MEASURED_HERE = re.compile("^(live · this machine|measured here on .* UTC)$")  # another test may have had this run made
CHIP = ".stage .round .chip"

pytestmark = pytest.mark.visitor(permissions=["clipboard-read", "clipboard-write"])


def stage(page: Page) -> Locator:
    return page.locator(".stage")


def wait_for_live_run(page: Page, other_than: str | None = None) -> str:
    """Wait until a live run, and the plain run after it, are over; returns its id."""
    but = f":not([data-run='{other_than}'])" if other_than else ""
    page.wait_for_selector(f".stage[data-run^='live']{but}[data-done]")
    return str(stage(page).get_attribute("data-run"))


def test_a_change_runs_live_and_the_link_reproduces_it(visit: Visit, app_server: AppServer) -> None:
    page = visit("?view=full", CHIP)
    page.get_by_role("slider", name="Draft length").focus()
    page.keyboard.press("ArrowRight")
    wait_for_live_run(page)
    expect(stage(page).locator(".badge")).to_have_text(MEASURED_HERE)
    expect(page.get_by_text("Identical: both wrote the same 64 tokens.")).to_be_visible()
    expect(page).to_have_url(re.compile("gamma=5"))

    page.get_by_role("button", name="First step").click()
    page.get_by_role("button", name="Forward one round").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    strip = stage(page).locator(".round").first.inner_text()

    other = visit(link.removeprefix(f"{app_server.url}/"), CHIP)
    wait_for_live_run(other)
    expect(other.get_by_role("slider", name="Draft length")).to_have_value("5")
    expect(stage(other).locator(".round").first).to_have_text(strip, use_inner_text=True)
    at = re.search(r"[?&]step=(\d+)", link)
    assert at is not None
    expect(stage(other).locator(".scrubber")).to_have_value(at[1])

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
        page.wait_for_selector(".stage .round .chip")
    wait_for_live_run(page)
    expect(page).to_have_url(re.compile("tokens=256"))


@pytest.mark.full
def test_the_chosen_view_is_remembered_by_the_browser(visit: Visit) -> None:
    page = visit("", CHIP)
    expect(page.locator(".stage[data-view=simple]")).to_be_visible()
    page.get_by_role("button", name="Show everything").click()
    expect(page.get_by_role("slider", name="Temperature")).to_be_visible()
    page.wait_for_function("document.cookie.includes('specviz_view=full')")
    again = visit("", CHIP)
    expect(again.locator(".stage[data-view=full]")).to_be_visible()


SCREENS = ((1280, 720), (1440, 900), (1920, 1080))
HELD = "() => sessionStorage.getItem('specviz-tried')?.split(' ').length === 2"
PLOTS = ("acceptance", "speedup", "lengths")
DONE = ".stage[data-run^='live'][data-done]"


def slider_of(page: Page) -> Locator:
    return page.get_by_role("slider", name="Draft length γ")


def drag(page: Page, length: int) -> None:
    slider_of(page).evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", length)


def expect_tried(page: Page, *names: str) -> None:
    """The list of what was tried, after the recorded run."""
    page.get_by_role("button", name="What you tried").click()
    page.get_by_role("combobox", name="A run").click()
    listed = page.get_by_role("listbox").get_by_role("option")
    expect(listed).to_have_count(1 + len(names))
    for at, name in enumerate(names, start=1):
        expect(listed.nth(at)).to_contain_text(name)


@pytest.mark.full
def test_lengths_that_a_visitor_passes_are_not_run(visit: Visit) -> None:
    page = visit("", CHIP, once=True)  # its clock stays as it is set
    page.clock.install(time=0)
    page.clock.pause_at(10_000)  # from here on it stands, but for `run_for`
    for _ in range(4):
        page.get_by_role("button", name="One token more").evaluate("it => it.click()")
        page.clock.run_for(500)  # the next press comes before the length is asked for
        assert "Release the slider" in (page.locator(".reason").text_content() or "")
    page.clock.resume()
    page.wait_for_selector(DONE)
    expect_tried(page, "1: wren-nano, 8")


@pytest.mark.full
def test_the_list_of_tries_survives_a_reload(visit: Visit) -> None:
    page = visit("", CHIP)
    page.get_by_role("combobox", name="Draft").click()
    page.get_by_role("option", name="wren-small").first.click()
    page.wait_for_selector(DONE)
    wait_until_drawn(page)
    shown = page.locator(".stage").get_attribute("data-run")
    drag(page, 6)
    slider_of(page).dispatch_event("change")
    page.wait_for_selector(f"{DONE}:not([data-run='{shown}'])")
    page.wait_for_function(HELD)
    page.reload()
    page.wait_for_selector(DONE)
    page.wait_for_function(HELD)
    expect_tried(page, "1: wren-small, 4", "2: wren-small, 6")


def test_the_first_view_fills_the_window_dragging_moves_one_dot_and_on_a_phone_the_controls_come_first(
    visit: Visit,
) -> None:
    page = visit("", CHIP)
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        wait_until_still(page)
        expect_no_scroll(page, "Width", "Height")
        for name in PLOTS:
            plot = page.locator(f"[data-figure={name}] .plot")
            expect(plot).to_be_in_viewport(ratio=1)
            expect(plot.locator(".curve:not(.pale)").first).to_be_visible()
    expect_dragging_moves_one_dot(page)
    page.set_viewport_size(PHONE)
    wait_until_still(page)
    parts = [page.get_by_role("combobox", name=name) for name in ("Prompt", "Target", "Draft")]
    parts += [slider_of(page), *map(page.locator, (".says", ".strip", ".scrubber"))]
    parts += [page.locator(f"[data-figure={name}]") for name in PLOTS]
    tops = [box["y"] for box in placed(*parts)]
    assert tops == sorted(tops)


def expect_dragging_moves_one_dot(page: Page) -> None:
    """Of the plot by length, and nothing else."""
    dots = page.locator("[data-figure=lengths] .dot.corrected:not(.pale)")
    still = [page.locator(part) for part in (".strips", ".draft-length input", ".scrubber", ".change", ".grid")]
    before, [at] = placed(*still), placed(dots)
    seen = [at["x"]]
    for length in (5, 9, 16):
        drag(page, length)
        expect(dots).to_have_class("dot corrected hollow")
        seen.append(placed(dots)[0]["x"])
        assert placed(*still) == before
        expect(page.locator(".says strong")).to_contain_text("estimated")
        expect(page.locator(".badge")).to_have_text("MODELLED")
        expect(page.locator(".badge")).to_have_attribute("title", re.compile("^Counted .*: exact"))
    assert seen == sorted(set(seen)), "the dot goes to the right with the length"
    drag(page, 4)
    expect(page.locator(".says strong")).not_to_contain_text("estimated")
    assert placed(dots) == [at]


KILOBYTE = 1_000


def large_trace(number: int) -> Trace:
    """A run of so many rounds."""
    whole = without_alternatives(fake_trace(tokens=4 * number, sharpness=0.3))
    rounds = whole.rounds[:number]
    ids = [token for round in rounds for token in round.emitted_ids]
    assert whole.autoregressive
    plain = replace(whole.autoregressive, token_ids=ids, seconds_per_token=[0.004] * len(ids))
    output = replace(whole.output, token_ids=ids)
    settings = replace(whole.settings, max_new_tokens=len(ids))
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
    file = {
        "name": "trace.json",
        "mimeType": "application/json",
        "buffer": dump_trace(large_trace(UPLOAD.rounds)).encode(),
    }
    received.clear()
    upload = page.locator(".st-key-trace_file input[type=file]")
    upload.set_input_files(file)
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
