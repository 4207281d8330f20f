"""Polling: while a job is under way only its progress is drawn, what grows when it has grown, the page at the end."""

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from specviz.measure.proof.recorded import recorded_proof
from specviz.service.protocol import BatchDrawn, CellSwept, DraftGuessed, Finished, JobEvent, Progress
from specviz.ui.shared import job_slot
from specviz.ui.shared.engine import Visitor
from tests.pages.test_by_draft import panel, prospect
from tests.support.fake_rows import row_at
from tests.support.fake_service import FakeService
from tests.support.timers import Timers

SECONDS = 60  # for a loaded machine


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    service = FakeService()
    monkeypatch.setattr(job_slot, "engine", lambda: service)
    monkeypatch.setattr(job_slot, "visitor", lambda: Visitor("ada"))
    for page in ("specviz.ui.helps.by_draft", "specviz.ui.play.page"):
        monkeypatch.setattr(f"{page}.SHORT_SECONDS", 0.0)  # the jobs of these tests are not short
    return service


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    return Timers(monkeypatch)


def opened(page: str | Callable[[], None]) -> AppTest:
    app = AppTest.from_function(page) if callable(page) else AppTest.from_file(f"../../pages/{page}.py")
    app.default_timeout = SECONDS
    app.run()
    assert not app.exception
    return app


def seen_by_the_browser(page: AppTest) -> None:
    """The widgets were set a while ago."""
    page.session_state["widgets_set_at"] = 0.0


PAGES: dict[str, tuple[str | Callable[[], None], str, str]] = {
    "race": ("race", "race_start", "progress"),
    "sweep": ("helps", "sweep_start", "progress"),
    "by draft": (panel, "fs_start", "progress"),
    "greedy": ("proof", "proof_greedy", "progress"),
    "draws": ("proof", "proof_draw", "progress"),
    "broken": ("proof", "proof_break", "progress"),
    "play": ("play", "play_skip", "alert"),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_poll_draws_only_the_progress_and_the_page_is_drawn_again_once_at_the_end(
    service: FakeService, timers: Timers, name: str
) -> None:
    where, button, progress = PAGES[name]
    page = opened(where)
    whole = set(timers.drawn)
    assert not timers.running, "nothing is under way"
    page.button(key=button).click().run()
    assert not page.exception
    assert len(timers.running) == 1
    assert progress in timers.drawn
    for _ in range(2):
        timers.poll(page)
        assert timers.drawn == [progress]
    service.tell(Finished(service.commands[-1].job))
    seen_by_the_browser(page)
    timers.poll(page)
    assert whole <= set(timers.drawn)
    assert timers.pages == 1
    assert not timers.running, "nothing more will come"


GROWING: dict[str, tuple[Callable[[int], JobEvent], str]] = {
    "sweep": (lambda job: CellSwept(job, row_at("story", 4, 1.5)), "markdown"),
    "by draft": (lambda job: DraftGuessed(job, prospect("wren-nano", True, 0.1)), "dataframe"),
    "draws": (lambda job: BatchDrawn(job, a_batch()), "markdown"),
}


def a_batch() -> Any:
    found = recorded_proof()
    assert found
    return found.draws[0].batches[0]


@pytest.mark.parametrize("name", GROWING)
def test_what_a_job_has_found_is_drawn_when_it_comes_and_nothing_else_of_the_page(
    service: FakeService, timers: Timers, name: str
) -> None:
    (where, button, _), (found, shown) = PAGES[name], GROWING[name]
    page = opened(where)
    page.button(key=button).click().run()
    job = service.commands[-1].job
    service.tell(Progress(job, "", 4), found(job))
    timers.poll(page)
    assert {"progress", shown} <= set(timers.drawn)
    assert timers.pages == 0
    assert len(timers.running) == 1
    timers.poll(page)
    assert timers.drawn == ["progress"]


def test_a_slow_browser_receives_what_widgets_were_set_to_before_the_page_is_drawn_again(
    service: FakeService, timers: Timers
) -> None:
    page = opened("race")
    page.button(key="race_start").click().run()
    service.tell(Finished(service.commands[-1].job))
    timers.poll(page)
    assert timers.drawn == ["progress"]
    seen_by_the_browser(page)
    timers.poll(page)
    assert "slider" in timers.drawn
