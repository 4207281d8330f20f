"""The engine service, against an engine without models (`replaying_engine.py`): queue, sharing, restarts, leaving.

`tests/unit/test_fleet.py` has every order in which server and engine can act; here are processes and sentences.
"""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from signal import SIGKILL
from time import monotonic
from typing import Any

import pytest

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, Output
from specviz.service import EngineService, JobView, ServiceLimits, fleet
from specviz.service import protocol as wire
from specviz.service.child import Child
from specviz.service.engine import listen
from specviz.service.job import advance
from specviz.service.run_store import RunStore
from specviz.service.service import say, sharing_key
from specviz.service.sessions import normal_address
from tests.support import services as ask
from tests.support.endpoint_server import run_async
from tests.support.fake_rows import a_row
from tests.support.grids import grid
from tests.support.known import known
from tests.support.services import begun, engine_pids, measure_costs, run, run_of, submit, until, until_state
from tests.tiny.conftest import Start

REQUEST, HELD = RunRequest("rounds 3"), RunRequest("hold")


def fresh(service: EngineService, session: str, request: RunRequest = REQUEST) -> int:
    return service.submit(session, "run", lambda job: wire.Run(job, request), fresh=True)


def places(service: EngineService, *jobs: int) -> list[int | None]:
    return [service.view(job).place for job in jobs]


@pytest.fixture
def idle() -> EngineService:
    """Not started: all jobs wait."""
    return EngineService(limits=ServiceLimits(sessions_at_once=3))


# ---- a run


def test_a_run_arrives_round_by_round_and_no_view_changes(service: EngineService) -> None:
    job = run(service, "ada", "rounds 3")
    early = service.wait(job, lambda view: view.rounds >= 2, ask.PATIENCE)
    assert (seen := early.rounds) >= 2
    view = until_state(service, job, "done")
    found = run_of(view)
    assert [round.index for round in found.trace.rounds] == found.trace.output.token_ids == [0, 1, 2]
    assert found.trace.autoregressive == Autoregressive([0.01] * 3, [0, 1, 2], alternating=True)
    assert (found.plain_text, view.message, early.rounds) == ("plain", "", seen)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (RunRequest("\ud800"), "The prompt holds characters that are not text."),
        (RunRequest("x" * 10**6), "The prompt has 1,000,000 characters; at most 100,000 are taken."),
        *(
            (RunRequest("rounds 1", target=name), f"There is no model named '{name}' here: use wren-base")
            for name in ("/etc", ".", "eleutherai/pythia-70m", "EleutherAI/pythia-1b", "meta-llama/Llama-2-70b")
        ),
    ],
    ids=["no text", "far too long", "a folder", "here", "a wrong capital", "another size", "not catalogued"],
)
def test_what_the_engine_need_not_see_is_refused_at_once(idle: EngineService, asked: RunRequest, message: str) -> None:
    assert idle.view(submit(idle, "ada", asked)).message.startswith(message)


def test_what_the_engine_says_adds_up() -> None:
    view = JobView(1)
    for event in (wire.JobProgress(1, "measuring", 3), wire.JobItem(1, "sweep", "a"), wire.JobItem(1, "sweep", "b")):
        view = advance(view, event)
        assert advance(view, wire.EngineAlive(1)) == view, "the target alone writes on the way"
    progress = wire.JobProgress(1, "measuring", 3, done=2)
    assert view == JobView(1, "running", progress=progress, items=("a", "b"))
    assert advance(view, wire.JobFinished(1)) == replace(view, state="done")
    broken = advance(view, wire.Rounds(1, [], Output([], "", None)))
    assert broken == replace(view, state="failed", message=say("broken")), "an engine that breaks the protocol"


def test_commands_and_events_survive_the_pipe() -> None:
    command = wire.Run(7, RunRequest("two\nlines \u2028 and ✓", settings=DecodeSettings(seed=2**63 - 1)))
    line = wire.dump_command(command)
    assert (line.count(b"\n"), wire.parse_command(line)) == (1, command)
    prove = wire.dump_command(wire.Prove(3, REQUEST, "lossless", "after", 500, done=4))
    assert wire.dump_command(wire.parse_command(prove)) == prove
    for sent in (wire.CompareGreedy(4, REQUEST, ["story-1"], half=True), wire.EnumerateRules(5, REQUEST)):
        assert wire.parse_command(wire.dump_command(sent)) == sent
    for right, wrong in ((b":500", b":5"), (b":500", b":9999999"), (b'"lossless"', b'"anything"')):
        with pytest.raises(ValueError, match="1 validation error"):
            wire.parse_command(prove.replace(right, wrong))
    for item in ("One sentence.", a_row(draft_dtype=None)):
        event = wire.JobItem(7, "sweep", item)
        assert wire.parse_event(wire.dump_event(event)) == event
    nothing = (b"", b"{", b"[]", b'{"type": "done"}', b'{"type": "unheard"}', b"\xff\n")
    assert [line for line in nothing if wire.parse_event(line)] == []


# ---- the queue


def test_a_new_request_ends_the_old_one_of_its_session_and_kind_only(idle: EngineService) -> None:
    """Found in the app: a started proof ended a running sweep, and rows not yet read were lost."""
    ada, old, cleo = (run(idle, session, "hold") for session in ("ada", "bob", "cleo"))
    new = run(idle, "bob", "hold")
    sweep, costs = (measure_costs(idle, "ada", "quick", slot) for slot in ("sweep", "costs"))
    proof = measure_costs(idle, "ada", "quick", "proof")
    assert places(idle, ada, cleo, new, sweep, costs, proof) == [1, 2, 3, 4, 5, 6]
    assert (idle.view(old).state, idle.view(old).message) == ("lost", "This run has expired.")
    idle.cancel("ada", "run")
    idle.cancel("ada", "costs")
    assert [idle.view(job).state for job in (ada, costs)] == ["cancelled"] * 2
    assert places(idle, cleo, new, sweep, proof) == [1, 2, 3, 4]


# ---- visitors who ask for the same


def test_a_class_that_opens_one_link_has_one_run_until_each_has_left_it(idle: EngineService) -> None:
    idle.arrive("ada", "8.8.8.8")
    run(idle, "teacher", "hold")
    jobs = [submit(idle, f"student {number}", REQUEST) for number in range(30)]
    assert {*places(idle, *jobs)} == {2}, "all wait for the same run"
    assert idle.wait(jobs[0], ask.has_begun, 0.01).state == "waiting", "waiting gives up in time"
    idle.cancel("student 0", "run")
    other = submit(idle, "student 1", HELD)
    assert [idle.view(job).state for job in jobs[:3]] == ["cancelled", "lost", "waiting"]
    shared = known(idle._sessions.ticket(jobs[2])).job
    assert places(idle, *(fresh(idle, name) for name in ("ada", "bob"))) == [2, 2], "it has not begun"
    shared.view = replace(shared.view, state="running")
    again = [fresh(idle, name) for name in ("cleo", "dan")]
    assert places(idle, *jobs[2:], other, *again) == [None] * 28 + [2, 3, 3]
    assert idle.visitors == {"ada"}
    idle.forget({"ada", "bob", "dan", *(f"student {number}" for number in range(2, 30))})
    assert idle.visitors == set()
    assert shared.view.state == "cancelled", "nobody wants it"
    assert [idle.view(job).message for job in (jobs[2], again[1])] == ["This run has expired."] * 2
    assert places(idle, other, again[0]) == [2, 3]


def test_what_was_found_is_there_at_once_and_run_again_measures_again(service: EngineService, tmp_path: Path) -> None:
    service.store = RunStore(tmp_path)
    first = run_of(until_state(service, submit(service, "ada", REQUEST), "done"))
    late = service.view(submit(service, "late", REQUEST))
    assert (late.state, late.stored, run_of(late)) == ("done", True, first)
    service.store._writer.submit(lambda: None).result()  # it is on the disk now
    stored = known(RunStore(tmp_path).get(first.id))  # as a server that is started again reads it
    assert (stored.request, stored.result) == (REQUEST, first)
    again = fresh(service, "ada")
    assert run_of(until_state(service, again, "done")).trace.rounds == first.trace.rounds, "it always takes as long"
    assert not service.view(again).stored


def test_costs_are_measured_once_for_all(service: EngineService) -> None:
    (measured,) = until_state(service, measure_costs(service, "ada", "quick"), "done").items
    asked = RunRequest("another prompt", draft=json.loads(next(iter(service._costs)))[1]["draft"])
    assert (service.known_costs(asked), service.known_costs(REQUEST)) == (measured.costs, None)
    view = service.view(service.submit("bob", "costs", lambda job: wire.Calibrate(job, asked)))
    assert (view.state, view.items) == ("done", (measured,))
    later = service.submit("bob", "costs", lambda job: wire.Calibrate(job, asked, attempt=2))
    assert not service.view(later).stored, "they are doubted"


def test_what_is_asked_for_is_settings_prompt_weights_and_format(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = DecodeSettings(seed=1)
    changes = ({"draft_sampling": "argmax"}, {"verification": "block"}, {"tree": "dynamic:8"})
    requests = [REQUEST, replace(REQUEST, prompt="other"), replace(REQUEST, settings=settings)]
    requests += [replace(REQUEST, draft=draft) for draft in ("lookup", "early-exit:1", "early-exit:2")]
    requests += [replace(REQUEST, settings=replace(settings, **change)) for change in changes]  # type: ignore[arg-type]
    keys = {sharing_key(wire.Run(number, request)) for number, request in enumerate(requests)}
    assert len(keys) == len(requests)
    assert sharing_key(wire.Run(1, REQUEST)) == sharing_key(wire.Run(2, RunRequest("rounds 3")))
    costs = [sharing_key(wire.Calibrate(number, request)) for number, request in enumerate(requests[:4])]
    assert costs[0] == costs[1] == costs[2] != costs[3]
    assert sharing_key(ask.sweep_of(1)) is None
    monkeypatch.setattr("specviz.models.catalogue.weights_hash", lambda folder: "other")
    assert sharing_key(wire.Run(1, REQUEST)) not in keys


# ---- many sessions from one address


def test_so_many_sessions_from_one_public_address_have_a_job_at_once(idle: EngineService) -> None:
    """Thirty students behind one router have one address, and each has a run; a hundred tabs have not."""
    for number in range(5):
        idle.arrive(f"tab {number}", "2001:4860:4860::8888")
    views = [idle.view(run(idle, f"tab {number}", "hold")) for number in range(5)]
    assert [view.state for view in views] == ["waiting"] * 3 + ["failed"] * 2
    assert views[3].message == "3 other visitors from your internet address have jobs here: try again later."
    idle.arrive("neighbour", "2001:4860:4861::1")
    assert idle.view(run(idle, "neighbour", "hold")).state == "waiting"
    assert idle.view(run(idle, "tab 2", "hold")).state == "waiting", "another job of one that has one"
    idle.cancel("tab 1", "run")
    assert idle.view(run(idle, "tab 3", "hold")).state == "waiting"


@pytest.mark.parametrize(
    ("text", "address", "limited"),
    [
        (None, "", False),
        ("<script>", "", False),
        *((private, private, False) for private in ("10.0.0.7", "192.168.1.1")),  # it may be a proxy's
        ("fd00::1", "fd00::", False),
        ("8.8.8.8", "8.8.8.8", True),
        ("::ffff:8.8.8.8", "8.8.8.8", True),
        ("2001:4860:4860:1:2:3:4:5", "2001:4860:4860:1::", True),
    ],
)
def test_what_an_address_is_and_if_it_has_a_limit(
    idle: EngineService, text: str | None, address: str, limited: bool
) -> None:
    assert normal_address(text) == address
    for number in range(4):
        idle.arrive(f"tab {number}", text)
        last = run(idle, f"tab {number}", "hold")
    assert (idle.view(last).state == "failed") == limited


NOISY = """
import time
print("Downloading shards: 100%")
print('{"type": "ready", "versions": {"torch": "%s"}}' % (10**5 * "1"), flush=True)
time.sleep(3600)
"""


def test_noise_is_no_event_and_a_stuck_engine_that_reads_nothing_holds_up_nobody_who_writes_to_it() -> None:
    """Found: with more jobs than its pipe holds, the driver waited for the pipe, and never ended the engine."""

    async def talk() -> None:
        child = Child((sys.executable, "-c", NOISY))
        await child.start()
        assert await child.hear() == wire.EngineReady({"torch": 10**5 * "1"})
        for number in range(10):
            child.send(wire.Run(number, RunRequest("x" * 10**5)))
        child.kill()
        assert await child.hear() is None
        await child.close()

    run_async(talk())


# ---- an engine that dies


def test_an_engine_that_dies_is_restarted_and_left_alone_once_it_keeps_dying(start: Start) -> None:
    service = start()
    until_state(service, run(service, "cleo", "rounds 1"), "done")
    first = engine_pids(service)
    fatal, other = run(service, "ada", "die"), run(service, "bob", "hold")
    begun(service, other)
    assert service.view(fatal).state == "waiting", "it is tried once more, after the others"
    service.cancel("bob", "run")
    view = until_state(service, fatal, "failed")
    assert view.message == "The engine stopped twice while decoding this; run again."
    assert view.rounds == 1, "what the visitor had stays"
    assert engine_pids(service) != first
    view = until_state(service, run(service, "ada", "die"), "failed")
    assert view.message.startswith("The engine keeps stopping")
    assert (service._fleet.resting(monotonic()), engine_pids(service)) == (True, [])
    assert service.view(run(service, "ada", "rounds 1")).message == view.message
    service._fleet.drivers[0].deaths.clear()  # as if they were long ago
    until_state(service, run(service, "ada", "rounds 1"), "done")
    assert service._fleet.ready


def test_who_waits_is_told_whether_the_engine_starts_for_the_first_time_or_again(idle: EngineService) -> None:
    job = run(idle, "ada", "hold")
    assert idle.view(job).message == say("starting")
    idle._fleet.drivers[0].deaths.append(0.0)
    assert idle.view(job).message == say("restarting")
    idle._fleet.drivers[0].ready = True
    assert (idle.view(job).message, idle.view(job).place) == ("", 1)


class Broken(Child):
    async def start(self) -> None:
        raise RuntimeError("injected")


@pytest.mark.parametrize(
    "command",
    [(sys.executable, "-c", "raise SystemExit(1)"), ("/no/such/program",), partial(Broken, ())],
    ids=["never starts", "cannot be", "an error of ours"],
)
def test_jobs_that_wait_for_an_engine_that_never_starts_fail(command: Any) -> None:
    service = EngineService(command, ServiceLimits(pause=0.01))
    service.start()
    assert until_state(service, run(service, "ada", "rounds 1"), "failed").message.startswith("The engine keeps")
    service.close()


def test_deaths_long_apart_begin_no_rest() -> None:
    (driver,) = EngineService(limits=ServiceLimits(deaths=3, deaths_window=60, rest=60))._fleet.drivers
    resting = []
    for now in (0, 40, 80, 120, 125, 130):
        driver.deaths.append(now)
        resting.append(driver.resting(now))
    assert resting == [False] * 4 + [True, True]
    assert [driver.resting(now) for now in (189, 190)] == [True, False]
    driver.deaths.append(191)
    assert not driver.resting(191), "it starts with a clean slate"


# ---- errors in the service's own thread


FAULTY = [(fleet.EngineDriver, name) for name in ("begin", "take_in", "end", "end_if_silent")]
FAULTY += [(fleet.Fleet, "note_busy"), (wire, "parse_event"), (fleet, "advance")]


@pytest.mark.parametrize(("owner", "name"), grid(FAULTY, FAULTY[1:3]))
def test_the_thread_goes_on_after_an_error_in_itself_and_no_job_is_lost(
    start: Start, owner: object, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Found: the thread ended with its error, and everyone waited for an engine that nobody heard."""
    right = getattr(owner, name)

    def wrong(*arguments: Any) -> Any:
        monkeypatch.setattr(owner, name, right)
        raise RuntimeError("injected")

    service = start(pause=0.01)
    until_state(service, run(service, "ada", "rounds 1"), "done")
    monkeypatch.setattr(owner, name, wrong)
    os.kill(*engine_pids(service), SIGKILL)
    jobs = [run(service, session, "rounds 1") for session in ("ada", "bob")]
    for job in jobs:
        assert run_of(until_state(service, job, "done")).trace.output.token_ids == [0]
    until(service, lambda: caplog.text.count("RuntimeError: injected") == 1)


def test_an_engine_ends_when_its_reader_fails(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
    def lines() -> Iterator[bytes]:
        yield b"no command\n"
        raise RuntimeError("injected")

    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    listen(lines(), SimpleQueue())  # type: ignore[arg-type]
    assert ended == [0]
    assert "RuntimeError: injected" in capfd.readouterr().err
