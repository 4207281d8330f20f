"""The live page as one file, for the tests of what it shows and of its engine."""

from pathlib import Path

import pytest

from specviz.player.live import live_file


@pytest.fixture(scope="session")
def one_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("live") / "live.html"
    path.write_text(live_file(), encoding="utf-8")
    return path
