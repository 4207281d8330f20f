"""The static site of the live page: its service worker."""

import pytest

from specviz.player import live


def test_a_site_with_other_content_has_another_service_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: an offline visitor kept the first version for ever, as the worker had the same bytes in every export."""
    workers = []
    for page in ("one", "one", "another"):
        monkeypatch.setattr(live, "_page", lambda *_, page=page: page)
        workers.append(live.live_site()["service_worker.js"])
    assert workers[0] == workers[1]
    assert workers[1] != workers[2]
