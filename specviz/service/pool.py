"""One queue and its engines for several app servers: the same fleet as in a server, and a mailbox for each server.

So the order of visitors, cancelling and restarts are the local ones: a visitor's address counts as one whichever server
they came through. No Ray in here; `ray_actors.PoolActor` is this on a cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from threading import Condition, Event, Thread
from time import monotonic

from specviz.service.child import StartEngine
from specviz.service.fleet import Fleet
from specviz.service.job import Job, JobView
from specviz.service.limits import Limits
from specviz.service.pool_messages import News, Order, Put, dump_line, load_order
from specviz.service.sessions import Sessions

SILENCE = 30.0  # seconds without a word from a server, after which its jobs end
GAP = 0.03  # seconds in which changes are gathered into one message
SHARE = 4.0  # times as long as a message took to make, if that is longer


@dataclass(slots=True)
class _Server:
    """One app server that shares the pool."""

    heard: float  # when it last asked for news, on the monotonic clock
    jobs: dict[int, Job] = field(default_factory=dict)  # by the server's own numbers
    sent: dict[int, tuple[JobView, int | None]] = field(default_factory=dict)  # what it was last told: view and place
    state: tuple[str, bool] | None = None  # of the engines, as it was last told
    seconds: float = 0.0  # to make the last message


class Pool:
    """The engines of several servers.

    Args:
        start_engine: starts an engine; or a program and its arguments.
        engines: how many.
        limits: how long to wait for what.
        silence: seconds after which a server that says nothing is taken for dead.
        on_idle: called once no server has been there for that long.
    """

    def __init__(
        self,
        start_engine: Sequence[str] | StartEngine,
        engines: int,
        limits: Limits | None = None,
        silence: float = SILENCE,
        on_idle: Callable[[], None] = lambda: None,
    ) -> None:
        self._changed = Condition()  # guards all below; notified at each change
        self._silence, self._on_idle = silence, on_idle
        self._numbers = count(1)
        self._servers: dict[str, _Server] = {}
        limits = limits or pool_limits(engines)
        nobody = Sessions(limits.reconnect)  # which visitors have left, their server knows
        self._fleet = Fleet(start_engine, limits, self._changed, nobody, lambda _: None, engines)
        self._closing = Event()
        self._watch = Thread(target=self._forget_silent, name="pool-watch", daemon=True)

    def start(self) -> None:
        """Start the engines; returns at once."""
        with self._changed:
            self._fleet.start()
        self._watch.start()

    def close(self) -> None:
        """End the engines and the threads."""
        self._closing.set()
        self._fleet.close()

    def obey(self, server: str, line: bytes) -> None:
        """Do what a server says.

        Raises:
            ValueError: the line is no order.
        """
        order = load_order(line)
        with self._changed:
            self._take(self._server(server), server, order)
            self._changed.notify_all()

    def news(self, server: str, patience: float) -> bytes:
        """A line with what has changed for this server; waits up to `patience` seconds for a change."""
        with self._changed:
            this = self._server(server)
            self._changed.wait_for(lambda: self._has_news(this), patience)
        self._closing.wait(max(GAP, SHARE * this.seconds))  # a run changes with every round: gather a few
        began = monotonic()
        with self._changed:
            this.heard = monotonic()
            news = self._gather(this)
        line = dump_line(news)
        this.seconds = monotonic() - began
        return line

    def leave(self, server: str) -> None:
        """A server ends: nobody wants its jobs any more."""
        with self._changed:
            self._forget(server)
            self._changed.notify_all()

    @property
    def servers(self) -> int:
        """How many servers share the pool."""
        return len(self._servers)

    def _server(self, name: str) -> _Server:
        this = self._servers.setdefault(name, _Server(monotonic()))
        this.heard = monotonic()
        return this

    def _take(self, this: _Server, name: str, order: Order) -> None:
        if not isinstance(order, Put):
            if job := this.jobs.pop(order.job, None):
                this.sent.pop(order.job, None)
                self._fleet.abandon(job)
            return
        number = next(self._numbers)
        view = replace(order.view, job=number, state="waiting", place=None)
        command = replace(order.command, job=number)
        job = Job(f"{name} {order.session}", order.slot, view, command, address=order.address)
        this.jobs[order.job] = job
        self._fleet.enqueue(job, this.jobs.get(order.instead_of or 0))

    def _has_news(self, this: _Server) -> bool:
        return this.state != self._state() or bool(self._changes(this))

    def _changes(self, this: _Server) -> list[tuple[int, JobView]]:
        """The server's jobs that are not as it was last told. A job that waits also changes by its place."""
        places = self._fleet.places()
        changes = []
        for number, job in this.jobs.items():
            view, place = this.sent.get(number, (None, None))
            if view is not job.view or place != places.get(job.id):
                changes.append((number, replace(job.view, place=places.get(job.id))))
        return changes

    def _state(self) -> tuple[str, bool]:
        return self._fleet.state, self._fleet.has_died

    def _gather(self, this: _Server) -> News:
        changes = self._changes(this)
        for number, told in changes:
            this.sent[number] = this.jobs[number].view, told.place
            if told.finished:
                del this.jobs[number], this.sent[number]
        this.state = self._state()
        return News(self._fleet.state, self._fleet.has_died, dict(changes))

    def _forget(self, name: str) -> None:
        this = self._servers.pop(name, None)
        for job in this.jobs.values() if this else ():
            self._fleet.abandon(job)

    def _forget_silent(self) -> None:
        """A server that died cannot say so. Without any server, the engines are of no use."""
        nobody_since = monotonic()
        while not self._closing.wait(min(1.0, self._silence / 4)):
            with self._changed:
                now = monotonic()
                for name in [name for name, this in self._servers.items() if now - this.heard > self._silence]:
                    self._forget(name)
                    self._changed.notify_all()
                nobody_since = now if self._servers else nobody_since
            if monotonic() - nobody_since > self._silence:
                self._on_idle()
                return


def pool_limits(engines: int) -> Limits:
    """The local limits; but all engines of a node that is gone die at once, and that says nothing about the others."""
    return Limits(deaths=Limits().deaths * engines)
