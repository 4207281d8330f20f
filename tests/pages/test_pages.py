"""What holds for every page, by AppTest: addresses of before, models that are not here, and names on the live page."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from specviz.data.links.page_names import FORMER
from specviz.models.gguf_folder import SMOLLM2
from specviz.player.live import around_weights
from specviz.service.protocol import Loading
from tests.conftest import ROOT
from tests.support.app_pages import opened, opened_in_app, page_of, texts
from tests.support.fake_service import FakeService
from tests.support.known import known


@pytest.mark.parametrize("name", FORMER)
def test_an_address_of_before_leads_to_the_page_with_its_whole_query(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches: list[tuple[Path, Mapping[str, list[str]]]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: switches.append((page, query_params)))
    page = page_of(prompt="a & b=ü", preset="", workload=["code", "story"], unknown="x")
    page._page_hash = calc_hash(name)  # as a browser opens the app at this address
    page.run()
    asked = {"prompt": ["a & b=ü"], "preset": [""], "workload": ["code", "story"], "unknown": ["x"]}
    assert switches == [(ROOT / "pages" / f"{FORMER[name]}.py", asked)]


def test_the_live_page_calls_prompts_models_and_drafts_as_watch_does() -> None:
    watch = {box.label.lower(): {*box.options} for box in opened(view="full").selectbox}
    page = "".join(around_weights())
    live = json.loads(known(re.search(r'<script type="application/json" id="live">(.*?)</script>', page))[1])
    shown = {menu: {label for _, label in choices} for menu, choices in live["menus"].items()}
    assert {*shown} == {"preset", "target", "draft"}
    for menu, labels in shown.items():
        assert labels <= watch["prompt" if menu == "preset" else menu], menu


def pressed(name: str, key: str) -> Callable[[], AppTest]:
    return lambda: opened_in_app(name, target=SMOLLM2, draft="lookup").button(key=key).click().run()


def game(mode: str) -> AppTest:
    return opened_in_app("be_the_draft", target=SMOLLM2, prompt_format="chat", mode=mode)


def guessed() -> AppTest:
    page = game("type")
    page.text_input(key="be_the_draft_guess").set_value("The")
    return page.button(key="be_the_draft_send").click().run()


WAYS: dict[str, Callable[[], AppTest]] = {
    "a link": lambda: opened(target=SMOLLM2, draft="lookup"),
    "the menu": lambda: opened().selectbox(key="target").set_value(SMOLLM2).run(),
    "run again": pressed("watch", "again"),
    "a race": pressed("race", "race_start"),
    "a sweep": pressed("when_it_helps", "when_it_helps_start"),
    "a proof": pressed("same_quality", "same_quality_draw"),
    "a guess": guessed,
    "a game": lambda: game("pick"),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_not_here_is_downloaded_once_that_is_pressed(
    way: str, service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    page = WAYS[way]()
    assert "Not on this server yet: smollm2." in texts(page)
    assert service.commands == []
    (press,) = (button for button in page.button if button.label == "Download 93 MB")
    press.click().run()
    (command,) = service.commands
    assert SMOLLM2 in command.models
    assert "Not on this server" not in texts(page)
    service.tell(Loading(1, SMOLLM2, 1_000_000, 93_000_000))
    said = texts(page.run()) + "".join(bar.proto.text for bar in page.get("progress"))
    assert "ownloading smollm2: 1 of 93 MB" in said
