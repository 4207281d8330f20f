"""A server's connection to an engine pool in this process: what the relay and Ray do, without either."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Event, Thread
from uuid import uuid4

from specviz.service.child import OnEnd, OnLine
from specviz.service.pool import Pool


class PoolLink:
    """See `specviz.service.child.RunningEngine`. `cut` ends it as when the relay was killed: the pool is not told."""

    def __init__(self, pool: Pool, on_line: OnLine, on_end: OnEnd) -> None:
        self.server = uuid4().hex
        self._pool, self._on_line, self._on_end = pool, on_line, on_end
        self._orders: SimpleQueue[bytes | None] = SimpleQueue()
        self._ended = Event()
        self._threads = [Thread(target=work, daemon=True) for work in (self._hand_on, self._read)]

    @property
    def pid(self) -> int:
        return 0

    def listen(self) -> None:
        for thread in self._threads:
            thread.start()

    def send(self, line: bytes) -> None:
        self._orders.put(line)

    def kill(self) -> None:
        self.cut()

    def cut(self) -> None:
        self._ended.set()
        self._orders.put(None)

    def close(self, patience: float = 2.0) -> None:
        self._ended.set()
        self._orders.put(None)
        self._pool.leave(self.server)

    def _hand_on(self) -> None:
        while (line := self._orders.get()) is not None:
            self._pool.obey(self.server, line)

    def _read(self) -> None:
        while not self._ended.is_set():
            line = self._pool.news(self.server, 0.1)
            if not self._ended.is_set():
                self._on_line(self, line)
        self._on_end(self, 1)


def link_to(pool: Pool, links: list[PoolLink] | None = None) -> Callable[[OnLine, OnEnd], PoolLink]:
    """What starts connections to this pool; each is added to `links`."""

    def start(on_line: OnLine, on_end: OnEnd) -> PoolLink:
        link = PoolLink(pool, on_line, on_end)
        if links is not None:
            links.append(link)
        return link

    return start
