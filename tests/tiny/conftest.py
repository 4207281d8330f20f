"""Fixtures of the tests with tiny models."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from specviz.models import downloads
from tests.support.hub_server import NAME, OTHER, THIRD, HubServer, serve, use
from tests.support.tiny_models import save, tiny_model


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
