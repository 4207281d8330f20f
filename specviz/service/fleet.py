"""The engines, and the threads of each: a driver starts it and writes to it, a reader listens.

An engine gets each job at once, and decides itself which one works. All threads share one lock with the callers. An
error in one of them is logged and ends its engine: the job at work fails with one sentence, and the next engine goes on
with the others.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
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
say = Sentences("service")

_log = logging.getLogger(__name__)


class Fleet:
    """Gives jobs to engines. All but `close` is called with the lock held; it is notified at each change.

    `command` is an engine's program and its arguments, or what starts one. `on_done` is called with each job that has
    found everything. Sessions that left are forgotten here.
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
        self.start_engine: StartEngine = command if callable(command) else partial(Child, command)
        self.waiting: list[Job] = []  # until an engine is ready
        self.deaths: deque[float] = deque(maxlen=limits.deaths)  # the last ones, on the monotonic clock
        self.drivers = [EngineDriver(self) for _ in range(engines)]

    def start(self) -> bool:
        """Start the drivers' threads, once; whether this call did."""
        return all([driver.start() for driver in self.drivers])

    def close(self) -> None:
        """End the engines and the threads; call it without the lock."""
        for driver in self.drivers:
            driver.close()

    @property
    def ready(self) -> bool:
        return any(driver.ready for driver in self.drivers)

    def resting(self, now: float) -> bool:
        """Whether no engine is started now: for a while, after too many deaths in a short time."""
        last, limits = self.deaths, self.limits
        many = len(last) == limits.deaths and last[-1] - last[0] <= limits.deaths_window
        return many and now < last[-1] + limits.rest

    def enqueue(self, job: Job) -> None:
        """Let the job wait for an engine; it fails at once while the engines rest."""
        if self.resting(monotonic()):
            job.fail(lambda: say("keeps_dying"))
        else:
            self.waiting.append(job)

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
        """Give up those that nobody wants any more. If an engine has one, its driver sends a Stop."""
        for job in jobs:
            if not self.sessions.wanted(job) and not job.view.finished:
                job.view = replace(job.view, state="cancelled")
        self.waiting = [job for job in self.waiting if not job.view.finished]

    # ---- for the drivers

    def note_busy(self) -> None:
        """Every job that has begun remembers how many engines were busy beside it: that can slow what it times."""
        begun = [driver.begun for driver in self.drivers]
        busy = sum(min(len(driver.begun), driver.engines) for driver in self.drivers)
        for job in chain(*begun):
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

    def note_end(self, died: bool) -> None:
        """An engine is gone. After too many deaths it fails the jobs that wait: perhaps no other engine comes."""
        if died:
            self.deaths.append(monotonic())
        if self.resting(monotonic()):
            for job in self.waiting:
                job.fail(lambda: say("keeps_dying"))
            self.waiting = []
        self.changed.notify_all()


class EngineDriver:
    """Starts one engine, gives it jobs, and hears what it says of them.

    A job that is not over is in one place at any time: in the fleet's `waiting`, or in `running` of one driver. It
    leaves `running` with the engine's last word on it, or with the engine's end. So it ends, or waits again.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet, self._limits, self._changed = fleet, fleet.limits, fleet.changed
        self._thread: Thread | None = None
        self._closing = False
        self._child: RunningEngine | None = None
        self.ready = False  # the engine runs and has said so
        self.running: list[Job] = []  # those that the engine has
        self._at_work: Job | None = None  # the one of these of which it spoke last
        self._due: float | None = None  # when the engine must have said something, on the monotonic clock

    # ---- for the fleet; with the lock held, except close

    @property
    def begun(self) -> list[Job]:
        """Those of `running` that do not wait in the engine."""
        return [job for job in self.running if job.view.state in ("loading", "running")]

    @property
    def engines(self) -> int:
        return self._child.engines if self._child else 1

    def burden(self, job: Job) -> tuple[bool, int]:
        """Whether its jobs have other large models, so that this one waits for their end; and how many it has."""
        mine, others = job.command.others, [other for other in self.running if not other.view.finished]
        clash = any(mine and other.command.others and other.command.others != mine for other in others)
        return clash, len(others)

    def start(self) -> bool:
        if self._thread or self._closing:
            return False
        self._thread = Thread(target=self._drive, name="engine-driver", daemon=True)
        self._thread.start()
        return True

    def close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join(10)

    # ---- the driver's thread

    def _drive(self) -> None:
        failed = False
        while not self._closing:
            try:
                if failed:
                    with self._changed:  # the pause is first, so that an error in here does not keep the processor busy
                        self._changed.wait_for(lambda: self._closing, self._limits.pause)
                        self._give_up_engine()
                    failed = False
                if step := self._next_step():
                    step()  # without the lock: it may start a process
            except Exception:
                _log.exception("The engine's driver failed; it goes on with a new engine.")
                failed = True
        if self._child:
            self._child.close()

    def _give_up_engine(self) -> None:
        """After an error of ours: fail the job at work, send the others again, and end the engine."""
        for job in self.running:
            if job is (self._at_work or self.running[0]):
                job.fail(lambda: say("broken"))
            elif not job.view.finished:
                self._fleet.send_again(job, job.command.seconds)
        self.running, self._at_work, self.ready, self._due = [], None, False, None  # it gets no other job
        if self._child:
            self._child.kill()  # the reader notes its end
        else:
            self._fleet.note_end(died=True)
        self._changed.notify_all()

    def _next_step(self) -> Callable[[], None] | None:
        """Wait until there is something to do; None when the service closes."""
        sessions = self._fleet.sessions
        with self._changed:
            while not self._closing:
                now = monotonic()
                self._fleet.abandon_unwanted(ticket.job for ticket in sessions.forget_gone(now))
                if step := self._find_step(now):
                    return step
                due = [when for when in (sessions.next_to_forget(), self._due) if when is not None]
                self._changed.wait(max(0.0, min(due) - now) if due else None)
            return None

    def _find_step(self, now: float) -> Callable[[], None] | None:
        if self._child is None:
            return None if self._fleet.resting(now) else self._start_child
        if self._due is not None and now >= self._due:
            self.ready, self._due = False, None  # it gets no other job: that would lose one of its lives
            self._changed.notify_all()  # what was left to this engine, another one takes
            return self._child.kill
        line = self._next_line(now) if self.ready else None
        return partial(self._child.send, line) if line else None

    def _next_line(self, now: float) -> bytes | None:
        """What to tell the engine: to stop a job it has, or the next job."""
        for job in self.running:
            if job.view.finished and not job.stop_sent:
                job.stop_sent = True
                self._due = min(now + self._limits.stop, self._due or now + self._limits.stop)
                return wire.dump_command(wire.Stop(job.id))
        first = next(iter(self._fleet.waiting), None)
        ready = [driver for driver in self._fleet.drivers if driver.ready]
        if not first or any(driver.burden(first) < self.burden(first) for driver in ready):
            return None
        if not self.running:
            self._due = now + self._limits.silence
        job = self._fleet.waiting.pop(0)
        self.running.append(job)
        self._changed.notify_all()
        return wire.dump_command(job.command)

    def _start_child(self) -> None:
        try:
            child = self._fleet.start_engine(self._on_line, self._on_end)
        except OSError as error:
            _log.error("The engine cannot be started: %s", error)
            with self._changed:
                self._fleet.note_end(died=True)
            return
        with self._changed:
            self._child = child
            self._due = monotonic() + self._limits.start
            self._changed.notify_all()
        child.listen()

    # ---- the reader's thread

    def _on_line(self, child: RunningEngine, line: bytes) -> None:
        with self._changed:
            if child is self._child:
                self._handle_news(partial(self._hear, line))

    def _on_end(self, child: RunningEngine, status: int) -> None:
        with self._changed:
            if child is self._child:
                self._child, self.ready, self._due = None, False, None
                self._handle_news(partial(self._handle_end, child, status))

    def _handle_news(self, news: Callable[[], None]) -> None:
        try:
            news()
        except Exception:
            _log.exception("What the engine said could not be taken in; a new engine is started.")
            self._give_up_engine()
        self._changed.notify_all()

    def _hear(self, line: bytes) -> None:
        event = wire.parse_event(line)
        if event is None:
            _log.warning("The engine wrote a line that is not an event: %r", line[:200])
            return
        if isinstance(event, wire.EngineReady):
            self.ready, self._due = True, None
            _log.info("The engine is ready: %s", event.versions)
            return
        if job := next((job for job in self.running if job.id == event.job), None):
            self._at_work, waited = job, job.view.state == "waiting"
            job.deaths = 0 if isinstance(event, wire.JobItem) else job.deaths
            if isinstance(event, wire.JobStopped) and not job.view.finished:
                self._fleet.send_again(job, event.seconds, event.died)
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
            self._due = monotonic() + patience if self.running else None

    def _handle_end(self, child: RunningEngine, status: int) -> None:
        """The job that it worked on itself loses a life, because it may have been the cause; the others wait again."""
        if self._closing:
            return
        _log.warning("The engine ended with status %s.", status)
        # killing one that would not stop says nothing about the next
        self._fleet.note_end(died=not any(job.stop_sent for job in self.running))
        for job in sorted(self.running, key=lambda job: job is self._at_work):  # that one waits behind the others
            if self._fleet.resting(monotonic()):
                job.fail(lambda: say("keeps_dying"))
            elif not job.view.finished:
                self._fleet.send_again(job, job.command.seconds, blamed=child.works and job is self._at_work)
            self.running.remove(job)
        self._at_work = None
