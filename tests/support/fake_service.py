"""The service without an engine: a test says what the engine would send. Jobs are lost as the real ones are."""

from collections.abc import Callable
from itertools import count
from typing import Any

from specviz.service.job import Job, JobView, Slot, advance
from specviz.service.protocol import JobCommand, JobEvent, Stopped
from specviz.service.service import EXPIRED
from specviz.service.sessions import Sessions


class FakeService:
    """Remembers what it was asked for; `tell` brings a job further, `expire` forgets a visitor."""

    def __init__(self) -> None:
        self.commands: list[Any] = []
        self.cancelled: list[Slot] = []
        self.started = False
        self._numbers = count(1)
        self._sessions = Sessions(absence=3600)

    def start(self) -> None:
        self.started = True

    def submit(self, session: str, slot: Slot, make: Callable[[int], JobCommand]) -> int:
        command = make(next(self._numbers))
        self.commands.append(command)
        self._sessions.put(Job(session, slot, JobView(command.job, place=1), command))
        return command.job

    def view(self, job: int) -> JobView:
        found = self._sessions.job(job)
        return found.view if found else JobView(job, state="lost", message=EXPIRED)

    def wait(self, job: int, rounds: int, timeout: float) -> JobView:
        return self.view(job)

    def cancel(self, session: str, slot: Slot) -> None:
        self.cancelled.append(slot)
        for job in self._sessions.jobs_of(session, slot):
            if not job.view.finished:
                job.view = advance(job.view, Stopped(job.id))

    def busy(self, session: str) -> bool:
        return any(not job.view.finished for job in self._sessions.jobs_of(session))

    def heartbeat(self, session: str) -> None:
        pass

    # ---- for tests

    def tell(self, *events: JobEvent) -> None:
        """What the engine sends about a job."""
        for event in events:
            job = self._sessions.job(event.job)
            assert job, "the service has no such job"
            job.view = advance(job.view, event)

    def expire(self, session: str) -> None:
        """The session was not heard of for too long."""
        self._sessions.forget(session)
