"""No page downloads a model that nobody pressed for: each says that it is not here, and how much it is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from specviz.models.gguf_folder import SMOLLM2
from specviz.service.protocol import Loading
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.race.race_page import RaceState
from specviz.ui.same_quality.proof import SameQualityState
from specviz.ui.shared.job_slot import JobSlot
from specviz.ui.watch.watch_state import WatchState
from specviz.ui.when_it_helps.sweeps import WhenItHelpsState
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


WAYS: dict[str, tuple[tuple[type, str], Way]] = {  # its part of the session, and what a visitor does
    "a link": ((WatchState, "run"), lambda: opened(**LINK)),
    "the menu": ((WatchState, "run"), chosen),
    "run again": ((WatchState, "run"), lambda: opened(**LINK).button(key="again").click().run()),
    "a race": ((RaceState, "slot"), pressed("race", "race_start")),
    "a sweep": ((WhenItHelpsState, "slot"), pressed("when_it_helps", "when_it_helps_start")),
    "a proof": ((SameQualityState, "slot"), pressed("same_quality", "same_quality_draw")),
    "a guess": ((BeTheDraftState, "slot"), sent),
    "a game": (
        (BeTheDraftState, "slot"),
        lambda: opened_in_app("be_the_draft", target=SMOLLM2, prompt_format="chat", mode="pick"),
    ),
}


def slot_of(page: AppTest, place: tuple[type, str]) -> JobSlot:
    found = getattr(visit(page).of(place[0]), place[1])
    assert isinstance(found, JobSlot)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_is_not_here_is_downloaded_once_that_is_pressed(
    way: str, service: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    place, act = WAYS[way]
    page = act()
    assert "Not on this server yet: smollm2." in texts(page)
    assert (service.commands, slot_of(page, place).busy) == ([], False)
    (press,) = (button for button in page.button if button.label == "Download 93 MB")
    press.click().run()
    (command,) = service.commands
    assert (SMOLLM2 in command.models, slot_of(page, place).busy) == (True, True)
    assert "Not on this server" not in texts(page)
    service.tell(Loading(1, SMOLLM2, 1_000_000, 93_000_000))
    said = texts(page.run()) + "".join(bar.proto.text for bar in page.get("progress"))
    assert "ownloading smollm2: 1 of 93 MB" in said
