"""Ten journeys through the app, and the live page's own decoding, in Firefox and in WebKit."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlencode

import pytest

from specviz import DecodeSettings, autoregressive_decode, load_model
from specviz.data.prompts.workloads import WORKLOADS
from specviz.player.live import LOOKUP
from tests.conftest import AppServer
from tests.support.other_browsers import Visitor, visitor

NEEDS = "needs selenium: pip install --group browsers"
pytestmark = [pytest.mark.full, pytest.mark.skipif(not find_spec("selenium"), reason=NEEDS)]  # before a server starts
TARGET, TOKENS = "wren-base", 32
DONE = "const stage = deep('.stage'); return /^live/.test(stage?.dataset.run) && 'done' in stage.dataset"
PROMPTS = [each.prompts[0] for each in WORKLOADS if each.prompts[0].grammar is None]
END, HOME = "\ue010", "\ue011"  # as WebDriver writes these keys


@pytest.fixture(scope="module", params=["firefox", "webkit"])
def browsing(request: pytest.FixtureRequest) -> Iterator[Visitor]:
    with visitor(request.param) as made:
        yield made


def watch(browsing: Visitor, server: AppServer, query: str = "") -> None:
    browsing.open(f"{server.url}/{query}")
    browsing.wait("return deep('.stage .round .chip') && deep('.stage .plot svg')")


def test_the_stage_plays_and_keys_move_it(browsing: Visitor, real_app_server: AppServer) -> None:
    watch(browsing, real_app_server)
    browsing.wait("return +deep('.scrubber').value > 1")  # by itself
    browsing.do("deep('[data-move=toggle]').click(); deep('.scrubber').getRootNode().activeElement?.blur()")
    browsing.press(END)
    browsing.wait("return text('.round-number') === 'Round 20 of 20'")
    browsing.press(HOME)
    browsing.wait("return text('.round-number') === 'Round 1 of 20'")
    browsing.is_well()


def test_a_token_explains_itself(browsing: Visitor, real_app_server: AppServer) -> None:
    watch(browsing, real_app_server, "?run=first&step=59&view=full")
    browsing.wait("deep('.strip .chip.rejected')?.click(); return text('.inspector').includes('was rejected')")
    browsing.is_well()


def test_a_change_runs_live(browsing: Visitor, real_app_server: AppServer) -> None:
    watch(browsing, real_app_server)
    browsing.do("deep('.by[value=\"1\"]').click()")
    browsing.wait(DONE + " && text('.says strong')")
    browsing.is_well()


def test_the_tour_goes_on_when_it_is_followed(browsing: Visitor, real_app_server: AppServer) -> None:
    watch(browsing, real_app_server, "?tour=1")
    browsing.wait("return text('.tour-place').startsWith('Step 1')")
    browsing.do("deep('[data-move=forward]').click()")
    browsing.wait("return text('.tour-place').startsWith('Step 2')")
    browsing.is_well()


@pytest.mark.parametrize(
    ("page", "shows"),
    [
        ("race", "Race"),
        ("when_it_helps", "When it helps"),
        ("worksheet", "Worksheet"),
        ("learn", "Learn"),
        ("same_quality", "Same quality"),
        ("be_the_draft", "Be the draft"),
    ],
)
def test_a_page_is_drawn_whole(browsing: Visitor, real_app_server: AppServer, page: str, shows: str) -> None:
    browsing.open(f"{real_app_server.url}/{page}")
    browsing.wait(
        "const app = deep('[data-testid=stApp]'); "
        "return app?.dataset.testScriptState === 'notRunning' && deep('[data-testid=stMain] :is(h1, h2)')"
    )
    browsing.wait(f"return document.body.textContent.includes('{shows}')")  # the menu may come after the page
    assert not browsing.do("return deep('[data-testid=stException]')")
    browsing.is_well()


@pytest.mark.parametrize("draft", ["wren-nano", LOOKUP])
def test_the_live_page_writes_the_tokens_that_pytorch_writes(browsing: Visitor, one_file: Path, draft: str) -> None:
    target = load_model(TARGET)
    browsing.open("about:blank")  # an address with another fragment alone loads no page
    browsing.open(one_file.as_uri())
    browsing.wait("return /^Ready/.test(text('.state .told'))")
    browsing.do(
        """const make = URL.createObjectURL; HTMLAnchorElement.prototype.click = () => {};
        URL.createObjectURL = (blob) => (blob.text().then((said) => (window.saved = said)), make.call(URL, blob));"""
    )
    for prompt in PROMPTS:
        asked = urlencode(
            {"preset": prompt.name, "target": TARGET, "draft": draft, "tokens": TOKENS, "temperature": 0, "gamma": 4}
        )
        browsing.do("deep('.stage').dataset.run = 'before'; window.saved = null; location.hash = arguments[0]", asked)
        browsing.wait(DONE)
        browsing.do("deep('.kept .save').click()")
        ids = browsing.wait("return window.saved && JSON.parse(window.saved).output.token_ids")
        settings = DecodeSettings(max_new_tokens=TOKENS)
        assert ids == autoregressive_decode(target, prompt.text, settings).output.token_ids, prompt.name
    browsing.is_well()


def test_the_live_page_fits_a_phone(browsing: Visitor, one_file: Path, tmp_path: Path) -> None:
    """In a frame: no window of these browsers is as narrow as a phone."""
    around = tmp_path / "around.html"
    around.write_text(f'<iframe style="border: 0; width: 390px; height: 844px" src="{one_file.as_uri()}">')
    browsing.open(around.as_uri())
    browsing.enter_frame()
    browsing.wait("return /^Ready/.test(text('.state .told')) && deep('.stage .plot svg')")
    assert browsing.do("return innerWidth") == 390
    browsing.is_well()
