"""Shared fixtures: the app on a server of its own, and a real Chromium to visit it with."""

import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from specviz.ui.shared import job_slot
from tests.support.app_server import AppServer, serving
from tests.support.fake_service import FakeService
from tests.support.visitor import DESK, PATIENCE, wait_until_drawn, wait_until_still

__all__ = ["PATIENCE", "AppServer"]

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads are several times slower where cores are shared

os.environ["SPECVIZ_GGUF"] = os.devnull  # what somebody put into the folder is in no menu of a test
os.environ["SPECVIZ_RUNS"] = "memory"  # what one test measures is not there in another run of the tests

# The same examples at every run, no file of earlier ones, and no clock: a slow machine fails no test.
for profile, examples in (("tests", 15), ("full", 100)):  # make test-all asks for the second
    settings.register_profile(
        profile,
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("tests")

ROOT = Path(__file__).parent.parent
APP = ROOT / "app.py"
FAST = {"js", "unit"}  # what make check runs
TORCH_BEFORE = "torch" in sys.modules  # the tests of small faults read it once, for all of them
# So that no worker waits long for another.
SLOWEST_FIRST = ["servers", "cluster", "load", "browser", "bundled", "pages", "tiny", "js", "unit"]


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """One more than cores, because a test of a page waits at times; more of them only wait for each other.

    Unit tests do not wait, and each worker imports everything anew.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    folders = {Path(argument).name for argument in config.args}
    return min(cores if folders <= FAST else cores + 1, 4)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test's folder is its marker, and its place in the order."""
    if items and "torch" in sys.modules and not TORCH_BEFORE and {_folder(item) for item in items} <= FAST:
        raise pytest.UsageError("A file in tests/unit imports PyTorch, which takes seconds: it belongs in tests/tiny.")
    for item in items:
        item.add_marker(_folder(item))
    items.sort(key=lambda item: SLOWEST_FIRST.index(_folder(item)))


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT / "tests").parts[0]


@pytest.fixture(scope="session")
def app_server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppServer]:
    """One server for all browser tests of this process; its engine replays, so no model is loaded."""
    with serving(APP, tmp_path_factory.mktemp("server") / "server.log") as server:
        yield visited(server, browser)


def visited(server: AppServer, browser: Browser) -> AppServer:
    """A server knows all its pages only after a first visit."""
    with contexts_of(browser) as new:
        page = new().new_page()
        page.goto(server.url)
        wait_until_drawn(page, ".stage")
    return server


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all browser tests of this process: CHROMIUM, or the one that the script finds."""
    path = os.environ.get("CHROMIUM")
    if not path:
        found = subprocess.run([sys.executable, "scripts/find_chromium.py"], cwd=ROOT, capture_output=True, text=True)
        assert found.returncode == 0, found.stderr
        path = found.stdout.strip()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:  # as root it starts only without its sandbox
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], timeout=PATIENCE)
        yield chromium
        chromium.close()


NewContext = Callable[..., BrowserContext]
Visit = Callable[..., Page]
_FREE: defaultdict[str, list[BrowserContext]] = defaultdict(list)  # by the options that cannot be changed
_WRONG: list[str] = []  # on the pages of this test: a script that failed, a dialog


@contextmanager
def contexts_of(browser: Browser) -> Iterator[NewContext]:
    """Makes visitors with a browser of their own, at 1280 by 720 in light mode, who ask for little motion.

    They take Playwright's options.

    A browser that has forgotten its visitor serves the next one, unless `once` is asked for: to load and compile the
    app's scripts again would take four times the processor time of a visit. A script that fails on one of their pages
    fails the test, and so does a dialog.
    """
    lent: list[tuple[BrowserContext, str]] = []

    def new(
        once: bool = False, offline: bool = False, permissions: Sequence[str] = (), **options: Any
    ) -> BrowserContext:
        options = {"viewport": DESK, "color_scheme": "light", "reduced_motion": "reduce", **options}
        kind = "" if once else repr(options)
        context = _FREE[kind].pop() if _FREE[kind] else _listened(browser.new_context(**options))
        context.set_offline(offline)
        context.grant_permissions(permissions)
        lent.append((context, kind))
        return context

    _WRONG.clear()
    yield new
    for context, kind in lent:
        for page in context.pages:
            page.close()
        if not kind:
            context.close()
            continue
        # nothing is left of what a visitor did, or a test did to the network
        context.unroute_all()
        context.clear_permissions()
        context.set_storage_state({"cookies": [], "origins": []})
        _FREE[kind].append(context)
    assert _WRONG == []


def _listened(context: BrowserContext) -> BrowserContext:
    def asked(dialog: Dialog) -> None:
        _WRONG.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    context.set_default_timeout(PATIENCE)
    context.on("weberror", lambda error: _WRONG.append(str(error.error)))
    context.on("dialog", asked)
    return context


@pytest.fixture
def new_context(browser: Browser) -> Iterator[NewContext]:
    with contexts_of(browser) as new:
        yield new


@pytest.fixture
def context(new_context: NewContext, request: pytest.FixtureRequest) -> BrowserContext:
    """A new visitor; the marker `visitor` of a test or a file has the options."""
    marker = request.node.get_closest_marker("visitor")
    return new_context(**(marker.kwargs if marker else {}))


@pytest.fixture
def visit(context: BrowserContext, new_context: NewContext, app_server: AppServer) -> Visit:
    """Opens a page of the app, and waits until `shows` can be seen and nothing moves. Options: of another visitor."""

    def opened(path: str = "", shows: str = "", **options: Any) -> Page:
        page = (new_context(**options) if options else context).new_page()
        page.goto(f"{app_server.url}/{path}")
        if shows:
            expect(page.locator(shows).first).to_be_visible()
        wait_until_still(page)
        return page

    return opened


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A new visitor's page."""
    return context.new_page()


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """In place of the engine: it takes commands, and a test says what came of them."""
    service = FakeService()
    monkeypatch.setattr(job_slot, "engine", lambda: service)
    monkeypatch.setattr(job_slot, "visitor", lambda: "ada")
    return service
