"""The service without an engine: a test says what the engine would send. Jobs are lost as the real ones are."""

from collections.abc import Callable
from itertools import count
from typing import Any

from specviz.core.metrics import Costs
from specviz.core.request import RunRequest
from specviz.service.job import Job, JobView, Slot, advance
from specviz.service.protocol import JobCommand, JobEvent
from specviz.service.run_store import StoredRun
from specviz.service.service import EXPIRED
from specviz.service.sessions import Sessions, Ticket


class FakeService:
    """Remembers what it was asked for; `tell` brings a job further, `expire` forgets a visitor."""

    def __init__(self) -> None:
        self.commands: list[Any] = []
        self.cancelled: list[Slot] = []
        self.started = False
        self.costs: Costs | None = None
        self.stored: dict[str, StoredRun] = {}
        self._numbers = count(1)
        self._sessions = Sessions(reconnect=3600)

    def start(self) -> None:
        self.started = True

    def submit(self, session: str, slot: Slot, make: Callable[[int], JobCommand], *, fresh: bool = False) -> int:
        command = make(next(self._numbers))
        self.commands.append(command)
        job = Job(session, slot, JobView(command.job, place=1), command)
        self._sessions.put(Ticket(command.job, session, slot, job))
        return command.job

    def view(self, job: int) -> JobView:
        found = self._sessions.ticket(job)
        return found.view if found else JobView(job, state="lost", message=EXPIRED)

    def wait(self, job: int, enough: Callable[[JobView], bool], timeout: float) -> JobView:
        return self.view(job)

    def cancel(self, session: str, slot: Slot) -> None:
        self.cancelled.append(slot)
        for ticket in self._sessions.tickets_of(session, slot):
            ticket.cancel()

    def known_costs(self, request: RunRequest) -> Costs | None:
        return self.costs

    def stored_run(self, run_id: str) -> StoredRun | None:
        return self.stored.get(run_id)

    # ---- for tests

    def tell(self, *events: JobEvent) -> None:
        for event in events:
            ticket = self._sessions.ticket(event.job)
            assert ticket, "the service has no such job"
            ticket.job.view = advance(ticket.job.view, event)

    def expire(self, session: str) -> None:
        """The session left and did not come back."""
        self._sessions.forget(session)
