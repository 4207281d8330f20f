"""The threads that feed one engine: the driver starts it and writes to it, the reader takes what it says.

Both share one lock with the callers and with the drivers of other engines. An error in either is logged and ends the
engine: the job it had fails with one sentence, and the next engine goes on with the others.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from threading import Condition, Thread
from time import monotonic

from specviz.service.child import RunningEngine, StartEngine
from specviz.service.fair_queue import FairQueue
from specviz.service.job import Job, advance
from specviz.service.limits import Limits
from specviz.service.protocol import (
    Event,
    Final,
    JobEvent,
    Ready,
    Started,
    Stop,
    Stopped,
    dump_command,
    parse_event,
)
from specviz.service.restarts import Restarts
from specviz.service.room import fits_beside, that_give_way, that_had_its_turn

RETRIES = 1  # so that a visitor need not ask again because of what another one's job did
DIED = "The engine stopped twice while decoding this and was restarted; run again."
KEEPS_DYING = "The engine keeps stopping, so live runs are off for now; try again in a minute."
BROKEN = "Something went wrong on the server while this ran; run again."

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SharedWork:
    """What the drivers of all engines share."""

    queue: FairQueue
    restarts: Restarts
    on_done: Callable[[Job], None]  # a job has found everything
    tidy: Callable[[float], None]  # forget the sessions that left
    next_tidying: Callable[[], float | None]
    note_busy: Callable[[], None]  # an engine took a job
    has_idle_engine: Callable[[], bool]


class EngineDriver:
    """Feeds one engine from the fair queue.

    Args:
        start_engine: starts an engine.
        limits: how long to wait for what.
        changed: guards everything here; notified at each change.
        work: what all drivers share.
    """

    def __init__(self, start_engine: StartEngine, limits: Limits, changed: Condition, work: SharedWork) -> None:
        self._start_child = start_engine
        self._limits = limits
        self._changed = changed
        self._work = work
        self._queue, self._restarts = work.queue, work.restarts
        self._thread: Thread | None = None
        self._closing = False
        self._child: RunningEngine | None = None
        self._ready = False
        self._running: list[Job] = []  # those the engine has
        self._start_by: float | None = None  # a new engine must be ready by then

    # ---- for the service; with the lock held, except close

    def start(self) -> bool:
        """Start the driver's thread, once; whether this call did."""
        if self._thread or self._closing:
            return False
        self._thread = Thread(target=self._drive, name="engine-driver", daemon=True)
        self._thread.start()
        return True

    def close(self) -> None:
        """End the engine and the threads; call it without the lock."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join(10)

    @property
    def ready(self) -> bool:
        """Whether the engine runs and has said so."""
        return self._ready

    @property
    def running(self) -> list[Job]:
        """The jobs the engine has: one, or several short runs of one pair."""
        return self._running

    @property
    def pid(self) -> int | None:
        """The engine's process id; None while there is no engine on this machine."""
        return (self._child.pid or None) if self._child else None

    # ---- the driver's thread

    def _drive(self) -> None:
        failed = False
        while not self._closing:
            try:
                if failed:
                    self._start_over()
                    failed = False
                if step := self._next_step():
                    step()  # without the lock: it may start a process or fill a pipe
            except Exception:
                _log.exception("The engine's driver failed; it goes on with a new engine.")
                failed = True
        if self._child:
            self._child.close()

    def _start_over(self) -> None:
        """After an error; the pause is first, so that an error in here does not keep the processor busy."""
        with self._changed:
            self._changed.wait_for(lambda: self._closing, self._limits.pause)
            self._give_up_engine()

    def _give_up_engine(self) -> None:
        """After an error of ours: fail the jobs at work and end the engine, whose state is unknown."""
        for job in self._running:
            job.fail(BROKEN)
        self._running = []
        self._ready, self._start_by = False, None  # so that it gets no other job
        if self._child:
            self._child.kill()  # the reader notes its end
        else:
            self._note_death()
        self._changed.notify_all()

    def _next_step(self) -> Callable[[], None] | None:
        """Wait until there is something to do; None when the service closes."""
        with self._changed:
            while not self._closing:
                now = monotonic()
                self._work.tidy(now)
                if step := self._find_step(now):
                    return step
                self._changed.wait(self._time_to_next(now))
            return None

    def _find_step(self, now: float) -> Callable[[], None] | None:
        if self._child is None:
            return None if self._restarts.resting else self._start_engine
        if (due := self._due()) is not None and now >= due:
            self._start_by = None
            for job in self._running:
                job.due = None
            return self._child.kill
        if not self._ready:
            return None
        line = self._next_line(now)
        return partial(self._child.send, line) if line else None

    def _next_line(self, now: float) -> bytes | None:
        """What to tell the engine: to stop a job it has, or the next job."""
        self._make_way(now)
        for job in self._running:
            if job.wanted != "end" and not job.stop_sent:
                job.stop_sent = True
                job.due = now + (self._limits.stop if job.started else self._limits.stop_loading)
                return dump_command(Stop(job.id))
        return self._hand_over(now)

    def _due(self) -> float | None:
        """When the engine must have said something."""
        due = [job.due for job in self._running if job.due is not None]
        return min([*due, *([] if self._start_by is None else [self._start_by])], default=None)

    def _has_room(self, job: Job) -> bool:
        """Whether this engine takes the job now; beside others only where no engine is idle."""
        if self._running and self._work.has_idle_engine():
            return False
        return fits_beside(job, self._running, self._limits.runs_at_once)

    def _make_way(self, now: float) -> None:
        """Stop long work for a job that can be neither taken in beside it nor by another engine."""
        job = self._queue.next()
        if job is None or self._work.has_idle_engine() or self._has_room(job):
            return
        if job.lane == "interactive":
            for other in that_give_way(job, self._running, self._limits.runs_at_once):
                other.wanted = "give way"
        elif rested := that_had_its_turn(self._running, now - self._limits.turn):
            rested.wanted = "take turns"

    def _hand_over(self, now: float) -> bytes | None:
        job = self._queue.next()
        if job is None or not self._has_room(job):
            return None
        self._queue.take()
        self._running.append(job)
        job.view = replace(job.view, state="loading")
        job.taken_at, job.taken_found = now, job.found
        job.due = now + self._limits.silence
        self._work.note_busy()
        self._changed.notify_all()
        return dump_command(job.command)

    def _start_engine(self) -> None:
        try:
            child = self._start_child(self._on_line, self._on_end)
        except OSError as error:
            _log.error("The engine cannot be started: %s", error)
            with self._changed:
                self._note_death()
            return
        with self._changed:
            self._child = child
            self._start_by = monotonic() + self._limits.start
            self._changed.notify_all()
        child.listen()

    def _time_to_next(self, now: float) -> float | None:
        """Seconds until something is due; None when nothing is."""
        due = [when for when in (self._work.next_tidying(), self._due()) if when is not None]
        return max(0.0, min(due) - now) if due else None

    # ---- the reader's thread

    def _on_line(self, child: RunningEngine, line: bytes) -> None:
        try:
            event = parse_event(line)
            if event is None:
                _log.warning("The engine wrote a line that is not an event: %r", line[:200])
                return
            with self._changed:
                if child is self._child:
                    self._hear(event)
                    self._changed.notify_all()
        except Exception:
            _log.exception("What the engine said could not be taken in; a new engine is started.")
            with self._changed:
                if child is self._child:
                    self._give_up_engine()

    def _hear(self, event: Event) -> None:
        if isinstance(event, Ready):
            self._ready, self._start_by = True, None
            _log.info("The engine is ready: %s", event.versions)
            return
        for job in self._running:
            if not job.stop_sent:
                job.due = monotonic() + self._limits.silence
        for job in [job for job in self._running if job.id == event.job]:
            self._hear_of(job, event)

    def _hear_of(self, job: Job, event: JobEvent) -> None:
        job.started = job.started or isinstance(event, Started)
        if job.gives_way and isinstance(event, Stopped):
            self._put_back(job)
        elif not job.view.finished:
            job.view = advance(job.view, event)
            if job.view.state == "done":
                self._work.on_done(job)
        if isinstance(event, Final):
            self._running.remove(job)

    def _put_back(self, job: Job) -> None:
        if job.wanted == "give way":
            job.gave_way_found = job.found
        job.wait_again()
        self._queue.put(job)

    def _on_end(self, child: RunningEngine, status: int) -> None:
        with self._changed:
            if child is not self._child:
                return
            jobs, self._running = self._running, []
            self._child, self._ready, self._start_by = None, False, None
            try:
                if not self._closing:
                    self._after_end(jobs, status)
            except Exception:
                _log.exception("The engine's end could not be taken in; a new engine is started.")
                for job in jobs:
                    job.fail(BROKEN)
            self._changed.notify_all()

    def _after_end(self, jobs: list[Job], status: int) -> None:
        _log.warning("The engine ended with status %s.", status)
        if not any(job.stop_sent for job in jobs):  # killing one that would not stop says nothing about the next
            self._note_death()
        for job in jobs:
            if not job.view.finished:
                self._lose(job)

    def _lose(self, job: Job) -> None:
        """The engine died with this job in its hands."""
        if self._restarts.resting:
            job.fail(KEEPS_DYING)
        elif job.gives_way:
            self._put_back(job)
        elif job.gets_on or job.deaths < RETRIES:  # the others' jobs go first: this one may have been the cause
            job.deaths += 1
            job.wait_again()
            self._queue.put(job)
        else:
            job.fail(DIED)

    def _note_death(self) -> None:
        self._restarts.died(monotonic())
        if self._restarts.resting:
            for job in self._queue.jobs():
                self._queue.remove(job)
                job.fail(KEEPS_DYING)
        self._changed.notify_all()
