"""The service as pages use it: submit a job, look at it, cancel it. Callers never wait for the engine."""

import atexit
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from threading import Condition
from time import monotonic
from typing import Literal

from specviz.core.errors import InputError
from specviz.service.admission import admit
from specviz.service.child import ENGINE
from specviz.service.driver import EngineDriver
from specviz.service.job import Job, JobView, Slot
from specviz.service.limits import Limits
from specviz.service.protocol import JobCommand
from specviz.service.results import RunResult
from specviz.service.sessions import Sessions

STARTING = "The engine is starting and loading its models."
EXPIRED = "This run has expired."


class EngineService:
    """Feeds one engine process from a fair queue, and has each session's latest job for every slot.

    A slot is what a job is for, such as "run" or "sweep". A new job replaces only the session's old job of the same
    slot. A session that is not heard of (`submit`, `view`, `wait`, `heartbeat`) for a while has left.
    """

    def __init__(self, command: Sequence[str] = ENGINE, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._numbers = count(1)
        self._changed = Condition()  # guards all below; notified at each change
        self._sessions = Sessions(self._limits.absence)
        self._driver = EngineDriver(command, self._limits, self._changed, self._sessions)

    def start(self) -> None:
        """Start the engine, once; returns at once."""
        with self._changed:
            if self._driver.start():
                atexit.register(self.close)

    def submit(self, session: str, slot: Slot, make: Callable[[int], JobCommand]) -> int:
        """Ask for what `make` makes of a job number; returns that number. What is wrong with it is in its view."""
        command = make(next(self._numbers))
        job = Job(session, slot, JobView(command.job), command)
        try:
            admit(command)
        except InputError as error:
            job.fail(str(error))
        with self._changed:
            self._sessions.hear(session, monotonic())
            if not job.view.finished:
                self._driver.enqueue(job)  # in the place of the session's old one, where that waits
            for old in self._sessions.put(job):
                self._driver.abandon(old)
            self._changed.notify_all()
        return job.id

    def busy(self, session: str) -> bool:
        """Whether the session has a job that is not over."""
        with self._changed:
            return any(not job.view.finished for job in self._sessions.jobs_of(session))

    def view(self, job: int) -> JobView:
        """What is known of a job now; cheap."""
        with self._changed:
            self._hear_from(job)
            return self._snapshot(job)

    def wait(self, job: int, rounds: int = 1, timeout: float = 0.5) -> JobView:
        """The job's view as soon as it has this many rounds, is done drafting, or `timeout` seconds have passed."""

        def far_enough() -> bool:
            view = self._snapshot(job)
            run = view.result_as(RunResult)
            return view.finished or (run is not None and (run.rounds >= rounds or run.plain_tokens > 0))

        with self._changed:
            self._hear_from(job, timeout)
            self._changed.wait_for(far_enough, timeout)
            self._hear_from(job)
            return self._snapshot(job)

    def cancel(self, session: str, slot: Slot) -> None:
        """End the session's job in this slot; what it has so far stays in its view."""
        with self._changed:
            for job in self._sessions.jobs_of(session, slot):
                self._driver.abandon(job)
            self._changed.notify_all()

    def heartbeat(self, session: str) -> None:
        """The session is still there."""
        with self._changed:
            self._sessions.hear(session, monotonic())

    def leave(self, session: str) -> None:
        """The session has gone: end its jobs, forget its results."""
        with self._changed:
            for job in self._sessions.forget(session):
                self._driver.abandon(job)
            self._changed.notify_all()

    @property
    def state(self) -> Literal["starting", "ready", "resting"]:
        """The engine's: resting is after it died too often."""
        with self._changed:
            return self._driver.state

    @property
    def engine_pid(self) -> int | None:
        """The engine's process id; None while there is no engine."""
        with self._changed:
            return self._driver.pid

    def close(self) -> None:
        """End the engine and the service's threads."""
        self._driver.close()
        atexit.unregister(self.close)

    def _snapshot(self, number: int) -> JobView:
        job = self._sessions.job(number)
        if job is None:
            return JobView(number, state="lost", message=EXPIRED)
        if job.view.state != "waiting":
            return job.view
        message = "" if self._driver.state == "ready" else STARTING
        return replace(job.view, place=self._driver.place(job), message=message)

    def _hear_from(self, number: int, stays: float = 0.0) -> None:
        """The session of this job is there, and will be for `stays` seconds."""
        if job := self._sessions.job(number):
            self._sessions.hear(job.session, monotonic() + stays)
