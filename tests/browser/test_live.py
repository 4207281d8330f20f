"""The page that decodes in the browser: what it shows, runs, saves and says; its engine for scripts and on a site."""

import csv
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from specviz import DecodeSettings
from specviz.core.trace import parse_trace
from specviz.data.lessons.plans import find_plan
from specviz.data.measured.first_run import first_trace
from specviz.player.live import PIECE, write_site
from tests.support.known import known
from tests.support.visitor import SMALL, expect_no_scroll, violations_of

pytestmark = pytest.mark.visitor(offline=True, permissions=["clipboard-write", "clipboard-read"])
READY = re.compile("^Ready: wren-base")
EVERYTHING = "#view=full"
LIVE = ".stage[data-run^='live'][data-done]"


def told(page: Page) -> Locator:
    return page.locator(".state .told")


def control(page: Page, name: str) -> Locator:
    return page.locator(f".asked [name={name}]")


def press(page: Page, button: str) -> None:
    page.get_by_role("button", name=button).first.click()


def open_file(page: Page, path: Path, fragment: str = EVERYTHING) -> None:
    page.goto(f"{path.as_uri()}{fragment}")
    expect(told(page)).to_have_text(READY)


def open_run(page: Page, content: bytes) -> None:
    file = page.get_by_label("Open a run")
    file.set_input_files({"name": "run.json", "mimeType": "application/json", "buffer": content})


def test_a_change_runs_at_once_and_the_run_is_kept_saved_and_opened_again(page: Page, one_file: Path) -> None:
    open_file(page, one_file)
    badge, draft, undo = page.locator(".stage .badge"), control(page, "draft"), page.get_by_role("button", name="Undo")
    expect(badge).to_have_text("recorded run")
    expect(undo).to_be_disabled()
    draft.select_option("prompt-lookup")
    page.wait_for_selector(LIVE)
    expect(page.locator(".kept tbody tr")).to_have_count(2)
    expect(page.locator(".modelled")).to_contain_text("Counted, exact:")
    expect(page.locator(".modelled")).to_contain_text("Modelled:")
    assert violations_of(page) == []
    with page.expect_download() as download:
        press(page, "Save this run")
    saved = download.value.path().read_bytes()
    trace = parse_trace(saved)
    assert trace.output == known(first_trace()).output  # the target's own greedy text, as PyTorch wrote it
    assert known(trace.drafter).kind == "prompt-lookup"
    assert "WebAssembly" in trace.recorded_on.machine
    undo.click()
    expect(draft).to_have_value("wren-nano")
    expect(badge).to_have_text("recorded run")
    expect(told(page)).to_contain_text("The run below is a recorded one.")
    expect(undo).to_be_disabled()
    press(page, "Show again")
    expect(draft).to_have_value("prompt-lookup")
    undo.click()
    problem, rubbish = page.get_by_role("alert"), b'{"schema": 2, "output": {"stopped_by": "eos"}, "rounds": "<b>"}'
    open_run(page, rubbish)
    expect(problem).to_have_text(re.compile("^That file is no run"))
    open_run(page, saved)
    page.wait_for_selector(".stage[data-run^='file']")
    expect(problem).to_be_hidden()
    expect(draft).to_have_value("prompt-lookup")


IMPOSSIBLE = {  # in a link
    "temperature=50&top_p=0": "temperature 0 in place of 50 and top-p 1 in place of 0",
    "gamma=40": "draft length 4 in place of 40",
    "draft_sampling=argmax&tokens=999": "new tokens 64 in place of 999"
    " and the draft takes a random token in place of its most probable token",
}
NEAREST = (("seed", "1.5", "2", "1.5"), ("seed", "-1", "0", "-1"), ("top_k", "", "0", "nothing"))  # typed, used, said
ASKED = {"prompt": "A dog", "draft": "wren-nano", "temperature": "0.8", "seed": "5", "tokens": "24", "gamma": "2"}


@pytest.mark.full
def test_a_link_brings_settings_and_runs_and_what_cannot_run_is_a_sentence(page: Page, one_file: Path) -> None:
    instead, problem = page.locator(".instead"), page.get_by_role("alert")
    for link, says in IMPOSSIBLE.items():
        open_file(page, one_file, f"#{link}")
        expect(instead).to_have_text(f"New runs on this page use {says}.")
    open_file(page, one_file, "#lesson=fifty-minutes&moment=99")
    expect(problem).to_have_text("This page has no such moment of a lesson.")
    open_file(page, one_file)
    for name, typed, used, said in NEAREST:
        control(page, name).fill(typed)
        control(page, name).press("Control+Enter")
        expect(control(page, name)).to_have_value(used)
        expect(instead).to_have_text(f"New runs on this page use {name.replace('_', '-')} {used} in place of {said}.")
        expect(page).to_have_url(re.compile(f"#.*{name}={used}"))
    control(page, "draft").select_option("prompt-lookup")
    expect(instead).to_be_hidden()
    page.goto("about:blank")  # a run of before is no run of the link
    open_file(page, one_file, "&".join([EVERYTHING, "target=<b>", *(f"{name}={ASKED[name]}" for name in ASKED)]))
    page.wait_for_selector(LIVE)
    for name, value in {**ASKED, "target": "wren-base"}.items():
        expect(control(page, name)).to_have_value(value)
    expect(page.locator(".stage .draft-length output")).to_have_text("2")
    control(page, "prompt").fill("")
    press(page, "Run again")
    expect(problem).to_have_text(re.compile("^The prompt is empty"))
    expect(page.locator(LIVE)).to_be_visible()  # nothing is lost
    page.set_viewport_size(SMALL)
    expect_no_scroll(page, "Width")


@pytest.mark.full
def test_a_lesson_shows_its_moments_with_what_they_ask_and_the_link_holds_which(page: Page, one_file: Path) -> None:
    moments = known(find_plan("fifty-minutes")).moments
    moment, question = page.locator(".moment"), page.locator(".moment .question")
    open_file(page, one_file)
    expect(moment).to_be_hidden()
    control(page, "lesson").select_option("lesson=fifty-minutes&moment=1")
    expect(question).to_have_text(moments[0].question)
    expect(moment.locator(".needs")).to_have_text("“Learn” needs the server.")
    press(page, "Next moment")
    expect(question).to_have_text(moments[1].question)
    expect(moment.locator(".needs")).to_be_hidden()
    expect(page.locator(".stage")).to_have_attribute("data-hide", "result")
    expect(page.locator(".stage .badge")).to_have_text("recorded run")
    expect(page.locator(".outcome")).to_be_hidden()
    expect(moment.get_by_role("heading")).to_be_focused()
    assert violations_of(page) == []
    press(page, "Show what is hidden")
    expect(page.locator(".outcome")).to_be_visible()
    page.go_back()
    expect(question).to_have_text(moments[0].question)
    costly = next(at for at, each in enumerate(moments, 1) if each.screen.last("run") == "story-costly")
    open_file(page, one_file, f"{EVERYTHING}&lesson=fifty-minutes&moment={costly}")
    page.reload()
    expect(question).to_have_text(moments[costly - 1].question)
    expect(page.locator(".instead")).to_contain_text("use target wren-base in place of wren-mini and draft wren-nano")
    expect(told(page)).to_have_text(READY)
    press(page, "Run again")  # the moment's settings, decoded here
    page.wait_for_selector(LIVE)
    expect(question).to_be_visible()
    expect(page).to_have_url(re.compile(f"&lesson=fifty-minutes&moment={costly}"))
    press(page, "Leave the lesson")
    expect(moment).to_be_hidden()
    expect(control(page, "lesson")).to_be_focused()
    expect(page).not_to_have_url(re.compile("lesson"))


@pytest.mark.full
def test_a_run_is_compared_with_until_it_is_released_and_the_list_is_a_file(page: Page, one_file: Path) -> None:
    open_file(page, one_file, f'{EVERYTHING}&draft=prompt-lookup&gamma=2&tokens=24&prompt==1%2B1,+"two"')
    page.wait_for_selector(LIVE)
    earlier, rows, seed = page.locator(".stage .change"), page.locator(".kept tbody tr"), control(page, "seed")
    press(page, "Compare with it")  # the run on screen
    control(page, "draft").select_option("wren-nano")
    expect(rows).to_have_count(3)
    seed.fill("3")
    seed.press("Tab")
    expect(rows).to_have_count(4)
    expect(earlier).to_contain_text("prompt lookup")
    press(page, "Stop comparing")
    expect(earlier).to_contain_text("wren-nano")  # the run before again
    with page.expect_download() as download:
        press(page, "Save the list as CSV")
    with download.value.path().open(encoding="utf-8", newline="") as lines:
        saved = list(csv.DictReader(lines))
    assert [row["run"] for row in saved] == ["0, recorded", "1", "2", "3"]  # tests/js/both.test.js has the columns
    page.goto(saved[1]["link"])
    expect(control(page, "draft")).to_have_value("prompt-lookup")
    expect(control(page, "prompt")).to_have_value('=1+1, "two"')


@pytest.mark.full
def test_a_press_after_typing_is_a_click_and_the_link_on_the_stage_opens_the_same_run_at_the_same_step(
    page: Page, one_file: Path
) -> None:
    open_file(page, one_file)
    seed = control(page, "seed")
    seed.fill("3")
    # A press leaves the field. A run that began then moved the button away, and “Show less” did nothing.
    page.get_by_role("button", name="Show less").hover()
    page.mouse.down()
    assert "seed=3" not in page.url, "a run begins while the button is held"
    page.mouse.up()
    page.wait_for_selector(LIVE)
    expect(seed).to_be_hidden()
    press(page, "Show everything")
    seed.fill("4")
    seed.press("Control+Enter")
    seed.press("Tab")  # leaves the field, as a click elsewhere does: what was typed runs once
    control(page, "draft").select_option("prompt-lookup")
    page.wait_for_selector(".stage[data-run=live-3][data-done]")
    open_file(page, one_file, "#draft=lookup&tokens=24&prompt=A+dog&temperature=0.85&step=4")
    page.wait_for_selector(f"{LIVE}:not([data-run=live-3])")
    expect(control(page, "draft")).to_have_value("prompt-lookup")
    expect(page.locator(".instead")).to_be_hidden()
    expect(page.locator(".round-number")).to_contain_text("Round 2 of")
    press(page, "Copy link")
    expect(page.get_by_role("button", name="Link copied")).to_be_visible()
    address, _, asked = page.evaluate("navigator.clipboard.readText()").partition("#")
    assert address == one_file.as_uri()
    values = dict(parse_qsl(asked))
    assert (values["temperature"], values["draft"], values["step"]) == ("0.85", "prompt-lookup", "4")


DIES = "() => void setTimeout(() => { throw new Error('dead'); })"
FAILS = "() => postMessage({ kind: 'failed', sentence: 'The weights are damaged.' })"  # as for weights that are


def test_an_engine_that_cannot_work_is_a_sentence_and_is_started_again(page: Page, one_file: Path) -> None:
    open_file(page, one_file)
    for does, says in ((DIES, "The engine of this page stopped."), (FAILS, "The weights are damaged.")):
        page.workers[-1].evaluate(does)
        expect(told(page)).to_have_text(says)
        expect(page.locator(".kept tbody tr")).to_have_count(1)
        press(page, "Try again")
        expect(told(page)).to_have_text(READY)
    press(page, "Run again")
    page.wait_for_selector(LIVE)


@pytest.mark.full
def test_the_console_decodes_as_the_controls_do(page: Page, one_file: Path) -> None:
    page.goto(one_file.as_uri())
    settings = {"max_new_tokens": 12, "draft_length": 3, "stop_at_eos": False}
    asked = {"prompt": "A dog", "target": "wren-base", "draft": "wren-nano", "settings": settings}
    trace = parse_trace(page.evaluate("async (asked) => JSON.stringify(await specviz.decode(asked))", asked))  # waits
    assert (trace.settings, trace.prompt.text) == (DecodeSettings(**settings), "A dog")  # type: ignore[arg-type]
    assert page.evaluate("specviz.decode({ draft: 'lookup' }).then(({ drafter }) => drafter.kind)") == "prompt-lookup"
    expect(page.locator(".stage .badge")).to_have_text("recorded run")  # the screen is the visitor's
    refused = {
        "{ gamma: 3 }": "There is no setting gamma. There are max_new_tokens, draft_length,",
        "{ draft_length: 17 }": "draft_length must be from 1 to 16, not 17.",
        "{ top_p: NaN }": "top_p must be above 0 and at most 1, not NaN.",
        "{ verification: 'all' }": "verification must be token or block, not all.",
        "{ tree: '4,2,1' }": "tree must be null on this page, not 4,2,1.",
        "{ stop_at_eos: 1 }": "stop_at_eos must be true or false, not 1.",
    }
    ask = "async (settings) => specviz.decode({ settings }).then(() => 'decoded', ({ message }) => message)"
    for settings_asked, says in refused.items():
        assert page.evaluate(f"({ask})({settings_asked})").startswith(says)
    two = "() => { const one = specviz.decode({}); specviz.decode({}); return one.catch(({ message }) => message); }"
    assert page.evaluate(two) == "Another run has taken its place."


def test_no_script_of_the_file_is_one_that_a_browser_stops_at(one_file: Path) -> None:
    """WebKit shows a blank window while it reads a script element of many megabytes."""
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", one_file.read_text(encoding="utf-8"), re.DOTALL)
    assert len(scripts) > 30
    assert max(map(len, scripts)) <= max(PIECE, 2_000_000)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A site in a subfolder of a static host: its folder and its address."""
    folder = tmp_path / "a" / "class"
    write_site(folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}/a/class/"
    server.shutdown()
    server.server_close()


@pytest.mark.full
@pytest.mark.visitor(once=True)
def test_a_site_works_without_its_server_once_it_was_visited(
    context: BrowserContext, page: Page, site: tuple[Path, str]
) -> None:
    folder, address = site
    page.goto((folder / "index.html").as_uri())
    expect(told(page)).to_contain_text("A browser loads no models from a disk")
    expect(page.locator(".stage .chip").first).to_be_visible()
    page.goto(address)
    expect(told(page)).to_have_text(READY)
    expect(control(page, "prompt")).to_have_value(known(first_trace()).prompt.text)  # as in the run on screen
    page.evaluate("async () => (await navigator.serviceWorker.ready).active.state")
    for path in json.loads((folder / "files.json").read_text(encoding="utf-8")):
        if path != "./":
            (folder / path).unlink()  # the server has lost what the visitor has
    context.set_offline(True)
    page.reload()
    expect(told(page)).to_have_text(READY)
    for other in ("?from=a-link", "index.html?from=a-link"):
        page.goto(f"{address}{other}")
        expect(told(page)).to_have_text(READY)
    control(page, "draft").select_option("wren-small")
    page.wait_for_selector(LIVE)
