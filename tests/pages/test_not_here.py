"""No page downloads a model that nobody pressed for: each says that it is not here, and how much it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.models.gguf_folder import SMOLLM2
from specviz.service.protocol import Loading
from tests.support.app_pages import opened, opened_in_app, texts
from tests.support.fake_service import FakeService

Way = Callable[[], AppTest]
LINK = {"target": SMOLLM2, "draft": "lookup"}


def pressed(name: str, key: str) -> Way:
    return lambda: opened_in_app(name, **LINK).button(key=key).click().run()


def game(mode: str) -> AppTest:
    return opened_in_app("be_the_draft", target=SMOLLM2, prompt_format="chat", mode=mode)


def guessed() -> AppTest:
    page = game("type")
    page.text_input(key="be_the_draft_guess").set_value("The")
    return page.button(key="be_the_draft_send").click().run()


WAYS: dict[str, Way] = {
    "a link": lambda: opened(**LINK),
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
