"""The live page says what Watch says, without a browser."""

import json
import re

from specviz.player.live import around_weights
from tests.support.app_pages import opened
from tests.support.known import known


def test_the_menus_call_prompts_models_and_drafts_as_watch_does() -> None:
    watch = {box.label.lower(): {*box.options} for box in opened(view="full").selectbox}
    page = "".join(around_weights())
    menus = json.loads(known(re.search(r'<script type="application/json" id="live">(.*?)</script>', page))[1])["menus"]
    shown = {
        menu: {label for _, label in choices} - watch["prompt" if menu == "preset" else menu]
        for menu, choices in menus.items()
    }
    assert shown == {"preset": set(), "target": set(), "draft": set()}
