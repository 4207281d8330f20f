"""A visitor's jobs: their states and sizes, and what the pages make of them. No engine."""

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specviz.core.metrics import Costs, count, speedup
from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, EmittedToken, Output, Round, Trace
from specviz.data.texts import page_texts
from specviz.measure.paired import Pace, pace_of_costs
from specviz.measure.sweep.plan import SweepPlan
from specviz.service import protocol as wire
from specviz.service.job import JobView, tokens_in
from specviz.service.service import sharing_key
from specviz.ui.race.race_page import RaceEntry, RaceState, size_sentence
from specviz.ui.shared.engine import quiet_pace
from specviz.ui.shared.job_slot import JobSlot, beside_line
from specviz.ui.watch.watch_state import FIRST, MAX_RUNS, MAX_TOKENS, WatchState, pair_key, recorded_run
from specviz.ui.when_it_helps.sweeps import HERE, WhenItHelpsState
from tests.support.fake_rows import a_row
from tests.support.fake_service import FakeService
from tests.support.fake_traces import fake_trace, run_of
from tests.support.known import known
from tests.unit.test_verdict import CALIBRATED, in_turns

COSTS = Costs(0.01, 0.1, {1: 1.0, 5: 1.5}, 0.1)
REQUEST, OTHER = RunRequest("Once"), RunRequest("Once", draft="lookup")
A_ROUND = Round(0, 0.001, 0.002, 0.0, [], EmittedToken("bonus", 0))


def a_sweep(job: int) -> wire.Sweep:
    return wire.Sweep(job, SweepPlan((), (), (1,)))


@pytest.fixture
def slot(service: FakeService) -> JobSlot:
    """With job 1 under way."""
    made = JobSlot("sweep")
    assert (made.view.state, made.busy, made.refresh()) == ("idle", False, False)
    assert (made.start(a_sweep), service.started, made.view.state) == (1, True, "waiting")
    return made


@pytest.mark.parametrize(
    ("state", "message", "end"),
    [
        ("done", "", lambda service, _: service.tell(wire.JobFinished(1))),
        ("failed", "The engine stopped.", lambda service, _: service.tell(wire.JobFailed(1, "The engine stopped."))),
        ("cancelled", "", lambda _, slot: slot.cancel()),
        ("lost", "This run has expired.", lambda service, _: service.expire("ada")),
    ],
)
def test_a_job_goes_from_idle_to_its_end_has_what_it_found_and_its_slot_can_be_used_again(
    service: FakeService, slot: JobSlot, state: str, message: str, end: Callable[[FakeService, JobSlot], object]
) -> None:
    events = (wire.Loading(1, "wren-base"), wire.JobProgress(1, "measuring", 2), wire.JobItem(1, "sweep", "a"))
    for event, now in zip(events, ("loading", "running", "running"), strict=True):
        service.tell(event)
        assert (slot.refresh(), slot.view.state, slot.busy) == (False, now, True)
    end(service, slot)
    assert [slot.refresh(), slot.refresh()] == [True, False], "it says once that it has ended"
    assert (slot.view.state, slot.busy, slot.view.message, slot.view.items) == (state, False, message, ("a",))
    cancelled = [*service.cancelled]
    slot.cancel()
    assert service.cancelled == cancelled, "there is nothing to cancel"
    slot.start(a_sweep)
    assert slot.view == JobView(2)
    slot.reset()
    assert (slot.view.state, service.cancelled) == ("idle", [*cancelled, "sweep"])


@pytest.mark.parametrize("look", ["wait", "refresh"])
def test_a_job_replaced_meanwhile_is_no_error(
    service: FakeService, slot: JobSlot, monkeypatch: pytest.MonkeyPatch, look: str
) -> None:
    """Found in the app: holding an arrow key on the Temperature slider showed "This run is no longer kept" in red.

    Streamlit begins the page's next run while the one before still waits, so its job is replaced and lost meanwhile.
    """

    def while_waiting(job: int, *_: object) -> JobView:
        slot.start(a_sweep)
        return FakeService.view(service, job)

    monkeypatch.setattr(service, "wait" if look == "wait" else "view", while_waiting)
    assert not (slot.wait(0.01) if look == "wait" else slot.refresh())
    assert slot.view == JobView(2)


def test_the_end_is_waited_for_only_so_long(
    service: FakeService, slot: JobSlot, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (slot.wait_for_end(0.01), slot.busy) == (False, True)

    def end_soon(job: int, *_: object) -> JobView:
        service.tell(wire.JobFinished(job))
        return service.view(job)

    monkeypatch.setattr(service, "wait", end_soon)
    assert (slot.wait_for_end(3600), slot.view.state) == (True, "done")


def test_a_lost_race_or_sweep_keeps_what_was_finished_once(service: FakeService) -> None:
    racing, sweeps = RaceState(started=RaceEntry()), WhenItHelpsState()
    racing.slot.start(lambda job: wire.Race(job, RaceEntry().request(), RaceEntry().prompts))
    sweeps.slot.start(a_sweep)
    service.tell(wire.JobProgress(1, "timing", 4), wire.JobItem(1, "race", "a lap"))
    service.tell(wire.JobItem(2, "sweep", a_row()), wire.JobItem(2, "sweep", "One cannot be measured."))
    for page in (racing, sweeps):
        page.refresh()
    service.expire("ada")
    for page in (racing, sweeps, sweeps):
        page.refresh()
    assert (racing.laps, racing.slot.view.state) == (["a lap"], "lost")
    assert re.findall(r"\d+", racing.ended) == ["1", "4"]
    found = len(sweeps.rows[HERE]), sweeps.problems, sweeps.slot.ended
    assert found == (1, ["One cannot be measured."], page_texts("shared")["lost"])


def test_a_race_says_how_much_it_writes_and_how_long_that_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPECVIZ_JOB_SECONDS", raising=False)
    longest = RunRequest("", settings=DecodeSettings(max_new_tokens=256))
    greatest = RaceEntry.of(longest, presets=(), own="\n".join("abcdefgh"), repeats=20)
    sentence = size_sentence(greatest, Pace(0.01, 0.02))
    assert re.findall(r"\d+", sentence) == ["8", "20", "256", "20"]  # prompts, repeats, tokens, minutes
    monkeypatch.setenv("SPECVIZ_JOB_SECONDS", "300")
    assert "300 s" in size_sentence(greatest, Pace(0.01, 0.02))
    assert "min" not in size_sentence(greatest, None)
    recorded = quiet_pace(greatest.request())  # a fresh server: found, nothing was said of the time
    assert "min" in size_sentence(greatest, None, known(recorded))


def test_costs_give_a_pace() -> None:
    pace = pace_of_costs(COSTS)
    assert (pace.plain, pace.speculative) == (0.01, pytest.approx(0.01 * (4 * 0.1 + 1.5 + 0.1) / 3))
    assert pace.both == pytest.approx(pace.plain + pace.speculative)


def test_a_run_is_shown_from_its_first_round_and_collected_when_done(service: FakeService) -> None:
    page = WatchState(asked=REQUEST)
    page.run.start(lambda job: wire.Run(job, REQUEST))
    service.tell(wire.RunStarted(1, run_of([])))
    page.refresh()
    assert (page.notice, page.shown.run_id) == (None, FIRST), "nothing to show before its first round"
    first, ended = Autoregressive([0.01], [0], alternating=True), Output([0], "t", "eos")
    service.tell(wire.Rounds(1, [A_ROUND], replace(ended, stopped_by=None), first))
    page.refresh()
    assert (page.shown.run_id, page.shown.trace.autoregressive) == ("live-1", first)
    service.tell(wire.Rounds(1, [], ended, Autoregressive([0.01, 0.02], [1, 2], alternating=True)))
    page.refresh()
    assert page.notice == "now only the target alone: 3 tokens", "a sampled text may be longer"
    service.tell(wire.RunDone(1, "plain"))
    page.refresh()
    assert (page.shown.plain_text, page.notice) == ("plain", None)
    assert [run.run_id for run in page.past.finished] == ["live-1"]


def test_costs_belong_to_the_pair_they_were_measured_for(service: FakeService) -> None:
    """The visitor may choose another pair while they are measured. Engines that were busy meanwhile are said."""
    page, found = WatchState(asked=REQUEST), wire.CostsResult(COSTS, beside=2)
    page.costs.measure(REQUEST)
    service.tell(wire.JobItem(1, "calibrate", found), wire.JobFinished(1))
    page.costs.measure(OTHER)
    assert page.costs.found == {pair_key(REQUEST): found}
    assert [command.request for command in service.commands] == [REQUEST, OTHER]
    assert "2 other engines were busy" in (beside_line(2) or "")
    assert beside_line(0) is None


WILD = replace(CALIBRATED, cost_ratio=0.88)  # of a calibration under load


def answered(service: FakeService, page: WatchState, costs: Costs, run: Trace) -> None:
    """The engine measures what was asked for last, and the page looks at it."""
    command = service.commands[-1]
    found = wire.CostsResult(costs, attempt=command.attempt)
    service.tell(wire.JobItem(command.job, "calibrate", found), wire.JobFinished(command.job))
    page.costs.measure(REQUEST, run)


@pytest.mark.parametrize("found", [[WILD, CALIBRATED], [WILD] * wire.MOST_ATTEMPTS])
def test_costs_that_a_run_doubts_are_measured_again_until_they_explain_it_or_a_few_times(
    service: FakeService, found: list[Costs]
) -> None:
    """Found: a calibration taken under load stayed for ever, whatever the runs after it measured."""
    page, steady = WatchState(asked=REQUEST), in_turns()
    page.costs.measure(REQUEST, steady)
    for costs in found:
        answered(service, page, costs, steady)
    for _ in range(3):
        page.costs.measure(REQUEST, steady)
    assert [command.attempt for command in service.commands] == list(range(1, len(found) + 1))
    assert page.costs.of(pair_key(REQUEST)) == found[-1]


def test_a_session_keeps_its_newest_runs_without_what_their_figures_do_not_need() -> None:
    for tokens, kept in (
        (64, MAX_RUNS),
        (MAX_TOKENS // 4, MAX_TOKENS // tokens_in(fake_trace(tokens=MAX_TOKENS // 4))),
    ):
        page, run = WatchState(), recorded_run(fake_trace(tokens=tokens), "")
        names = [f"live-{number}" for number in range(kept + 3)]
        for name in names:
            page.past.finish(replace(run, run_id=name))
        assert [run.run_id for run in page.past.finished] == names[-kept:]
        assert page.past.count == len(names)
    page, trace = WatchState(), fake_trace()
    page.past.finish(recorded_run(trace, "live-1"))
    slim = page.past.finished[0].trace
    assert not any(token.candidates for round in slim.rounds for token in round.drafted)
    assert (speedup(slim), count(slim.rounds), slim.output) == (speedup(trace), count(trace.rounds), trace.output)


def test_a_gguf_file_that_is_replaced_under_its_name_shares_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPECVIZ_GGUF", str(tmp_path))
    command, file, content = wire.Run(1, RunRequest("a", "chat", "lookup")), tmp_path / "chat.gguf", b"GGUF" + bytes(99)
    keys = set()
    for number, each in enumerate((content, content + b"more", content[:-1] + b"x")):  # the last has the first's size
        file.write_bytes(each)
        os.utime(file, ns=(0, number))
        keys.add(sharing_key(command))
        assert sharing_key(command) in keys
    assert len(keys) == 3
