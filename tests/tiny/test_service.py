"""The engine service, against an engine without models (`replaying_engine.py`): queue, sharing, restarts, leaving."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event as Signal
from threading import Thread
from typing import Any
from unittest.mock import Mock

import pytest

from specviz.core.request import RunRequest
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, Output
from specviz.service import EngineService, JobView, ServiceLimits, fleet
from specviz.service import protocol as wire
from specviz.service.bench import Mailbox
from specviz.service.child import Child
from specviz.service.engine import listen
from specviz.service.fleet import Restarts
from specviz.service.job import Items, advance
from specviz.service.run_store import RunStore
from specviz.service.service import say, sharing_key
from specviz.service.sessions import normal_address
from tests.support.fake_rows import a_row
from tests.support.known import known
from tests.support.services import (
    ENGINE,
    PATIENCE,
    engine_pids,
    has_begun,
    measure_costs,
    run,
    run_of,
    submit,
    sweep_of,
    until,
    until_state,
)
from tests.tiny.conftest import Start

REQUEST, HELD = RunRequest("rounds 3"), RunRequest("hold")

# ---- a run


def test_a_run_arrives_round_by_round_with_the_plain_steps_and_no_view_changes(service: EngineService) -> None:
    job = run(service, "ada", "rounds 3")
    early = service.wait(job, lambda view: view.rounds >= 2, PATIENCE)
    assert early.rounds >= 2
    seen = early.rounds
    view = until_state(service, job, "done")
    found = run_of(view)
    assert [round.index for round in found.trace.rounds] == [0, 1, 2]
    assert found.trace.output.token_ids == [0, 1, 2]
    assert found.trace.autoregressive == Autoregressive([0.01] * 3, [0, 1, 2], alternating=True)
    assert (found.plain_text, view.message) == ("plain", "")
    assert early.rounds == seen


def test_a_refusal_is_the_jobs_message_and_noise_is_ignored(service: EngineService) -> None:
    refused = until_state(service, run(service, "ada", "fail"), "failed")
    assert refused.message == "The prompt is not to the engine's taste."
    (driver,) = service._fleet.drivers
    driver._on_line(known(driver._child), b"Downloading shards: 100%\n")
    assert until_state(service, run(service, "ada", "rounds 1"), "done").rounds == 1


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
def test_what_the_engine_need_not_see_is_refused_at_once(asked: RunRequest, message: str) -> None:
    service = EngineService(ENGINE)
    assert service.view(submit(service, "ada", asked)).message.startswith(message)


# ---- the queue


def test_first_come_first_served_places_are_shown_and_a_cancelled_run_has_its_rounds(service: EngineService) -> None:
    held = run(service, "ada", "hold")
    service.wait(held, has_begun, PATIENCE)
    assert service.wait(held, lambda view: view.rounds >= 5, 0.01).state == "running", "waiting gives up in time"
    second, third = run(service, "bob", "hold"), run(service, "cleo", "hold")
    assert [service.view(job).place for job in (held, second, third)] == [None, 1, 2]
    service.cancel("ada", "run")
    assert (service.view(held).state, service.view(held).rounds) == ("cancelled", 1)
    until_state(service, second, "running")
    assert service.view(third).place == 1


def test_a_new_request_takes_the_place_of_a_waiting_one_but_not_of_a_running_one(service: EngineService) -> None:
    begun = run(service, "ada", "hold")
    until_state(service, begun, "running")
    old, other = run(service, "bob", "rounds 1"), run(service, "cleo", "hold")
    new = run(service, "bob", "hold")
    assert [service.view(job).place for job in (new, other)] == [1, 2]
    assert service.view(old).state == "lost"
    again = run(service, "ada", "hold")
    assert (service.view(begun).state, service.view(begun).message) == ("lost", "This run has expired.")
    until_state(service, new, "running")
    assert [service.view(job).place for job in (other, again)] == [1, 2]


def test_a_proof_replaces_neither_the_sweep_nor_the_costs_of_its_session(service: EngineService) -> None:
    """Found in the app: a started proof ended a running sweep, and rows not yet read were lost."""
    until_state(service, run(service, "bob", "hold"), "running")
    sweep, costs = measure_costs(service, "ada", "quick", "sweep"), measure_costs(service, "ada", "quick", "costs")
    proof = measure_costs(service, "ada", "quick", "proof")
    assert [service.view(job).place for job in (sweep, costs, proof)] == [1, 2, 3]
    service.cancel("ada", "costs")
    service.cancel("bob", "run")
    assert until_state(service, sweep, "done").result
    assert until_state(service, proof, "done").result
    assert service.view(costs).state == "cancelled"


def test_background_jobs_take_turns_and_lose_nothing(start: Start) -> None:
    service = start(turn=0.0)
    watched = run(service, "cleo", "hold")
    until_state(service, watched, "running")
    first, second = service.submit("ada", "sweep", sweep_of), service.submit("bob", "sweep", sweep_of)
    service.cancel("cleo", "run")
    ends = []
    for job in (first, second):
        view = until_state(service, job, "done")
        assert view.result.items == ("cell 1", "cell 2", "cell 3")
        ends.append(view.progress and view.progress.done)
    assert ends == [3, 3]


def test_a_tasks_items_add_up() -> None:
    view = advance(JobView(1), wire.JobProgress(1, "measuring", 3, prompt="story-1"))
    assert (view.state, view.items, view.result) == ("running", 0, None)
    for item in ("a", "b"):
        view = advance(view, wire.JobItem(1, "sweep", item))
    assert view.result == Items("sweep", ("a", "b"))
    assert view.progress == wire.JobProgress(1, "measuring", 3, done=2, prompt="story-1")
    view = advance(view, wire.EngineAlive(1))
    assert (view.state, view.items) == ("running", 2), "the target alone writes on the way"
    assert advance(view, wire.JobFinished(1)).state == "done"
    broken = advance(JobView(1), wire.Rounds(1, [], Output([], "", None)))
    assert (broken.state, broken.message) == ("failed", say("broken")), "an engine that breaks the protocol"


# ---- visitors who ask for the same


def test_a_class_that_opens_one_link_has_one_run(service: EngineService) -> None:
    held = run(service, "teacher", "hold")
    until_state(service, held, "running")
    jobs = [submit(service, f"student {number}", REQUEST) for number in range(30)]
    assert {service.view(job).place for job in jobs} == {1}, "all wait for the same run"
    service.cancel("teacher", "run")
    results = [run_of(until_state(service, job, "done")) for job in jobs]
    assert len({found.id for found in results}) == 1
    late = service.view(submit(service, "late", REQUEST))
    assert (late.state, run_of(late)) == ("done", results[0]), "it is there at once"


def test_run_again_measures_again_and_replaces_the_run(service: EngineService) -> None:
    first = run_of(until_state(service, submit(service, "ada", REQUEST), "done"))
    again = service.submit("ada", "run", lambda job: wire.Run(job, REQUEST), fresh=True)
    assert not service.view(again).finished
    second = run_of(until_state(service, again, "done"))
    assert second.trace.rounds == first.trace.rounds, "this engine always takes the same time"
    other = service.submit("bob", "run", lambda job: wire.Run(job, REQUEST), fresh=True)
    third = service.submit("cleo", "run", lambda job: wire.Run(job, REQUEST), fresh=True)
    until_state(service, other, "done")
    until_state(service, third, "done")


def test_a_fresh_run_joins_one_that_has_not_begun_and_no_other(service: EngineService) -> None:
    begun = submit(service, "ada", HELD)
    service.wait(begun, has_begun, PATIENCE)
    one, two = (service.submit(name, "run", lambda job: wire.Run(job, HELD), fresh=True) for name in ("bob", "cleo"))
    assert service.view(begun).state == "running"
    assert [service.view(job).place for job in (one, two)] == [1, 1]


def test_one_who_cancels_a_shared_run_does_not_end_it_for_the_others(service: EngineService) -> None:
    one, two = submit(service, "ada", HELD), submit(service, "bob", HELD)
    service.wait(two, has_begun, PATIENCE)
    service.cancel("ada", "run")
    assert (service.view(one).state, service.view(one).rounds) == ("cancelled", 1)
    assert service.view(two).state == "running"
    submit(service, "bob", REQUEST)
    until(service, lambda: service._fleet.drivers[0].running == [])


def test_one_who_asks_for_something_else_leaves_the_shared_run_in_its_place(service: EngineService) -> None:
    until_state(service, run(service, "teacher", "hold"), "running")
    one, two = submit(service, "ada", HELD), submit(service, "bob", HELD)
    other = submit(service, "ada", REQUEST)
    assert service.view(one).state == "lost"
    assert [service.view(job).place for job in (two, other)] == [1, 2]


def test_costs_are_measured_once_for_all(service: EngineService) -> None:
    measured = until_state(service, measure_costs(service, "ada", "quick"), "done").result
    assert isinstance(measured, wire.CostsResult)
    asked = RunRequest("another prompt", draft=json.loads(next(iter(service._costs)))[1]["draft"])
    view = service.view(service.submit("bob", "costs", lambda job: wire.Calibrate(job, asked)))
    assert (view.state, view.result) == ("done", measured)


def test_what_was_stored_is_there_after_the_server_was_started_again(start: Start, tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        service = start(store=RunStore(tmp_path / "runs"))
        found.append(run_of(until_state(service, submit(service, "ada", REQUEST), "done")))
        service.close()
    assert found[0] == found[1]
    store = RunStore(tmp_path / "runs")
    stored = store.get(found[0].id)
    assert (stored.request, stored.result) == (REQUEST, found[0])


def test_what_is_asked_for_is_settings_prompt_weights_and_format(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = DecodeSettings(seed=1)
    requests = [
        REQUEST,
        replace(REQUEST, prompt="other"),
        replace(REQUEST, draft="lookup"),
        replace(REQUEST, settings=settings),
        replace(REQUEST, settings=replace(settings, draft_sampling="argmax")),
        replace(REQUEST, settings=replace(settings, verification="block")),
        replace(REQUEST, settings=replace(settings, tree="dynamic:8")),
        replace(REQUEST, draft="early-exit:1"),
        replace(REQUEST, draft="early-exit:2"),
    ]
    keys = {sharing_key(wire.Run(number, request)) for number, request in enumerate(requests)}
    assert len(keys) == len(requests)
    assert sharing_key(wire.Run(1, REQUEST)) == sharing_key(wire.Run(2, RunRequest("rounds 3")))
    assert sharing_key(wire.Calibrate(1, requests[0])) == sharing_key(wire.Calibrate(2, requests[1]))
    assert sharing_key(wire.Calibrate(1, requests[0])) != sharing_key(wire.Calibrate(2, requests[2]))
    assert sharing_key(sweep_of(1)) is None
    monkeypatch.setattr("specviz.service.service.weights_hash", lambda folder: "other")
    assert sharing_key(wire.Run(1, REQUEST)) not in keys


def test_several_engines_work_at_the_same_time_and_say_so_and_background_work_has_the_idle_one(start: Start) -> None:
    service = start(engines=2)
    until(service, lambda: all(driver.ready for driver in service._fleet.drivers))
    measuring = measure_costs(service, "dan", "hold")
    until_state(service, measuring, "running")
    one = run(service, "ada", "hold")
    until_state(service, one, "running")
    assert service.view(measuring).state == "running"
    service.cancel("dan", "costs")
    two = run(service, "bob", "hold")
    until(service, lambda: {service.view(job).state for job in (one, two)} == {"running"})
    assert len(engine_pids(service)) == 2
    assert [service.view(job).beside for job in (one, two)] == [1, 1]
    third = run(service, "cleo", "rounds 1")
    assert service.view(third).place == 1
    service.cancel("ada", "run")
    until_state(service, third, "done")


# ---- many sessions from one address


def test_so_many_sessions_from_one_public_address_have_a_job_at_once() -> None:
    """Thirty students behind one router have one address, and each has a run; a hundred tabs have not."""
    service = EngineService(ENGINE, ServiceLimits(sessions_at_once=40))
    jobs = {}
    for number in range(42):
        service.arrive(f"tab {number}", "2001:4860:4860::8888")
        jobs[number] = run(service, f"tab {number}", "hold")
    assert [number for number, job in jobs.items() if service.view(job).state == "failed"] == [40, 41]
    sentence = "40 other visitors from your internet address have jobs here: try again later."
    assert service.view(jobs[40]).message == sentence
    service.arrive("neighbour", "2001:4860:4861::1")
    assert service.view(run(service, "neighbour", "hold")).state == "waiting"
    assert service.view(run(service, "tab 3", "hold")).state == "waiting", "another job of one that has one"
    service.cancel("tab 7", "run")
    assert service.view(run(service, "tab 40", "hold")).state == "waiting"


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
def test_what_an_address_is_and_if_it_has_a_limit(text: str | None, address: str, limited: bool) -> None:
    assert normal_address(text) == address
    service = EngineService(ENGINE, ServiceLimits(sessions_at_once=1))
    states = []
    for number in range(2):
        service.arrive(f"tab {number}", text)
        states.append(service.view(run(service, f"tab {number}", "hold")).state)
    assert (states[1] == "failed") == limited


# ---- cancelling and leaving


def test_an_engine_that_does_not_stop_is_replaced(start: Start) -> None:
    service = start(stop=0.2)
    job = run(service, "ada", "hold")
    service.wait(job, has_begun, PATIENCE)
    first = engine_pids(service)
    os.kill(first[0], signal.SIGSTOP)  # from now on it hears nothing
    service.cancel("ada", "run")
    until_state(service, run(service, "ada", "rounds 1"), "done")
    assert engine_pids(service) != first
    assert not service._fleet.restarts.deaths  # its end says nothing of the next one


def test_an_engine_that_falls_silent_is_replaced(start: Start) -> None:
    service = start(silence=0.2)
    view = until_state(service, run(service, "ada", "deaf"), "failed")
    assert view.message.startswith("The engine stopped twice while decoding this")


def test_a_stuck_engine_that_reads_nothing_holds_up_nobody_who_writes_to_it() -> None:
    """Found: with more jobs than its pipe holds, the driver waited for the pipe, and never ended the engine."""
    ended = Signal()
    child = Child(
        (sys.executable, "-c", "import time; time.sleep(3600)"), lambda *_: None, lambda child, status: ended.set()
    )
    child.listen()
    sender = Thread(target=child.send, args=(b"x" * 10**6 + b"\n",), daemon=True)
    sender.start()
    sender.join(PATIENCE)
    assert not sender.is_alive()
    child.kill()
    assert ended.wait(PATIENCE)


def test_a_session_that_left_and_does_not_come_back_is_forgotten(start: Start) -> None:
    service = start(reconnect=0.05)
    gone, other = run(service, "ada", "hold"), run(service, "bob", "rounds 1")
    until_state(service, gone, "running")
    service.leave("ada")
    until_state(service, other, "done")
    assert service.view(gone).message == "This run has expired."
    service.leave("bob")
    until(service, lambda: not service._sessions._tickets and not service._sessions._left)


SIGNS: dict[str, Callable[[EngineService, int], object]] = {
    "arrive": lambda service, job: service.arrive("ada"),
    "view": lambda service, job: service.view(job),
    "wait": lambda service, job: service.wait(job, lambda view: True, 0),
    "submit": lambda service, job: measure_costs(service, "ada", "hold"),
}


@pytest.mark.parametrize("sign", SIGNS)
def test_a_session_that_comes_back_has_not_left(sign: str) -> None:
    """A short break of the network, or a reload."""
    service = EngineService(ENGINE, ServiceLimits(reconnect=3600))
    job = run(service, "ada", "hold")
    service.leave("ada")
    SIGNS[sign](service, job)
    assert not service._sessions._left
    assert not service.view(job).finished


def test_a_session_that_says_nothing_stays(start: Start) -> None:
    """A hidden tab's timers run once a minute, and a slow server hears them late: neither is a reason to end a job."""
    service = start(reconnect=0.01)
    job = run(service, "ada", "hold")
    until_state(service, job, "running")
    other = run(service, "bob", "hold")
    service.leave("bob")
    until(service, lambda: service._sessions.ticket(other) is None)
    assert service.view(job).state == "running"


# ---- an engine that dies


def test_an_engine_that_dies_is_restarted_and_the_visitor_sees_why(start: Start) -> None:
    service = start()
    until_state(service, run(service, "cleo", "rounds 1"), "done")
    first = engine_pids(service)
    fatal, other = run(service, "ada", "die"), run(service, "bob", "hold")
    until(service, lambda: service.view(other).rounds == 1)
    assert service.view(fatal).state == "waiting", "it is tried once more, after the others"
    service.cancel("bob", "run")
    view = until_state(service, fatal, "failed")
    assert view.message == "The engine stopped twice while decoding this; run again."
    assert view.rounds == 1  # what the visitor had stays
    assert engine_pids(service) != first


def test_all_who_wait_are_told_that_the_engine_starts_again_and_all_runs_come(start: Start) -> None:
    service = start()
    until_state(service, run(service, "cleo", "rounds 1"), "done")
    (engine,) = engine_pids(service)
    jobs = [run(service, f"visitor {number}", "slow" if number == 0 else "rounds 2") for number in range(30)]
    until_state(service, jobs[0], "running")
    os.kill(engine, signal.SIGKILL)
    until(service, lambda: service.view(jobs[0]).state == "waiting")
    assert {service.view(job).message for job in jobs} == {say("restarting")}
    for job in jobs:
        until_state(service, job, "done")


def test_an_engine_that_keeps_dying_is_left_alone_until_asked_later(start: Start) -> None:
    service = start()
    for _ in range(2):  # each is tried twice
        view = until_state(service, run(service, "ada", "die"), "failed")
    assert view.message.startswith("The engine keeps stopping")
    assert (service._fleet.restarts.resting, engine_pids(service)) == (True, [])
    assert service.view(run(service, "ada", "rounds 1")).message == view.message
    service._fleet.restarts._rest_until = 0.0  # long ago
    until_state(service, run(service, "ada", "rounds 1"), "done")
    assert service._fleet.ready


@pytest.mark.parametrize(
    "command", [(sys.executable, "-c", "raise SystemExit(1)"), ("/no/such/program",)], ids=["never starts", "cannot be"]
)
def test_jobs_that_wait_for_an_engine_that_never_starts_fail(command: tuple[str, ...]) -> None:
    service = EngineService(command)
    service.start()
    assert until_state(service, run(service, "ada", "rounds 1"), "failed").message.startswith("The engine keeps")
    service.close()


# ---- errors in the service's own threads


def raises_once(monkeypatch: pytest.MonkeyPatch, owner: object, name: str) -> None:
    """Let the function raise the next time it is called, and work again after that."""
    right = getattr(owner, name)

    def wrong(*arguments: Any) -> Any:
        monkeypatch.setattr(owner, name, right)
        raise RuntimeError("injected")

    monkeypatch.setattr(owner, name, wrong)


@pytest.mark.parametrize("name", ["_find_step", "_next_line", "_hand_over"])
def test_the_driver_goes_on_after_an_error_in_itself(
    start: Start, name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = start(pause=0.01)
    until_state(service, run(service, "ada", "rounds 1"), "done")
    held = run(service, "ada", "hold")
    until(service, lambda: service.view(held).rounds == 1)
    first = engine_pids(service)
    raises_once(monkeypatch, service._fleet.drivers[0], name)
    if name == "_hand_over":
        service.cancel("ada", "run")
    other = run(service, "bob", "rounds 1")
    until_state(service, other, "done")
    if name != "_hand_over":
        view = service.view(held)
        assert (view.state, view.message, view.rounds) == ("failed", say("broken"), 1)
    assert engine_pids(service) != first
    assert "injected" in caplog.text


@pytest.mark.parametrize(
    ("owner", "name", "prompt"),
    [
        (wire, "parse_event", "rounds 1"),
        (fleet, "advance", "rounds 1"),
        (fleet.EngineDriver, "_handle_end", "die"),  # while the engine's end is noted
    ],
)
def test_the_reader_goes_on_after_an_error_in_itself(
    start: Start,
    owner: object,
    name: str,
    prompt: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    service = start()
    until_state(service, run(service, "ada", "rounds 1"), "done")
    first = engine_pids(service)
    raises_once(monkeypatch, owner, name)
    view = until_state(service, run(service, "ada", prompt), "failed")
    assert view.message == say("broken")
    until_state(service, run(service, "bob", "rounds 1"), "done")
    assert engine_pids(service) != first
    assert "injected" in caplog.text


def test_an_engine_that_can_no_longer_be_heard_is_replaced(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Found: the reader's thread ended with its error, and everyone waited for an engine that nobody read."""
    raises_once(monkeypatch, fleet.EngineDriver, "_on_line")
    service = start()
    until_state(service, run(service, "ada", "rounds 1"), "done")
    assert "injected" in caplog.text


def test_a_driver_that_fails_while_it_starts_over_tries_again(
    start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Found: an error while an error was taken care of ended the driver's thread, and everyone waited for ever."""
    service = start(pause=0.01)
    until_state(service, run(service, "ada", "rounds 1"), "done")
    raises_once(monkeypatch, service._fleet.drivers[0], "_give_up_engine")
    raises_once(monkeypatch, service._fleet.drivers[0], "_find_step")
    until_state(service, run(service, "bob", "rounds 1"), "done")
    assert caplog.text.count("RuntimeError: injected") == 2


def test_an_engine_ends_when_its_reader_fails(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture) -> None:
    def lines() -> Iterator[bytes]:
        yield b"no command\n"
        raise RuntimeError("injected")

    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    listen(lines(), Mailbox())  # type: ignore[arg-type]
    assert ended == [0]
    assert "RuntimeError: injected" in capfd.readouterr().err


def test_a_driver_that_always_fails_gives_up(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet.EngineDriver, "_find_step", Mock(side_effect=RuntimeError("injected")))
    service = start(pause=0.01)
    assert until_state(service, run(service, "ada", "rounds 1"), "failed").message.startswith("The engine keeps")


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_the_engine_goes_with_its_server(end: str) -> None:
    script = f"""
import sys
from specviz.measure.race import RacePrompt
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.service import EngineService
service = EngineService({ENGINE!r})
service.start()
with service._changed:
    service._changed.wait_for(lambda: service._fleet.drivers[0].ready, {PATIENCE})
print("ready", flush=True)
sys.stdin.read()
"""
    server = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert server.stdout.readline() == b"ready\n"
    if end == "kill":
        server.send_signal(signal.SIGKILL)
    # the engine holds the server's stderr: it reaches its end only when both are gone
    _, errors = server.communicate(timeout=PATIENCE)
    assert errors == b""


# ---- what it is made of


@pytest.mark.parametrize(
    ("imports", "absent"),
    [
        ("specviz.service", {"torch", "transformers", "streamlit"}),
        (
            "specviz.service, specviz.core.metrics, specviz.ui.watch.watch_page, specviz.models.catalogue",
            {"torch", "transformers", "pandas"},
        ),
        ("specviz, specviz.core.trace, specviz.core.metrics", {"pandas", "torch"}),
        ("specviz.service.handlers, specviz.measure.sweep.measure, specviz.measure.race", {"pandas", "streamlit"}),
    ],
)
def test_what_each_process_does_not_import(imports: str, absent: set[str]) -> None:
    script = f"import sys, {imports}; print([name for name in {sorted(absent)} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_deaths_long_apart_begin_no_rest() -> None:
    restarts = Restarts(ServiceLimits(deaths=3, deaths_window=60, rest=60))
    for now in (0, 40, 80, 120):
        restarts.died(now)
    assert not restarts.resting
    restarts.died(125)
    restarts.died(130)
    assert restarts.resting
    assert not restarts.allow_run(189)
    assert restarts.allow_run(190)
    restarts.died(191)
    assert not restarts.resting  # it starts with a clean slate


def test_commands_and_events_survive_the_pipe() -> None:
    command = wire.Run(7, RunRequest("two\nlines \u2028 and ✓", settings=DecodeSettings(seed=2**63 - 1)))
    line = wire.dump_command(command)
    assert line.count(b"\n") == 1
    assert wire.parse_command(line) == command
    for item in ("One sentence.", a_row(draft_dtype=None)):
        event = wire.JobItem(7, "sweep", item)
        assert wire.parse_event(wire.dump_event(event)) == event
    nothing = (b"", b"{", b"[]", b'{"type": "done"}', b'{"type": "unheard"}', b"\xff\n")
    assert [line for line in nothing if wire.parse_event(line)] == []
