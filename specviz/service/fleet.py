"""The engines: each has a task that starts it, listens to it and starts the next one, all in one thread.

An engine gets each job at once, and decides itself which one works. The thread shares one lock with the callers. An
error of ours is logged and ends the engine, as if that had died.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf
from threading import Condition, Thread
from time import monotonic

from specviz.core.languages import set_language
from specviz.core.texts import Sentences
from specviz.service import protocol as wire
from specviz.service.child import Child, RunningEngine, StartEngine
from specviz.service.job import Job, advance
from specviz.service.limits import ServiceLimits
from specviz.service.sessions import Sessions

RETRIES = 1  # so that a visitor need not ask again because of what another one's job did
LOOK = 0.5  # seconds between two looks at which engine is silent
say = Sentences("service")

_log = logging.getLogger(__name__)


class Fleet:
    """Gives jobs to engines. All but `close` is called with the lock held; it is notified at each change.

    `command` is an engine's program and its arguments, or what makes one. `on_done` is called with each job that has
    found everything.
    """

    def __init__(
        self,
        command: Sequence[str] | StartEngine,
        limits: ServiceLimits,
        changed: Condition,
        sessions: Sessions,
        on_done: Callable[[Job], None],
        engines: int = 1,
    ) -> None:
        self.limits, self.changed, self.sessions, self.on_done = limits, changed, sessions, on_done
        self.make_engine: StartEngine = command if callable(command) else partial(Child, command)
        self.waiting: list[Job] = []  # until an engine has a place
        self.drivers = [EngineDriver(self) for _ in range(engines)]
        self._thread = Thread(target=lambda: asyncio.run(self._work()), name="engines", daemon=True)
        self._tasks: list[asyncio.Task[None]]
        self._closing = False

    def start(self) -> bool:
        """Start the thread, once; whether this call did."""
        if new := self._thread.ident is None:
            self._thread.start()
        return new

    def close(self) -> None:
        """End the engines and the thread; call it without the lock."""
        self._closing = True
        if self._thread.ident:
            self._thread.join(10)

    @property
    def ready(self) -> bool:
        return any(driver.ready for driver in self.drivers)

    def resting(self, now: float) -> bool:
        return all(driver.resting(now) for driver in self.drivers)

    def enqueue(self, job: Job) -> None:
        """Let the job wait for an engine; it fails at once while all engines rest."""
        self.waiting.append(job)
        self.hand_out()

    def place(self, job: Job) -> int | None:
        """Among the jobs that wait, also in an engine, 1 is next; None when it does not wait.

        Owners of what is at work come after others, as in the engine; turns that follow may change the order.
        """
        jobs = [*chain(*(driver.running for driver in self.drivers)), *self.waiting]
        waiting = [other for other in jobs if other.view.state == "waiting"]
        for had in chain(*(driver.begun for driver in self.drivers)):
            waiting.sort(key=lambda other: other.command.shares(had.command))
        waiting.sort(key=lambda other: not other.command.watched)
        return waiting.index(job) + 1 if job in waiting else None

    def abandon_unwanted(self, jobs: Iterable[Job]) -> None:
        """Give up those that nobody wants any more. If an engine has one, it is told to stop."""
        for job in jobs:
            if not self.sessions.wanted(job) and not job.view.finished:
                job.view = replace(job.view, state="cancelled")
        self.hand_out()

    # ---- for the drivers

    def hand_out(self) -> None:
        """Tell the engines what to stop, and give them the jobs that wait, as `bench` would: each in its owners' turn.

        Nobody waits while all engines rest: perhaps no other one comes.
        """
        ready = [driver for driver in self.drivers if driver.ready]
        for driver in ready:
            driver.stop_unwanted()
        if self.resting(monotonic()):
            for job in self.waiting:
                job.fail(lambda: say("keeps_dying"))
        self.waiting = [job for job in self.waiting if not job.view.finished]
        while self.waiting and (free := [driver for driver in ready if driver.has_place]):
            job = min(self.waiting, key=lambda job: not job.command.watched)
            self.waiting.remove(job)
            self.waiting.sort(key=lambda other: other.command.shares(job.command))
            min(free, key=lambda driver: driver.burden(job)).give(job)
        self.changed.notify_all()

    def note_busy(self) -> None:
        """Every job that has begun remembers how many engines were busy beside it: that can slow what it times."""
        busy = sum(bool(driver.begun) for driver in self.drivers)
        for job in chain(*(driver.begun for driver in self.drivers)):
            job.view = replace(job.view, beside=max(job.view.beside, busy - 1))

    def send_again(self, job: Job, seconds: float, blamed: bool = False) -> None:
        """An engine had it for so many seconds, perhaps ended with it, and has it no more: it waits behind the others.

        If it is blamed for too many ends, it fails.
        """
        if blamed and job.deaths >= RETRIES:
            job.fail(lambda: say("died"))
        else:
            job.deaths += blamed
            job.wait_again(seconds)
            self.waiting.append(job)

    # ---- the thread

    async def _work(self) -> None:
        self._tasks = [asyncio.create_task(driver.drive()) for driver in self.drivers]
        while not self._closing:
            await asyncio.sleep(LOOK)
            try:
                with self.changed:
                    for driver in self.drivers:
                        driver.end_if_silent(monotonic())
            except Exception:  # else nobody would hear the engines any more
                _log.exception("A silent engine cannot be ended.")


class EngineDriver:
    """Starts one engine after the other, gives them jobs, and hears what they say of those.

    A job that is not over is in one place at any time: in the fleet's `waiting`, or in `running` of one driver. It
    leaves `running` with the engine's last word on it, or with the engine's end. So it ends, or waits again.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet, self._limits, self._changed = fleet, fleet.limits, fleet.changed
        self.engine: RunningEngine | None = None
        self.ready = False  # the engine runs and has said so
        self.running: list[Job] = []  # those that the engine has
        self.deaths: deque[float] = deque(maxlen=self._limits.deaths)  # the last ones, on the monotonic clock
        self._at_work: Job | None = None  # the one of `running` of which it spoke last
        self._due = inf  # when the engine must have said something, on the monotonic clock

    # ---- for the fleet; with the lock held

    def resting(self, now: float) -> bool:
        """Whether no engine is started now: for a while, after too many deaths in a short time."""
        last, limits = self.deaths, self._limits
        many = len(last) == limits.deaths and last[-1] - last[0] <= limits.deaths_window
        return many and now < last[-1] + limits.rest

    @property
    def begun(self) -> list[Job]:
        """Those of `running` that do not wait in the engine."""
        return [job for job in self.running if job.view.state in ("loading", "running")]

    @property
    def has_place(self) -> bool:
        return self.engine is not None and len(self.running) < self.engine.at_once

    def burden(self, job: Job) -> tuple[bool, int]:
        """Whether its jobs have other large models, so that this one waits for their end; and how many it has."""
        mine, others = job.command.others, [other for other in self.running if not other.view.finished]
        clash = any(mine and other.command.others and other.command.others != mine for other in others)
        return clash, len(others)

    def give(self, job: Job) -> None:
        assert self.engine
        if not self.running:
            self._due = monotonic() + self._limits.silence
        self.running.append(job)
        self.engine.send(job.command)

    def stop_unwanted(self) -> None:
        for job in self.running:
            if self.engine and job.view.finished and not job.stop_sent:
                job.stop_sent = True
                self._due = min(self._due, monotonic() + self._limits.stop)
                self.engine.send(wire.Stop(job.id))

    def end_if_silent(self, now: float) -> None:
        """End an engine that has said nothing for too long. It gets no other job: that would lose one of its lives."""
        if self.engine and now >= self._due:
            self.ready, self._due = False, inf
            self.engine.kill()

    # ---- its task

    async def drive(self) -> None:
        while True:
            try:
                with self._changed:
                    self.end()  # the one before
                while self.resting(monotonic()):
                    await asyncio.sleep(LOOK)
                await self._live(self.begin())
            except Exception:
                _log.exception("What an engine said could not be taken in; a new one is started.")
                await asyncio.sleep(self._limits.pause)

    async def _live(self, engine: RunningEngine) -> None:
        try:
            await engine.start()
        except OSError as error:
            _log.error("The engine cannot be started: %s", error)
            return
        try:
            while event := await engine.hear():
                with self._changed:
                    self.take_in(event)
        finally:
            self.ready = False
            await engine.close()

    def begin(self) -> RunningEngine:
        self.engine, self._due = self._fleet.make_engine(), monotonic() + self._limits.start
        return self.engine

    def take_in(self, event: wire.Event) -> None:
        """What the engine has said."""
        if isinstance(event, wire.EngineReady):
            self.ready = True
            _log.info("The engine is ready: %s", event.versions)
        elif job := next((job for job in self.running if job.id == event.job), None):
            self._at_work, waited = job, job.view.state == "waiting"
            job.deaths = 0 if isinstance(event, wire.JobItem) else job.deaths
            if isinstance(event, wire.JobStopped) and not job.view.finished:
                self._fleet.send_again(job, event.seconds)
            elif not job.view.finished:
                set_language(job.command.language)
                job.view = advance(job.view, event)
                if waited and job.view.state != "waiting":
                    self._fleet.note_busy()
                if job.view.state == "done":
                    self._fleet.on_done(job)
            if isinstance(event, wire.Final):
                self.running.remove(job)
                self._at_work = None
        if self.ready:  # else it is about to be ended
            stops = any(other.stop_sent for other in self.running)
            patience = self._limits.stop if stops else self._limits.silence
            self._due = monotonic() + patience if self.running else inf
        self._fleet.hand_out()

    def end(self) -> None:
        """Its engine is gone, if there was one: the jobs wait again.

        The one that it worked on loses a life, because it may have been the cause, and waits behind the others.
        """
        stopped = any(job.stop_sent for job in self.running)
        if self.engine and not stopped and not (self.engine.at_once == 1 and self.running):
            self.deaths.append(monotonic())  # one that would not stop, and a lost stream, say nothing about the next
        for job in sorted(self.running, key=lambda job: job is self._at_work):
            if not job.view.finished:
                self._fleet.send_again(job, job.command.seconds, blamed=job is self._at_work)
            self.running.remove(job)
        self.engine, self.ready, self._due, self._at_work = None, False, inf, None
        self._fleet.hand_out()
