"""The engine of the live page: for scripts, without a network, on a static site, and when things go wrong."""

import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from specviz import DecodeSettings, autoregressive_decode, load_model
from specviz.core.trace import parse_trace
from specviz.data.measured.first_run import first_trace
from specviz.player.live import PIECE, write_site
from tests.conftest import NewContext
from tests.support.grids import grid
from tests.support.known import known
from tests.support.live_page import LIVE, READY, control, open_file, told


def test_an_engine_that_dies_is_started_again_and_nothing_is_lost(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    open_file(page, one_file)
    page.workers[0].evaluate("() => void setTimeout(() => { throw new Error('dead'); })")
    expect(told(page)).to_have_text("The engine of this page stopped.")
    expect(page.locator(".kept tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Try again").click()
    expect(told(page)).to_have_text(READY)
    page.get_by_role("button", name="Run again").click()
    page.wait_for_selector(LIVE)


def test_the_console_decodes_as_the_controls_do(offline_page: Page, one_file: Path) -> None:
    page = offline_page
    page.goto(one_file.as_uri())
    asked = {
        "prompt": "A dog",
        "target": "wren-base",
        "draft": "wren-nano",
        "settings": {"max_new_tokens": 12, "draft_length": 3, "stop_at_eos": False},
    }
    trace = parse_trace(page.evaluate("async (asked) => JSON.stringify(await specviz.decode(asked))", asked))  # waits
    settings = DecodeSettings(max_new_tokens=12, draft_length=3, stop_at_eos=False)
    assert trace.settings == settings
    written = autoregressive_decode(load_model("wren-base"), "A dog", settings)
    assert trace.output == written.output
    assert page.evaluate("specviz.decode({ draft: 'lookup' }).then(({ drafter }) => drafter.kind)") == "prompt-lookup"
    expect(page.locator(".stage .badge")).to_have_text("recorded run")  # the screen is the visitor's
    refused = {
        "{ gamma: 3 }": "There is no setting gamma. There are max_new_tokens, draft_length,",
        "{ draft_length: 17 }": "draft_length must be from 1 to 16, not 17.",
        "{ max_new_tokens: 2.5 }": "max_new_tokens must be at least 1, not 2.5.",
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


NO_SIMD = (r"WebAssembly\.validate\(\w+\)", "false", "This browser cannot run the models")
DAMAGED = (
    'id="weights-wren-nano">',
    'id="weights-wren-nano">AAAA',
    "The weights of wren-nano are damaged or not whole",
)


@pytest.mark.parametrize(("old", "new", "says"), grid([NO_SIMD, DAMAGED], [DAMAGED]))
def test_what_cannot_work_is_one_sentence_beside_the_recorded_run(
    offline_page: Page, one_file: Path, tmp_path: Path, old: str, new: str, says: str
) -> None:
    page, broken = offline_page, tmp_path / "broken.html"
    content = one_file.read_text(encoding="utf-8")
    changed, count = re.subn(old, new, content)
    assert count
    broken.write_text(changed, encoding="utf-8")
    page.goto(broken.as_uri())
    expect(told(page)).to_contain_text(says)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    expect(page.locator(".stage .chip").first).to_be_visible()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A site in a subfolder of a static host: its folder and its address."""
    folder = tmp_path / "a" / "class"
    write_site(folder)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_address[1]}/a/class/"
    server.shutdown()
    server.server_close()


def test_a_site_works_without_its_server_once_it_was_visited(new_context: NewContext, site: tuple[Path, str]) -> None:
    folder, address = site
    context = new_context(once=True)
    page = context.new_page()
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
    for other in ("index.html", "?from=a-link", "index.html?from=a-link"):
        page.goto(f"{address}{other}")
        expect(told(page)).to_have_text(READY)
    control(page, "draft").select_option("wren-small")
    page.wait_for_selector(LIVE)
