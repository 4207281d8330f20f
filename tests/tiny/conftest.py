"""Fixtures of several tests with tiny models."""

from pathlib import Path

import pytest

from tests.support.tiny_models import save, tiny_model


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model."""
    return save(tiny_model(seed=1), tmp_path_factory.mktemp("tiny"))
