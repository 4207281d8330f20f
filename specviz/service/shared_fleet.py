"""Engines that several app servers share, as one of the servers sees them: it sends its jobs, and hears what came.

The pool has the queue and the engines (`pool.Pool`). A process beside the server speaks with it (`ray_relay`), so an
end of that connection does not end the server: the jobs that are not over are sent again.
"""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import Condition, Thread
from time import monotonic
from typing import Literal

from specviz.service.child import Child, RunningEngine, StartEngine
from specviz.service.driver import KEEPS_DYING
from specviz.service.job import Job
from specviz.service.limits import Limits
from specviz.service.pool_messages import Abandon, News, Order, Put, dump_line, load_news
from specviz.service.restarts import Restarts
from specviz.service.sessions import Sessions

_log = logging.getLogger(__name__)


class SharedFleet:
    """Gives jobs to the pool. All but `close` is called with the lock held; see `fleet.Fleet` for the same locally.

    Args:
        relay: the program that speaks with the pool and its arguments, or what starts it.
        limits: how long to wait for what.
        changed: the lock; notified at each change.
        sessions: whose jobs these are; those that left are forgotten here.
        on_done: called with each job that has found everything.
    """

    def __init__(
        self,
        relay: Sequence[str] | StartEngine,
        limits: Limits,
        changed: Condition,
        sessions: Sessions,
        on_done: Callable[[Job], None],
    ) -> None:
        self._start_relay = relay if callable(relay) else partial(Child, relay)
        self._limits, self._changed, self._sessions, self._on_done = limits, changed, sessions, on_done
        self._restarts = Restarts(limits)
        self._jobs: dict[int, Job] = {}  # those that are not over, the oldest first
        self._orders: deque[Order] = deque()  # not yet sent
        self._relay: RunningEngine | None = None
        self._not_before = 0.0  # when the next relay may be started, on the monotonic clock
        self._heard: News | None = None  # None before the pool has said something
        self._closing = False
        self._thread: Thread | None = None

    def start(self) -> bool:
        """Start the thread, once; whether this call did."""
        if self._thread or self._closing:
            return False
        self._thread = Thread(target=self._drive, name="pool-driver", daemon=True)
        self._thread.start()
        return True

    def close(self) -> None:
        """Leave the pool; call it without the lock."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread:
            self._thread.join(10)

    @property
    def state(self) -> Literal["starting", "ready", "resting"]:
        """Resting: the pool's engines, or the connection to it, died too often."""
        if self._restarts.resting:
            return "resting"
        return self._heard.state if self._heard else "starting"

    @property
    def has_died(self) -> bool:
        """Whether an engine or the connection died not long ago."""
        return self._restarts.has_deaths or bool(self._heard and self._heard.has_died)

    @property
    def pids(self) -> list[int]:
        """The process id of the relay: the engines are elsewhere."""
        return [self._relay.pid] if self._relay and self._relay.pid else []

    def enqueue(self, job: Job, instead_of: Job | None = None) -> None:
        """Let the job wait for an engine; it fails at once while there is no connection for a while."""
        if not self._restarts.ask(monotonic()):
            job.fail(KEEPS_DYING)
            return
        self._jobs[job.id] = job
        if self._relay:
            self._orders.append(_put(job, instead_of))

    def abandon(self, job: Job) -> None:
        """Nobody wants this job any more."""
        job.wanted = "stop"
        if self._jobs.pop(job.id, None):
            self._orders.append(Abandon(job.id))
        if not job.view.finished:
            job.view = replace(job.view, state="cancelled")

    def place(self, job: Job) -> int | None:
        """A waiting job's place in the queue of all servers; None before the pool has said it."""
        return job.view.place

    # ---- the fleet's thread

    def _drive(self) -> None:
        while not self._closing:
            try:
                if step := self._next_step():
                    step()  # without the lock: it may start a process or fill a pipe
            except Exception:
                _log.exception("The connection to the engine pool failed; it is made again.")
                with self._changed:
                    self._changed.wait_for(lambda: self._closing, self._limits.pause)
                if self._relay:
                    self._relay.kill()
        if self._relay:
            self._relay.close()

    def _next_step(self) -> Callable[[], None] | None:
        """Wait until there is something to do; None when the service closes."""
        with self._changed:
            while not self._closing:
                now = monotonic()
                self._forget_gone(now)
                if self._relay is None:
                    if not self._restarts.resting and now >= self._not_before:
                        return self._connect
                elif self._orders:
                    return partial(self._relay.send, dump_line(self._orders.popleft()))
                self._changed.wait(self._time_to_next(now))
            return None

    def _connect(self) -> None:
        try:
            relay = self._start_relay(self._on_line, self._on_end)
        except OSError as error:
            _log.error("The connection to the engine pool cannot be started: %s", error)
            with self._changed:
                self._note_death()
            return
        with self._changed:
            self._relay = relay
            self._orders.clear()
            self._orders.extend(_put(job) for job in self._jobs.values())
        relay.listen()

    def _time_to_next(self, now: float) -> float | None:
        waiting = self._relay is None and not self._restarts.resting
        due = [when for when in (self._sessions.next_to_forget(), self._not_before if waiting else None) if when]
        return max(0.0, min(due) - now) if due else None

    def _forget_gone(self, now: float) -> None:
        for ticket in self._sessions.forget_gone(now):
            if not self._sessions.wanted(ticket.job):
                self.abandon(ticket.job)

    # ---- the reader's thread

    def _on_line(self, relay: RunningEngine, line: bytes) -> None:
        try:
            news = load_news(line)
        except ValueError:
            _log.warning("The engine pool wrote a line that is not news: %r", line[:80])
            return
        with self._changed:
            if relay is self._relay:
                self._hear(news)
                self._changed.notify_all()

    def _hear(self, news: News) -> None:
        self._heard = news
        for number, view in news.views.items():
            job = self._jobs.get(number)
            if job is None:
                continue  # nobody wants it any more
            job.view = replace(view, job=number)
            if view.finished:
                del self._jobs[number]
            if view.state == "done":
                self._on_done(job)

    def _on_end(self, relay: RunningEngine, status: int) -> None:
        with self._changed:
            if relay is not self._relay:
                return
            self._relay, self._heard = None, None
            if not self._closing:
                _log.warning("The connection to the engine pool ended with status %s; it is made again.", status)
                self._note_death()
            self._changed.notify_all()

    def _note_death(self) -> None:
        """Every job that is not over waits again; after too many deaths they end with one sentence."""
        self._restarts.died(monotonic())
        self._not_before = monotonic() + self._limits.pause
        for job in self._jobs.values():
            job.wait_again()
            if self._restarts.resting:
                job.fail(KEEPS_DYING)
        if self._restarts.resting:
            self._jobs.clear()
        self._changed.notify_all()


def _put(job: Job, instead_of: Job | None = None) -> Put:
    old = instead_of.id if instead_of else None
    return Put(job.id, job.session, job.slot, job.address, job.command, job.view, old)
