"""The service as pages use it: submit a run, look at it, cancel it. It feeds one engine from a fair queue.

Three kinds of threads meet here, under one lock: callers (pages; they never wait for the engine), the driver (starts
the engine, writes to it, kills it when it hangs) and the reader of the engine's lines.
"""

import atexit
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Condition, Thread
from time import monotonic
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.request import RunRequest
from specviz.service.admission import admit
from specviz.service.child import ENGINE, Child
from specviz.service.fair_queue import FairQueue
from specviz.service.job import Job, JobView, Kind, advance
from specviz.service.limits import Limits
from specviz.service.protocol import (
    Calibrate,
    Event,
    Final,
    JobCommand,
    JobEvent,
    Ready,
    Run,
    Started,
    Stop,
    Stopped,
    dump_command,
    parse_event,
)
from specviz.service.restarts import Restarts

DIED = "The engine stopped while decoding and was restarted; run again."
KEEPS_DYING = "The engine keeps stopping, so live runs are off for now; try again in a minute."
STARTING = "The engine is starting and loading its models."
NOT_KEPT = "This run is no longer kept."

_log = logging.getLogger(__name__)


class EngineService:
    """Feeds one engine process from a fair queue, and keeps each session's latest jobs.

    A session has at most one interactive job (a run) and one background job (a calibration, a sweep); a new one
    replaces the old one of its kind. A session that is not heard of (`submit`, `view`, `wait`, `heartbeat`) for a
    while has left.
    """

    def __init__(self, command: Sequence[str] = ENGINE, limits: Limits | None = None) -> None:
        self._command = command
        self._limits = limits or Limits()
        self._numbers = count(1)
        self._driver: Thread | None = None
        self._changed = Condition()  # guards all below; notified at each change
        self._closing = False
        self._queue = FairQueue()
        self._jobs: dict[int, Job] = {}  # waiting, running, and finished ones that are still kept
        self._heard: dict[str, float] = {}  # when each session was last heard of
        self._child: Child | None = None
        self._ready = False
        self._running: Job | None = None  # the one the engine has
        self._deadline: float | None = None  # the engine must have said something by then
        self._restarts = Restarts(self._limits)

    # ---- for pages

    def start(self) -> None:
        """Start the engine, once; returns at once."""
        with self._changed:
            if self._driver is None and not self._closing:
                self._driver = Thread(target=self._drive, name="engine-driver", daemon=True)
                self._driver.start()
                atexit.register(self.close)

    def submit(self, session: str, request: RunRequest) -> int:
        """Ask for a run; returns its job number. What is wrong with the request shows in the job's view."""
        return self.submit_task(session, "interactive", lambda job: Run(job, request))

    def submit_background(self, session: str, request: RunRequest) -> int:
        """Ask for the costs of the request's pair, measured when nobody waits for a run; returns the job number."""
        return self.submit_task(session, "background", lambda job: Calibrate(job, request))

    def submit_task(self, session: str, kind: Kind, make: Callable[[int], JobCommand]) -> int:
        """Ask for what `make` makes of a job number; returns that number. What is wrong with it shows in its view."""
        return self._submit(session, kind, make(next(self._numbers)))

    def busy(self, session: str, kind: Kind) -> bool:
        """Whether the session has a job of this kind that is not over."""
        with self._changed:
            return any(not job.view.finished for job in self._jobs_of(session, kind))

    def view(self, job: int) -> JobView:
        """What is known of a job now; cheap."""
        with self._changed:
            self._hear_from(job)
            return self._snapshot(job)

    def wait(self, job: int, rounds: int = 1, timeout: float = 0.5) -> JobView:
        """The job's view as soon as it has this many rounds, is done decoding, or `timeout` seconds have passed."""

        def far_enough() -> bool:
            view = self._snapshot(job)
            return view.rounds >= rounds or view.finished or view.state == "comparing"

        with self._changed:
            self._hear_from(job, timeout)
            self._changed.wait_for(far_enough, timeout)
            self._hear_from(job)
            return self._snapshot(job)

    def cancel(self, session: str, kind: Kind = "interactive") -> None:
        """End the session's job of this kind; what it has so far stays in its view."""
        with self._changed:
            for job in self._jobs_of(session, kind):
                self._abandon(job)
            self._changed.notify_all()

    def heartbeat(self, session: str) -> None:
        """The session is still there."""
        with self._changed:
            self._heard[session] = monotonic()

    def leave(self, session: str) -> None:
        """The session has gone: end its jobs, forget its results."""
        with self._changed:
            self._forget(session)
            self._changed.notify_all()

    @property
    def state(self) -> Literal["starting", "ready", "resting"]:
        """The engine's: resting is after it died too often."""
        with self._changed:
            if self._restarts.resting:
                return "resting"
            return "ready" if self._ready else "starting"

    @property
    def engine_pid(self) -> int | None:
        """The engine's process id; None while there is no engine."""
        with self._changed:
            return self._child.pid if self._child else None

    def close(self) -> None:
        """End the engine and the service's threads."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._driver:
            self._driver.join(10)
        atexit.unregister(self.close)

    # ---- jobs; called with the lock held, but for _submit

    def _submit(self, session: str, kind: Kind, command: JobCommand) -> int:
        job = Job(session, JobView(command.job, kind), command)
        try:
            admit(command)
        except InputError as error:
            job.fail(str(error))
        with self._changed:
            self._heard[session] = monotonic()
            if not job.view.finished:
                self._enqueue(job)
            for old in self._jobs_of(session, kind):
                self._abandon(old)
                del self._jobs[old.id]
            self._jobs[job.id] = job
            self._changed.notify_all()
        return job.id

    def _enqueue(self, job: Job) -> None:
        if self._restarts.ask(monotonic()):
            self._queue.put(job)  # in the place of the session's old one, where that waits
        else:
            job.fail(KEEPS_DYING)

    def _snapshot(self, number: int) -> JobView:
        job = self._jobs.get(number)
        if job is None:
            return JobView(number, "interactive", state="cancelled", message=NOT_KEPT)
        if job.view.state != "waiting":
            return job.view
        return replace(job.view, place=self._queue.place(job), message="" if self._ready else STARTING)

    def _hear_from(self, number: int, stays: float = 0.0) -> None:
        """The session of this job is there, and will be for `stays` seconds."""
        if job := self._jobs.get(number):
            self._heard[job.session] = monotonic() + stays

    def _jobs_of(self, session: str, kind: Kind) -> list[Job]:
        return [job for job in self._jobs.values() if job.session == session and job.kind == kind]

    def _abandon(self, job: Job) -> None:
        """Nobody wants this job any more; if the engine has it, the driver tells it to stop."""
        self._queue.remove(job)
        job.wanted = "stop"
        if not job.view.finished:
            job.view = replace(job.view, state="cancelled")

    def _forget(self, session: str) -> None:
        for job in [job for job in self._jobs.values() if job.session == session]:
            self._abandon(job)
            del self._jobs[job.id]
        self._heard.pop(session, None)

    # ---- the driver's thread

    def _drive(self) -> None:
        while (step := self._next_step()) is not None:
            step()  # without the lock: it may start a process or fill a pipe
        if self._child:
            self._child.close()

    def _next_step(self) -> Callable[[], None] | None:
        """Wait until there is something to do; None when the service closes."""
        with self._changed:
            while not self._closing:
                now = monotonic()
                self._forget_absent(now)
                if step := self._find_step(now):
                    return step
                self._changed.wait(self._time_to_next(now))
            return None

    def _find_step(self, now: float) -> Callable[[], None] | None:
        if self._child is None:
            return None if self._restarts.resting else self._start_engine
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            return self._child.kill
        if not self._ready:
            return None
        line = self._next_line(now)
        return partial(self._child.send, line) if line else None

    def _next_line(self, now: float) -> bytes | None:
        """What to tell the engine: the next job, or to stop the one it has."""
        job = self._running
        if job is None:
            return self._hand_over(now)
        if job.kind == "background" and job.wanted == "end" and self._queue.has_interactive():
            job.wanted = "give way"
        if job.wanted == "end" or job.stop_sent:
            return None
        job.stop_sent = True
        self._deadline = now + (self._limits.stop if job.started else self._limits.stop_loading)
        return dump_command(Stop(job.id))

    def _hand_over(self, now: float) -> bytes | None:
        job = self._running = self._queue.take()
        if job is None:
            return None
        job.view = replace(job.view, state="loading")
        self._deadline = now + self._limits.silence
        self._changed.notify_all()
        return dump_command(job.command)

    def _start_engine(self) -> None:
        try:
            child = Child(self._command, self._on_line, self._on_end)
        except OSError as error:
            _log.error("The engine cannot be started: %s", error)
            with self._changed:
                self._note_death()
            return
        with self._changed:
            self._child = child
            self._deadline = monotonic() + self._limits.start
            self._changed.notify_all()
        child.listen()

    def _forget_absent(self, now: float) -> None:
        for session, heard in list(self._heard.items()):
            if now - heard >= self._limits.absence:
                self._forget(session)
                self._changed.notify_all()

    def _time_to_next(self, now: float) -> float | None:
        """Seconds until something is due; None when nothing is."""
        due = [heard + self._limits.absence for heard in self._heard.values()]
        if self._deadline is not None:
            due.append(self._deadline)
        return max(0.0, min(due) - now) if due else None

    # ---- the reader's thread

    def _on_line(self, child: Child, line: bytes) -> None:
        event = parse_event(line)
        if event is None:
            _log.warning("The engine wrote a line that is no event: %r", line[:200])
            return
        with self._changed:
            if child is self._child:
                self._hear(event)
                self._changed.notify_all()

    def _hear(self, event: Event) -> None:
        job = self._running
        if isinstance(event, Ready):
            self._ready, self._deadline = True, None
            _log.info("The engine is ready: %s", event.versions)
        elif job and job.id == event.job:
            self._hear_of(job, event)

    def _hear_of(self, job: Job, event: JobEvent) -> None:
        if not job.stop_sent:
            self._deadline = monotonic() + self._limits.silence
        job.started = job.started or isinstance(event, Started)
        if job.wanted == "give way" and isinstance(event, Stopped):
            self._put_back(job)
        elif not job.view.finished:
            job.view = advance(job.view, event)
        if isinstance(event, Final):
            self._running, self._deadline = None, None

    def _put_back(self, job: Job) -> None:
        job.give_way()
        self._queue.put_back(job)

    def _on_end(self, child: Child, status: int) -> None:
        with self._changed:
            if child is not self._child:
                return
            job, self._running = self._running, None
            self._child, self._ready, self._deadline = None, False, None
            if self._closing:
                return
            _log.warning("The engine ended with status %s.", status)
            if not (job and job.stop_sent):  # killing one that would not stop says nothing of the next
                self._note_death()
            if job:
                self._lose(job)
            self._changed.notify_all()

    def _lose(self, job: Job) -> None:
        """The engine died with this job in its hands."""
        if job.view.finished:
            return
        if self._restarts.resting:
            job.fail(KEEPS_DYING)
        elif job.wanted == "give way":
            self._put_back(job)
        else:
            job.fail(DIED)

    def _note_death(self) -> None:
        self._restarts.died(monotonic())
        if self._restarts.resting:
            for job in self._queue.jobs():
                self._queue.remove(job)
                job.fail(KEEPS_DYING)
        self._changed.notify_all()
