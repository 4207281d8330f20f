"""The live page's site, and what Watch hands to its stage: made once for all, and nobody waits for another's."""

from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from specviz.core.languages import set_language
from specviz.player import live
from specviz.player.data import stage_data
from specviz.player.html_file import inline_json
from specviz.ui.shared import stage
from specviz.ui.shared.stage import split
from specviz.ui.watch import files, on_stage
from specviz.ui.watch.on_stage import stage_payload
from specviz.ui.watch.watch_state import WatchState, recorded_run
from tests.support.fake_traces import fake_trace


def test_a_site_with_other_content_has_another_service_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: an offline visitor kept the first version for ever, as the worker had the same bytes in every export."""
    workers = []
    for page in ("one", "one", "another"):
        monkeypatch.setattr(live, "_page", lambda *_, page=page: page)
        workers.append(live.live_site()["service_worker.js"])
    assert workers[0] == workers[1]
    assert workers[1] != workers[2]


def test_the_live_page_to_take_away_is_there_once_for_each_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before: 25 MB more with each version of the page, for ever."""
    monkeypatch.setattr(files, "served_folder", lambda: tmp_path)
    older = tmp_path / "live-es-0123456789abcdef.html"
    older.write_text("of an older version")
    for language in ("es", "en"):
        set_language(language)
        assert files._published.__wrapped__()
    assert len([*tmp_path.iterdir()]) == 2
    assert not older.exists()


GUARD = 60  # seconds until a thread that waits for ever fails the test


def visitor_of(run: str) -> WatchState:
    return WatchState(shown=recorded_run(fake_trace(), run, run))


def test_a_payload_that_is_being_made_keeps_nobody_waiting_who_wants_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: one lock for all visitors was held while a payload was made. Who wants the same waits in Streamlit."""
    waits = list[bool]()

    def slowly(trace: Any, run_id: str, **more: Any) -> Any:
        if run_id == "slow":
            other = Thread(target=stage_payload, args=(visitor_of("other"), 4), daemon=True)
            other.start()
            other.join(GUARD)
            waits.append(other.is_alive())
        return stage_data(trace, run_id=run_id, **more)

    on_stage._made_for_all.clear()
    monkeypatch.setattr(on_stage, "stage_data", slowly)
    stage_payload(visitor_of("slow"), 4)
    assert waits == [False]


def test_a_finished_run_is_written_as_json_once_for_all_drawings_and_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    written = list[object]()
    on_stage._made_for_all.clear()
    monkeypatch.setattr(stage, "inline_json", lambda run: [written.append(run), inline_json(run)][1])
    one, two = visitor_of("run"), visitor_of("run")
    drawings = [split(stage_payload(each, 4))[0] for each in (one, two, one)]
    assert len(written) == 1
    assert drawings[0] == drawings[1] == drawings[2]
    file = WatchState(shown=recorded_run(fake_trace(), "file-1"))  # this visitor's own
    assert split(stage_payload(file, 4))[0] == split(stage_payload(file, 4))[0]
    assert len(written) == 2
