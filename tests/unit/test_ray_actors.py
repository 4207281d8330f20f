"""The engine actor and its handle, without Ray: the order of commands, what an engine takes, how its end is seen."""

from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest

from specviz.core.request import RunRequest
from specviz.service import ray_actors
from specviz.service.protocol import Ready, Run, Stop, dump_command, dump_event
from specviz.service.ray_actors import EngineActor, RayEngine

PATIENCE = 30.0


class RayError(Exception):
    """Ray's own."""


class FakeRay:
    """What `RayEngine` asks of Ray: one actor, which says one line and then is gone."""

    exceptions = SimpleNamespace(RayError=RayError)

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}
        self.taken: list[tuple[int, bytes]] = []
        self.killed = 0
        self.answers = [[dump_event(Ready({}))]]

    def remote(self, **options: Any) -> Any:
        self.options = options
        take = SimpleNamespace(remote=lambda number, line: self.taken.append((number, line)))
        events = SimpleNamespace(remote=lambda patience: patience)
        return lambda _: SimpleNamespace(remote=lambda environment: SimpleNamespace(take=take, events=events))

    def get(self, _: object) -> list[bytes]:
        if not self.answers:
            raise RayError("the actor died")
        return self.answers.pop()

    def kill(self, _: object) -> None:
        self.killed += 1


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    fake = FakeRay()
    monkeypatch.setattr(ray_actors, "import_module", lambda name: fake)
    return fake


def test_commands_that_arrive_in_another_order_are_taken_in_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_actors, "open_workshop", lambda say: Event().wait())
    actor = EngineActor({})
    run, stop = (dump_command(command) for command in (Run(1, RunRequest("Once")), Stop(1)))
    actor.take(1, stop)
    assert actor._mail.next(wait=False) is None
    actor.take(0, run)
    assert actor._mail.next(wait=False) == Run(1, RunRequest("Once"))
    assert actor._mail.stopped(1), "a job after its Stop would run for nobody"


def test_what_an_engine_says_waits_until_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_actors, "open_workshop", lambda say: Event().wait())
    actor = EngineActor({})
    assert actor.events(0.0) == []
    actor._say(Ready({"torch": "2"}))
    assert actor.events(PATIENCE) == [dump_event(Ready({"torch": "2"}))]
    assert actor.events(0.0) == []


@pytest.mark.parametrize("gpus", [0.0, 0.5, 1.0])
def test_an_engine_takes_one_processor_and_the_gpus_that_were_asked_for(gpus: float, ray: FakeRay) -> None:
    RayEngine({}, gpus, lambda engine, line: None, lambda engine, status: None)
    assert (ray.options["num_cpus"], ray.options["num_gpus"]) == (1, gpus)


def test_lines_are_numbered_and_an_actor_that_is_gone_ends_the_engine(ray: FakeRay) -> None:
    heard: list[bytes] = []
    ended = Event()
    engine = RayEngine({}, 0.0, lambda _, line: heard.append(line), lambda _, status: ended.set())
    engine.send(b"a")
    engine.send(b"b")
    assert ray.taken == [(0, b"a"), (1, b"b")]
    engine.listen()
    assert ended.wait(PATIENCE)
    assert heard == [dump_event(Ready({}))]
    assert ray.killed == 1, "it may work on a node that cannot be reached"
    engine.close()
