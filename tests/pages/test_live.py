"""The live page says what Watch says, without a browser: the same heading, menus, names of drafts, and buttons."""

import json
import re
from unittest.mock import Mock

import pytest

from specviz.player.live import live_file, live_site
from tests.support.app_pages import opened
from tests.support.known import known


@pytest.fixture(scope="module")
def live() -> str:
    return live_file()


def test_another_page_has_another_service_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a browser that was there before shows the older page for ever."""
    monkeypatch.setattr("specviz.player.live._page", Mock(side_effect=["one", "another"]))
    assert live_site()["service_worker.js"] != live_site()["service_worker.js"]


def part(page: str, pattern: str) -> str:
    return known(re.search(pattern, page, re.DOTALL))[1]


def test_the_menus_call_prompts_models_and_drafts_as_watch_does(live: str) -> None:
    watch = {box.label.lower(): box.options for box in opened(view="full").selectbox}
    made = json.loads(part(live, '<script type="application/json" id="live">(.*?)</script>'))
    assert len(made["menus"]) == 3
    for menu, choices in made["menus"].items():
        labels = {label for _, label in choices}
        assert labels
        assert labels <= {*watch["prompt" if menu == "preset" else menu]}, menu
