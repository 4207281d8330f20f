"""The static site of the live page: its service worker."""

from pathlib import Path

import pytest

from specviz.core.languages import set_language
from specviz.player import live
from specviz.ui.watch import files


def test_a_site_with_other_content_has_another_service_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: an offline visitor kept the first version for ever, as the worker had the same bytes in every export."""
    workers = []
    for page in ("one", "one", "another"):
        monkeypatch.setattr(live, "_page", lambda *_, page=page: page)
        workers.append(live.live_site()["service_worker.js"])
    assert workers[0] == workers[1]
    assert workers[1] != workers[2]


def test_the_live_page_to_take_away_is_there_once_for_each_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before: 25 MB more with each version of the page, for ever."""
    monkeypatch.setattr(files, "served_folder", lambda: tmp_path)
    older = tmp_path / "live-es-0123456789abcdef.html"
    older.write_text("of an older version")
    for language in ("es", "en"):
        set_language(language)
        assert files._published.__wrapped__()
    assert len([*tmp_path.iterdir()]) == 2
    assert not older.exists()
