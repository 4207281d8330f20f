"""The live page says what Watch says, without a browser: the same heading, menus, names of drafts, and buttons."""

import json
import re

import pytest

from specviz.data.texts import page_texts
from specviz.player.live import live_file
from tests.support.app_pages import opened
from tests.support.html import Html
from tests.support.known import known


@pytest.fixture(scope="module")
def live() -> str:
    return live_file()


def part(page: str, pattern: str) -> str:
    return known(re.search(pattern, page, re.DOTALL))[1]


def test_the_heading_is_that_of_watch(live: str) -> None:
    said = Html(part(live, "<h1>.*?</a>(.*?)</h1>")).text
    assert said.strip() == page_texts("watch")["heading"].replace("**", "")


def test_the_menus_call_prompts_models_and_drafts_as_watch_does(live: str) -> None:
    watch = {box.label.lower(): box.options for box in opened(view="full").selectbox}
    made = json.loads(part(live, '<script type="application/json" id="live">(.*?)</script>'))
    assert len(made["menus"]) == 3
    for menu, choices in made["menus"].items():
        labels = {label for _, label in choices}
        assert labels
        assert labels <= {*watch["prompt" if menu == "preset" else menu]}, menu


def test_the_buttons_are_those_of_watch_in_the_same_order(live: str) -> None:
    shown = part(live, '<div class="acts">(.*?)</div>')
    labels = [label.strip() for label in re.findall(r"<button[^>]*>([^<]+)", shown)]
    assert len(labels) > 3
    assert labels == [button.label for button in opened(view="simple").button if button.label in labels]
