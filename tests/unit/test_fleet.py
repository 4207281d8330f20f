"""No job is lost: the server's half and the engine's half, without threads, in every order in which they can act.

The engine is the real `Bench` behind a pipe each way; a step of the server, of the engine or of a pipe is an action. A
small world is explored whole: each state that any order of actions can reach. Larger ones are walked through by dice.
"""

from collections import deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from queue import SimpleQueue
from random import Random
from sys import maxsize
from threading import Condition
from time import monotonic
from typing import Any

import pytest

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.core.rounds import EmittedToken, Round
from specviz.core.trace import Output
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt
from specviz.service import protocol as wire
from specviz.service.bench import ROOM, Bench
from specviz.service.fleet import EngineDriver, Fleet, say
from specviz.service.job import Job, JobView
from specviz.service.limits import ServiceLimits
from specviz.service.sessions import Sessions, Ticket
from tests.support.fake_traces import run_of
from tests.support.known import known

PLAN = SweepPlan((SweepPrompt("story", "story-1", "w"),), (SweepPair("wren-base", "lookup"),), draft_lengths=(1, 2))
HUB, OTHER = "EleutherAI/pythia-70m", "EleutherAI/pythia-14m"
KINDS: dict[str, Callable[[int], wire.JobCommand]] = {
    "run": lambda job: wire.Run(job, RunRequest("w"), owners=(job, job, job)),
    "hub run": lambda job: wire.Run(job, RunRequest("w", target=HUB), owners=(job, job, job)),
    "refused": lambda job: wire.Run(job, RunRequest("refuse")),
    "other hub run": lambda job: wire.Run(job, RunRequest("w", target=OTHER), owners=(job, job, job)),
    "sweep": lambda job: wire.Sweep(job, PLAN),
}
DAY = 86_400.0


@pytest.fixture(autouse=True)
def long_jobs_give_their_place_as_soon_as_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specviz.service.bench.STAY", 0.0)


def steps(command: wire.JobCommand) -> Generator[wire.JobEvent | None]:
    """As the handlers do: a run of two rounds, or a sweep of two cells."""
    job = command.job
    if isinstance(command, wire.Sweep):
        for cell in range(command.done, 2):
            yield wire.JobItem(job, "sweep", f"cell {cell}")
        yield wire.JobFinished(job)
        return
    assert isinstance(command, wire.Run)
    yield wire.RunStarted(job, run_of([]))
    if command.request.prompt == "refuse":
        raise InputError("No.")
    for index in range(2):
        made = Round(index, 0.1, 0.1, 0.0, [], EmittedToken("bonus", index))
        yield wire.Rounds(job, [made], Output([], "", None))
    yield wire.RunDone(job, "plain")


class Engine:
    """An engine that acts when it is told. What it wrote before its end is still read."""

    def __init__(self, at_once: int, room: int, shared: bool) -> None:
        self.at_once = at_once
        self.to_engine, self.to_server = deque[bytes](), deque[bytes]()
        self.alive, self.orders = True, SimpleQueue[wire.JobCommand | wire.Stop]()
        self.bench = Bench(steps, self.orders, self.say, clock=lambda: 0.0, room=room, shared=shared)
        self.say(wire.EngineReady({}))

    def say(self, event: wire.Event) -> None:
        self.to_server.append(wire.dump_event(event))

    def send(self, order: wire.JobCommand | wire.Stop) -> None:
        if self.alive:
            self.to_engine.append(wire.dump_command(order))

    def kill(self) -> None:
        self.alive = False


@dataclass
class World:
    """What may still happen: jobs that are asked for, then cancels, and ends of engines, `kills` of any and `stuck`."""

    asked: tuple[str, ...]
    cancels: int = 0
    kills: int = 0
    stuck: int = 0  # times that an engine is ended because it has said nothing for long
    engines: int = 1
    limits: ServiceLimits = field(default_factory=ServiceLimits)
    at_once: int = maxsize
    room: int = ROOM
    shared: bool = False

    def __post_init__(self) -> None:
        self.made: list[Engine] = []
        self.jobs: list[Job] = []
        self.tickets: list[Ticket] = []
        self.ends: dict[int, JobView] = {}
        self.done: list[int] = []
        self.sessions, changed = Sessions(), Condition()
        changed.acquire()  # each action is under the lock
        make: Any = self._make
        self.fleet = Fleet(make, self.limits, changed, self.sessions, self._note, self.engines)

    def _note(self, job: Job) -> None:
        self.done.append(job.id)

    def _make(self) -> Engine:
        self.made.append(Engine(self.at_once, self.room, self.shared))
        return self.made[-1]

    def engine(self, number: int) -> Any:
        return self.fleet.drivers[number].engine

    # ---- what can happen

    def actions(self) -> dict[str, Callable[[], object]]:
        """By name, in a fair order: each of these gets on."""
        found: dict[str, Callable[[], object]] = {}
        for number, driver in enumerate(self.fleet.drivers):
            engine, name = self.engine(number), f"engine {number}"
            if engine is None:
                if not driver.resting(monotonic()):
                    found[f"{name} starts"] = driver.begin
                continue
            if engine.alive and engine.to_engine:
                found[f"{name} hears"] = partial(self.pass_on, engine)
            if engine.alive and (engine.bench._line or not engine.orders.empty()):
                found[f"{name} works"] = engine.bench.work
            if engine.to_server:
                found[f"{name} is heard"] = partial(self.hear, number)
            elif not engine.alive:
                found[f"{name} ends"] = driver.end
        return found

    def pass_on(self, engine: Engine) -> None:
        engine.orders.put(wire.parse_command(engine.to_engine.popleft()))

    def hear(self, number: int) -> None:
        """As `EngineDriver.drive` does."""
        driver = self.fleet.drivers[number]
        try:
            driver.take_in(known(wire.parse_event(known(self.engine(number)).to_server.popleft())))
        except RuntimeError:
            driver.end()

    def troubles(self) -> dict[str, Callable[[], object]]:
        found: dict[str, Callable[[], object]] = {}
        if len(self.jobs) < len(self.asked):
            found["ask"] = self.ask
        if self.cancels:
            found |= {
                f"cancel {t.number}": lambda t=t: self.cancel(t)  # type: ignore[misc]
                for t in self.tickets
                if not t.view.finished
            }
        for number, driver in enumerate(self.fleet.drivers):
            if self.kills and (engine := self.engine(number)) and engine.alive:
                found[f"kill {number}"] = partial(self.kill, engine)
            if self.stuck and driver._due < inf:
                found[f"stuck {number}"] = partial(self.overdue, driver)
        return found

    def ask(self) -> None:
        number = len(self.jobs) + 1
        self.jobs.append(Job(JobView(number), KINDS[self.asked[number - 1]](number)))
        self.tickets.append(Ticket(number, f"visitor {number}", "run", self.jobs[-1]))
        self.sessions.save(self.tickets[-1])
        self.fleet.enqueue(self.jobs[-1])

    def ask_all(self) -> None:
        for _ in self.asked:
            self.ask()

    def cancel(self, ticket: Ticket) -> None:
        self.cancels -= 1
        self.fleet.abandon_unwanted([ticket.cancel()])

    def kill(self, engine: Engine) -> None:
        self.kills -= 1
        engine.kill()

    def overdue(self, driver: EngineDriver) -> None:
        self.stuck -= 1
        driver.end_if_silent(monotonic() + DAY)

    # ---- what must hold

    def act(self, name: str) -> None:
        (self.actions() | self.troubles())[name]()
        self.check()

    def check(self) -> None:
        for job in self.jobs:
            places = [job in self.fleet.waiting, *(job in driver.running for driver in self.fleet.drivers)]
            assert sum(places) <= 1, "it is handed over once"
            if job.view.finished:
                assert self.ends.setdefault(job.id, job.view) == job.view, "it ends once"
            else:
                assert sum(places) == 1, "it is lost"

    def settle(self) -> None:
        """No more trouble: then each job ends."""
        mark = ""
        while mark != (mark := self.mark()):
            for name in [*self.actions()]:
                if name in self.actions():  # else another one of these has done it
                    self.act(name)
        while len(self.jobs) < len(self.asked):
            self.ask()
            self.settle()
        assert [job.id for job in self.jobs if not job.view.finished] == []
        assert all(not driver.running for driver in self.fleet.drivers)
        for job, asked in zip(self.jobs, self.asked, strict=True):
            self.check_result(job, asked)

    def check_result(self, job: Job, asked: str) -> None:
        """Whole, and each part once."""
        view = job.view
        wanted = self.tickets[job.id - 1].job is job
        assert self.done.count(job.id) == (view.state == "done" and wanted)
        if view.state == "done":
            assert asked != "refused"
            if view.run:
                assert [made.index for made in view.run.trace.rounds] == [0, 1]
            else:
                assert view.items == ("cell 0", "cell 1")
        elif view.state == "failed":
            assert view.message

    def mark(self) -> str:
        """The same for states that go on in the same way."""
        jobs = [(j.view.state, j.stop_sent, j.deaths, j.view.items, j.view.rounds) for j in self.jobs]
        queue = [job.id for job in self.fleet.waiting]
        drivers = [
            (d.ready, [j.id for j in d.running], d._at_work and d._at_work.id, d._due < inf, len(d.deaths))
            for d in self.fleet.drivers
        ]
        engines = [
            (
                *(e.alive, list(e.to_engine), list(e.to_server), e.orders.qsize()),
                [(t.job, t.steps and t.steps.gi_frame and t.steps.gi_frame.f_lasti, t.shown) for t in e.bench._line],
            )
            for number in range(self.engines)
            if (e := self.engine(number))
        ]
        return repr((jobs, queue, drivers, engines, self.cancels, self.kills, self.stuck))


def explore(make: Callable[[], World]) -> int:
    """Every state that can be reached; from each one, all jobs come to their end. Returns how many states there are."""
    seen, todo = {make().mark()}, deque[tuple[str, ...]]([()])
    while todo:
        path = todo.popleft()
        world = replayed(make, path)
        names = [*world.actions(), *world.troubles()]
        world.settle()
        for name in names:
            world = replayed(make, path)
            world.act(name)
            if (mark := world.mark()) not in seen:
                seen.add(mark)
                todo.append((*path, name))
    return len(seen)


def replayed(make: Callable[[], World], path: tuple[str, ...]) -> World:
    world = make()
    for name in path:
        world.act(name)
    return world


SMALL: dict[str, Callable[[], World]] = {
    "cancelled, killed": lambda: World(("run",), cancels=1, kills=1),
    "refused, killed twice": lambda: World(("refused",), kills=2),
    "stuck": lambda: World(("run",), stuck=1),
    "in turns, killed": lambda: World(("sweep",), shared=True, kills=1),
    "in turns, cancelled": lambda: World(("sweep",), shared=True, cancels=1),
    "one by one": lambda: World(("run", "refused"), at_once=1, cancels=1),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_job_ends_once_in_every_order_in_which_its_messages_can_cross(name: str) -> None:
    assert explore(SMALL[name]) > 50


@pytest.mark.parametrize("seed", range(60))
def test_no_job_of_many_is_lost_whatever_ends_when(seed: int) -> None:
    """One or two engines, jobs that fit beside each other or do not, engines that die and visitors who leave."""
    dice = Random(seed)
    limits, room, shared = ServiceLimits(deaths=dice.choice([3, 9])), dice.choice([0, 300, ROOM]), dice.random() < 0.3
    asked = tuple(dice.choices([*KINDS], k=5))
    trouble = dice.randint(0, 2), dice.randint(0, 4), dice.randint(0, 1)
    world = World(asked, *trouble, dice.randint(1, 2), limits, dice.choice([1, maxsize]), room, shared)
    for _ in range(dice.randint(20, 120)):
        if names := [*world.actions(), *world.troubles()]:
            world.act(dice.choice(names))
    world.settle()


def test_only_the_job_that_an_engine_worked_on_loses_a_life() -> None:
    """Found: an engine that died took a life of every job that it had, and a class of thirty shares one engine."""
    world = World(("run",) * 3, kills=1, limits=ServiceLimits(deaths=9))
    world.ask_all()
    go_on(world, lambda: all(job.view.rounds for job in world.jobs))
    world.made[0].to_server.clear()  # it has said nothing more
    world.act("kill 0")
    world.settle()
    assert sorted(job.deaths for job in world.jobs) == [0, 0, 1]
    assert {job.view.state for job in world.jobs} == {"done"}


def go_on(world: World, enough: Callable[[], bool]) -> None:
    """All act in turns until it is enough, which it is after a few turns."""
    for _ in range(100):
        if enough():
            return
        for name in [*world.actions()]:
            if name in world.actions():
                world.act(name)
    raise AssertionError("it has not come to that")


def test_a_stop_that_others_outlive_ends_no_engine() -> None:
    world = World(("run",) * 4, cancels=1, limits=ServiceLimits(silence=DAY))
    world.ask_all()
    (driver,), first = world.fleet.drivers, world.jobs[0]
    go_on(world, lambda: first.view.rounds == 1)
    world.act("cancel 1")
    go_on(world, lambda: first not in driver.running)
    assert driver.running, "the others go on"
    assert known(driver._due) > monotonic() + world.limits.stop, "and have all the time that they had"
    world.settle()
    assert len(world.made) == 1
    assert first.view.state == "cancelled"


def test_an_engine_that_does_not_stop_is_replaced_which_says_nothing_of_the_next_one() -> None:
    world = World(("run", "run"), cancels=1, stuck=1)
    world.ask()
    go_on(world, lambda: world.jobs[0].view.rounds == 1)
    world.act("cancel 1")
    world.made[0].to_server.clear()  # it has said nothing more
    world.act("stuck 0")
    world.ask()
    world.settle()
    assert (len(world.made), len(world.fleet.drivers[0].deaths)) == (2, 0)
    assert [job.view.state for job in world.jobs] == ["cancelled", "done"]


def test_a_line_that_says_only_that_an_engine_is_alive_gives_it_time_again() -> None:
    """Else a job that waits for a free engine behind a URL would be given up after some minutes."""
    world = World(("run",))
    world.ask()
    go_on(world, lambda: world.jobs[0].view.rounds == 1)
    (driver,) = world.fleet.drivers
    driver._due = 0.0
    driver.take_in(wire.EngineAlive(1))
    assert driver._due > monotonic()


def test_a_long_job_that_gets_on_survives_any_number_of_dead_engines() -> None:
    world = World(("sweep",), kills=2, limits=ServiceLimits(deaths=9))
    world.ask()
    for items in (1, 2):
        go_on(world, lambda items=items: len(world.jobs[0].view.items) == items)  # type: ignore[misc]
        world.made[-1].to_server.clear()
        world.act("kill 0")
    world.settle()
    assert world.jobs[0].view.state == "done"


def test_an_engine_that_is_ended_for_its_silence_gets_no_other_job() -> None:
    """Before: a job that was handed to it in that moment lost one of its two lives."""
    world = World(("run", "run"), stuck=1)
    world.ask()
    go_on(world, lambda: world.jobs[0].view.rounds == 1)
    world.act("stuck 0")
    world.ask()
    assert world.fleet.drivers[0].running == world.jobs[:1]
    world.settle()


def test_a_job_that_has_not_begun_waits_and_has_a_place_also_in_the_engine() -> None:
    world = World(("sweep", "sweep", "run"))
    world.ask_all()

    def places(*actions: str) -> list[int | None]:
        for name in actions:
            world.act(name)
        return [world.fleet.place(job) for job in world.jobs]

    assert places() == [2, 3, 1], "a visitor waits for the run"
    assert places("engine 0 starts", "engine 0 is heard") == [2, 3, 1]
    assert not world.fleet.waiting
    heard = places(*["engine 0 hears"] * 3, *["engine 0 works"] * 4, "engine 0 is heard")
    assert heard == [1, 2, None]
    assert world.jobs[2].view.state == "loading"


def test_those_who_wait_are_told_that_no_engine_comes_whatever_ended_the_last_one() -> None:
    """One that the server ended for not stopping counts as no death. Another one's deaths had begun the rest."""
    world = World(("run",), limits=ServiceLimits(deaths=1))
    world.ask()
    (driver,) = world.fleet.drivers
    driver.deaths.append(monotonic())
    driver.end()
    assert world.jobs[0].view.message == say("keeps_dying")


def test_an_error_on_the_last_word_of_a_job_fails_no_other_one() -> None:
    """Found: a run that could not be stored failed the sweep beside it."""
    world = World(("sweep", "run"))
    stored = world.fleet.on_done

    def cannot_store(job: Job) -> None:
        world.fleet.on_done = stored
        raise RuntimeError("injected")

    world.ask()
    go_on(world, lambda: bool(world.made) and any(task.shown for task in world.made[0].bench._line))
    world.ask()  # now, so that the sweep has begun
    go_on(world, lambda: all(job.view.state == "running" for job in world.jobs))
    world.fleet.on_done = cannot_store
    go_on(world, lambda: all(job.view.finished for job in world.jobs))
    assert [job.view.state for job in world.jobs] == ["done", "done"]


def test_a_job_goes_to_the_engine_whose_models_it_need_not_wait_for() -> None:
    """Found: it went to the one with fewer jobs, and waited there beside an engine that had nothing to do."""
    world = World(("other hub run",), engines=2)
    go_on(world, lambda: all(driver.ready for driver in world.fleet.drivers))
    one, two = world.fleet.drivers
    one.running, two.running = (
        [Job(JobView(number), KINDS[kind](number)) for number, kind in its]
        for its in (((11, "hub run"),), ((12, "run"), (13, "run")))
    )
    world.ask()
    assert world.jobs[0] in two.running
