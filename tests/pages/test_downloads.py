"""No page downloads a model that nobody pressed for: each says that it is not here, and how much it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.models.gguf_folder import SMOLLM2
from specviz.ui.shared.job_slot import JobSlot
from tests.support.app_pages import opened, opened_in_app, texts, visit
from tests.support.fake_service import FakeService

Way = Callable[[], AppTest]
LINK = {"target": SMOLLM2, "draft": "lookup"}


def pressed(name: str, key: str) -> Way:
    return lambda: opened_in_app(name, **LINK).button(key=key).click().run()


def chosen() -> AppTest:
    return opened().selectbox(key="target").set_value(SMOLLM2).run()


def sent() -> AppTest:
    page = opened_in_app("be_the_draft", target=SMOLLM2, prompt_format="chat", mode="type")
    page.text_input(key="be_the_draft_guess").set_value("The")
    return page.button(key="be_the_draft_send").click().run()


WAYS: dict[str, tuple[str, Way]] = {  # its part of the session, and what a visitor does
    "a link": ("watch.run", lambda: opened(**LINK)),
    "the menu": ("watch.run", chosen),
    "run again": ("watch.run", lambda: opened(**LINK).button(key="again").click().run()),
    "a race": ("race.slot", pressed("race", "race_start")),
    "a sweep": ("when_it_helps.slot", pressed("when_it_helps", "when_it_helps_start")),
    "a proof": ("same_quality.slot", pressed("same_quality", "same_quality_draw")),
    "a guess": ("be_the_draft.slot", sent),
    "a game": (
        "be_the_draft.slot",
        lambda: opened_in_app("be_the_draft", target=SMOLLM2, prompt_format="chat", mode="pick"),
    ),
}


def slot_of(page: AppTest, path: str) -> JobSlot[object]:
    found: object = visit(page)
    for name in path.split("."):
        found = getattr(found, name)
    assert isinstance(found, JobSlot)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_not_here_is_downloaded_once_that_is_pressed(
    way: str, service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    path, act = WAYS[way]
    page = act()
    assert "Not on this server yet: smollm2." in texts(page)
    assert (service.commands, slot_of(page, path).busy) == ([], False)
    (press,) = (button for button in page.button if button.label == "Download 93 MB")
    press.click().run()
    (command,) = service.commands
    assert (SMOLLM2 in command.models, slot_of(page, path).busy) == (True, True)
    assert "Not on this server" not in texts(page)
