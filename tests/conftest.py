"""Shared fixtures: the app served as a visitor meets it, and a real Chromium to visit it with."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

os.environ.setdefault("OMP_NUM_THREADS", "1")  # torch's own choice is several times slower where cores are shared

ROOT = Path(__file__).parent.parent
START_SECONDS = 60  # far above what a server takes to answer, for a loaded machine
PATIENCE = 30_000  # ms, the same for what a page is expected to show


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker."""
    for item in items:
        item.add_marker(item.path.relative_to(ROOT / "tests").parts[0])


@dataclass(frozen=True)
class AppServer:
    """The app on a free port of this machine."""

    url: str  # without a slash at the end
    pid: int
    log: Path  # what the server printed

    def engine_pids(self) -> list[int]:
        """The engine processes the server has started and that still run."""
        found: list[int] = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            with suppress(OSError):  # a thread that has just ended
                found += [int(child) for child in (task / "children").read_text().split()]
        return found

    def freeze(self, pid: int) -> None:
        """Hold one of them where it is, so that what it is asked for then is not done before it is killed."""
        assert pid in self.engine_pids()
        os.kill(pid, signal.SIGSTOP)

    def kill(self, pid: int) -> None:
        """End one of them without asking."""
        assert pid in self.engine_pids()
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def app_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One server for all browser tests, ended with the engine it started."""
    with _serving(tmp_path_factory.mktemp("server") / "server.log") as server:
        yield server


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[AppServer]:
    """A server that nobody has visited yet."""
    with _serving(tmp_path / "server.log") as server:
        yield server


@contextmanager
def _serving(log: Path) -> Iterator[AppServer]:
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    options = ["--server.fileWatcherType", "none", "--server.address", "127.0.0.1", "--server.port", str(port)]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT)
    server = AppServer(f"http://127.0.0.1:{port}", process.pid, log)
    try:
        _wait_until_healthy(server, process)
        yield server
    finally:
        _stop(process)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A Chromium on this machine: CHROMIUM where `make test` found one, else looked for."""
    if path := os.environ.get("CHROMIUM"):
        return path
    found = subprocess.run([sys.executable, "scripts/find_chromium.py"], cwd=ROOT, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return found.stdout.strip()


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """One headless Chromium; as root it starts only without its sandbox."""
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=chromium_path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh visitor at 1280 by 720, in light mode."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, color_scheme="light")
    yield context.new_page()
    context.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_healthy(server: AppServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:  # not listening yet
            time.sleep(0.1)
    pytest.fail(f"the app did not start:\n{server.log.read_text(errors='replace')[-4000:]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()  # Streamlit's own shutdown, so that the app can end its engine
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
