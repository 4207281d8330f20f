"""What is sent to the stage: a run once, and after that only what is new."""

import json

from specviz.core.trace import Trace
from specviz.player.data import stage_data
from specviz.player.payload import StagePayload
from specviz.ui.stage.growth import news, sent_with, split
from tests.support.fake_traces import cut, fake_trace

TRACE = fake_trace()


def payload(trace: Trace, running: bool = True, notice: str | None = None, run_id: str = "live-1") -> StagePayload:
    made = stage_data(trace, run_id=run_id, source="live", running=running, notice=notice)
    made["stream"], made["version"] = "page", 7
    return made


def test_a_browser_that_has_everything_is_sent_nothing() -> None:
    now = payload(cut(TRACE, 3))
    assert news(now, sent_with(now)) is None


def test_only_new_rounds_are_sent() -> None:
    before, now = payload(cut(TRACE, 3)), payload(cut(TRACE, 5))
    found = news(now, sent_with(before))
    assert found
    assert (found["stream"], found["version"], found["whole"]) == ("page", 7, None)
    growth = found["growth"]
    assert growth
    assert (growth["start"], growth["rounds"]) == (3, now["rounds"][3:])
    assert before["plain"] == (now["plain"] or [])[: growth["plain_start"]] or before["plain"] is None


def test_a_new_notice_is_sent_without_any_round() -> None:
    before, now = payload(TRACE, notice="waiting: place 2"), payload(TRACE, notice="waiting: place 1")
    found = news(now, sent_with(before))
    assert found
    assert found["growth"]
    assert (found["growth"]["notice"], found["growth"]["rounds"]) == ("waiting: place 1", [])


def test_another_run_and_a_run_that_has_ended_are_sent_whole() -> None:
    now = payload(TRACE, running=False)
    for before in (None, sent_with(payload(TRACE, run_id="first")), sent_with(payload(TRACE))):
        found = news(now, before)
        assert found
        assert (found["whole"], found["growth"]) == (now, None)


def test_a_run_that_has_not_changed_is_the_same_bytes_at_each_drawing() -> None:
    first, again = payload(TRACE), payload(TRACE, notice="waiting: place 1")
    again["version"], again["playhead"], again["gamma"] = 8, 5, 2
    run, before = split(first)
    same, after = split(again)
    assert run == same
    assert len(json.dumps(after)) < 1_500  # a browser that has the run is sent this
    assert before["part"] == after["part"] == json.loads(run)["key"]
    sent = {**after, **json.loads(run)["run"]}
    assert sent.pop("part")
    assert sent == json.loads(json.dumps(again))


def test_a_run_that_has_grown_has_another_name() -> None:
    assert split(payload(cut(TRACE, 3)))[1]["part"] != split(payload(cut(TRACE, 4)))[1]["part"]
