"""The service without an engine: a test says what the engine would send. All else is the real one."""

from collections.abc import Callable
from itertools import count
from typing import Any

from specviz.service import EngineService, JobView
from specviz.service.job import Slot, advance
from specviz.service.protocol import JobCommand, JobEvent
from tests.support.known import known


class FakeService(EngineService):
    """Remembers what it was asked for; `tell` brings a job further."""

    def __init__(self) -> None:
        super().__init__([])
        self._numbers = count(1)
        self._fleet.drivers[0].ready = True  # so that no job says that the engine is starting
        self.commands: list[Any] = []
        self.cancelled: list[Slot] = []
        self.started = False

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

    def tell(self, *events: JobEvent) -> None:
        for event in events:
            job = known(self._sessions.ticket(event.job)).job
            job.view = advance(job.view, event)

    def expire(self, session: str) -> None:
        """It left and did not come back."""
        self.forget({session})
