"""The service without an engine: a test says what the engine would send. All else is the real one."""

from collections.abc import Callable
from itertools import count
from typing import Any

from specviz.core.metrics import Costs
from specviz.core.request import RunRequest
from specviz.service import EngineService, JobView
from specviz.service.job import Slot, advance
from specviz.service.protocol import JobCommand, JobEvent


class FakeService(EngineService):
    """Remembers what it was asked for; `tell` brings a job further, `expire` forgets a visitor."""

    def __init__(self) -> None:
        super().__init__([])
        self._numbers = count(1)
        self._fleet.drivers[0].ready = True  # so that no job says that the engine is starting
        self.commands: list[Any] = []
        self.cancelled: list[Slot] = []
        self.started = False
        self.costs: Costs | None = None

    def start(self) -> None:
        self.started = True

    def submit(self, session: str, slot: Slot, make: Callable[[int], JobCommand], *, fresh: bool = False) -> int:
        def noted(number: int) -> JobCommand:
            self.commands.append(make(number))
            return self.commands[-1]

        return super().submit(session, slot, noted, fresh=fresh)

    def wait(self, job: int, enough: Callable[[JobView], bool], timeout: float) -> JobView:
        return self.view(job)

    def cancel(self, session: str, slot: Slot) -> None:
        self.cancelled.append(slot)
        super().cancel(session, slot)

    def known_costs(self, request: RunRequest) -> Costs | None:
        return self.costs

    # ---- for tests

    def tell(self, *events: JobEvent) -> None:
        for event in events:
            ticket = self._sessions.ticket(event.job)
            assert ticket, "the service has no such job"
            ticket.job.view = advance(ticket.job.view, event)

    def expire(self, session: str) -> None:
        """The session left and did not come back."""
        self.forget({session})
