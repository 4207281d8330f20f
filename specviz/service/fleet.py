"""The engines behind the one fair queue. One is enough on a small machine; SPECVIZ_ENGINES asks for more."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Condition
from time import monotonic
from typing import Literal

from specviz.core.errors import InputError
from specviz.service.child import Child, StartEngine
from specviz.service.driver import KEEPS_DYING, EngineDriver, SharedWork
from specviz.service.fair_queue import FairQueue
from specviz.service.job import Job
from specviz.service.limits import Limits
from specviz.service.restarts import Restarts
from specviz.service.sessions import Sessions

ENGINES_VARIABLE = "SPECVIZ_ENGINES"
MOST_ENGINES = 64


def engines_wanted() -> int:
    """The number of engine processes that the operator asks for.

    Raises:
        InputError: SPECVIZ_ENGINES is not a number from 1 to 64.
    """
    text = os.environ.get(ENGINES_VARIABLE, "1")
    if not text.isdecimal() or not 1 <= int(text) <= MOST_ENGINES:
        raise InputError(
            f"{ENGINES_VARIABLE} must be a whole number from 1 to {MOST_ENGINES}, or ray: and the address of a Ray "
            f"cluster, not {text[:20]!r}."
        )
    return int(text)


class Fleet:
    """Gives jobs to engines. All but `close` is called with the lock held.

    Args:
        command: an engine's program and its arguments, or what starts one.
        limits: how long to wait for what.
        changed: the lock; notified at each change.
        sessions: whose jobs these are; those that left are forgotten here.
        on_done: called with each job that has found everything.
        engines: how many processes.
    """

    def __init__(
        self,
        command: Sequence[str] | StartEngine,
        limits: Limits,
        changed: Condition,
        sessions: Sessions,
        on_done: Callable[[Job], None],
        engines: int = 1,
    ) -> None:
        self._sessions = sessions
        self._queue = FairQueue()
        self._restarts = Restarts(limits)
        work = SharedWork(
            self._queue,
            self._restarts,
            on_done,
            self._forget_gone,
            sessions.next_to_forget,
            self._note_busy,
            self._has_idle_engine,
        )
        start_engine = command if callable(command) else partial(Child, command)
        self.drivers = [EngineDriver(start_engine, limits, changed, work) for _ in range(engines)]

    def start(self) -> bool:
        """Start the drivers' threads, once; whether this call did."""
        return all([driver.start() for driver in self.drivers])

    def close(self) -> None:
        """End the engines and the threads; call it without the lock."""
        for driver in self.drivers:
            driver.close()

    @property
    def state(self) -> Literal["starting", "ready", "resting"]:
        """Resting: engines died too often, so none is started for a while."""
        if self._restarts.resting:
            return "resting"
        return "ready" if any(driver.ready for driver in self.drivers) else "starting"

    @property
    def has_died(self) -> bool:
        """Whether an engine died not long ago."""
        return self._restarts.has_deaths

    def enqueue(self, job: Job, instead_of: Job | None = None) -> None:
        """Let the job wait for an engine; it fails at once while the engines rest."""
        if self._restarts.ask(monotonic()):
            self._queue.put(job, instead_of)
        else:
            job.fail(KEEPS_DYING)

    def abandon(self, job: Job) -> None:
        """Nobody wants this job any more. If an engine has it, its driver sends a Stop."""
        self._queue.remove(job)
        job.wanted = "stop"
        if not job.view.finished:
            job.view = replace(job.view, state="cancelled")

    def place(self, job: Job) -> int | None:
        """A waiting job's place in the queue."""
        return self._queue.place(job)

    def places(self) -> dict[int, int]:
        """The places of all waiting jobs, by their numbers; 1 is next."""
        return {job.id: place for place, job in enumerate(self._queue.jobs(), start=1)}

    @property
    def pids(self) -> list[int]:
        """The process ids of the engines that run on this machine."""
        return [driver.pid for driver in self.drivers if driver.pid]

    def _forget_gone(self, now: float) -> None:
        for ticket in self._sessions.forget_gone(now):
            if not self._sessions.wanted(ticket.job):
                self.abandon(ticket.job)

    def _note_busy(self) -> None:
        """Every running job remembers how many engines were busy beside it: that can slow what it times."""
        busy = [driver.running for driver in self.drivers if driver.running]
        for job in (job for jobs in busy for job in jobs):
            job.view = replace(job.view, beside=max(job.view.beside, len(busy) - 1))

    def _has_idle_engine(self) -> bool:
        return any(driver.ready and not driver.running for driver in self.drivers)
