"""One engine for all tests of pages in this process: it replays runs; other jobs are the real engine's."""

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from specviz.service import EngineService
from specviz.service.classes import registry
from specviz.ui.shared import engine
from tests.support.app_pages import opened
from tests.support.app_server import REPLAYING


@pytest.fixture(scope="session", autouse=True)
def one_engine() -> Iterator[None]:
    """It finds no Hub: its address is one on this machine where nothing listens.

    And one search for components in all installed packages: AppTest makes one at each run, most of the time of a run.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        patch.setattr(engine, "service_wanted", lambda: EngineService((sys.executable, *REPLAYING.split())))
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield
        engine.engine().close()


@pytest.fixture(autouse=True)
def no_classes() -> Iterator[None]:
    """A class is open for its test alone."""
    registry.classes.cache_clear()
    yield
    registry.classes.cache_clear()


@pytest.fixture(autouse=True)
def no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run of a script ends in a fault: looked at after each, so a test need not say it."""
    run = AppTest._run

    def checked(page: AppTest, *arguments: Any, **options: Any) -> AppTest:
        run(page, *arguments, **options)
        assert not page.exception
        return page

    monkeypatch.setattr(AppTest, "_run", checked)


@pytest.fixture
def page() -> AppTest:
    """Watch with all its controls."""
    return opened(view="full")


@pytest.fixture
def through_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest takes the folder pages/ for Streamlit's old way to make an app of several pages, again at each run."""
    begin = PagesManager.__init__

    def init(self: PagesManager, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", init)
