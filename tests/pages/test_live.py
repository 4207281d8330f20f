"""The live page says what Watch says, without a browser."""

import json
import re

from specviz.player.live import live_file
from tests.support.app_pages import opened
from tests.support.known import known


def test_the_menus_call_prompts_models_and_drafts_as_watch_does() -> None:
    watch = {box.label.lower(): box.options for box in opened(view="full").selectbox}
    made = json.loads(known(re.search(r'<script type="application/json" id="live">(.*?)</script>', live_file()))[1])
    assert len(made["menus"]) == 3
    for menu, choices in made["menus"].items():
        labels = {label for _, label in choices}
        assert labels
        assert labels <= {*watch["prompt" if menu == "preset" else menu]}, menu
