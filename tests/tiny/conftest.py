"""Fixtures of the tests with tiny models."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch

from specviz.models import downloads
from specviz.service import EngineService, ServiceLimits
from specviz.service.run_store import RunStore
from tests.support.hub_server import NAME, OTHER, THIRD, HubServer, serve, use
from tests.support.services import ENGINE, until
from tests.support.tiny_models import save, tiny_model

Start = Callable[..., EngineService]


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Models this small gain nothing from more threads, and lose much on a busy machine."""
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model; read only."""
    return save(tiny_model(seed=1), tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A model folder of the test's own, to break."""
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def hub(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A Hub with one model under three names, and a client with an empty cache that knows no other Hub."""
    with serve() as server:
        server.models[NAME] = shutil.copytree(saved, tmp_path / "served")
        server.models |= dict.fromkeys((OTHER, THIRD), server.models[NAME])
        use(server.url, tmp_path / "cache", monkeypatch)
        yield server
        downloads.release()


@pytest.fixture
def start() -> Iterator[Start]:
    """Makes services, with engines without models, that are closed afterwards, each leaving no process behind."""
    services = []
    before = children()

    def make(engines: int = 1, store: RunStore | None = None, **limits: float) -> EngineService:
        made = EngineService(ENGINE, ServiceLimits(**limits), store, engines)  # type: ignore[arg-type]
        services.append(made)
        made.start()
        return made

    yield make
    for service in services:
        service.close()
    assert children() <= before


@pytest.fixture(scope="session")
def one_service() -> Iterator[EngineService]:
    service = EngineService(ENGINE)
    service.start()
    yield service
    service.close()


@pytest.fixture
def service(one_service: EngineService) -> Iterator[EngineService]:
    """A service at rest with one engine, for tests that end no engine. What is left of a test's jobs ends after it."""
    one_service.store = RunStore(None)
    one_service._costs.clear()
    yield one_service
    one_service.forget({ticket.session for ticket in one_service._sessions._tickets.values()})
    until(one_service, lambda: not one_service._fleet.drivers[0].running)


def children() -> set[int]:
    """This process's child processes, those that ended and were not reaped among them."""
    return {child.pid for child in psutil.Process().children()}
