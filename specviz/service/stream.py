"""Engines behind a URL, such as those of `serve_engines` on a cluster: each job is one POST, answered line by line.

The lines are those that an engine process writes. While a job waits for a free engine, or its engine is silent, the
stream has a line every few seconds all the same (`protocol.Alive`), so a stream without any line for long is lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread

from httpx2 import AsyncClient, HTTPError, Response, Timeout

from specviz.service import protocol as wire
from specviz.service.child import OnEnd, OnLine

CONNECT = 10.0  # seconds

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineAddress:
    """Engines behind a URL, and what lets this server in."""

    url: str
    token: str
    silence: float = 30.0  # seconds without any line, after which a stream is lost
    greetings: int = 10  # times that engines which do not answer are asked, before that counts as an end ...
    pause: float = 1.0  # ... with so many seconds between

    def client(self) -> AsyncClient:
        waits = Timeout(self.silence, connect=CONNECT)
        return AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {self.token}"}, timeout=waits)


class LostStream(Exception):
    """A stream that ended before its job did, or was refused."""


class StreamEngine:
    """Some engine behind the URL, as `fleet.EngineDriver` sees one; which one does a job, is known there only."""

    def __init__(self, where: EngineAddress, on_line: OnLine, on_end: OnEnd) -> None:
        self._where, self._on_line, self._on_end = where, on_line, on_end
        self._loop = asyncio.new_event_loop()
        self._orders: asyncio.Queue[wire.JobCommand | wire.Stop | None] = asyncio.Queue()
        self._streams: dict[int, asyncio.Task[None]] = {}  # by job
        self._thread = Thread(target=self._run, name="engine-stream", daemon=True)

    def listen(self) -> None:
        """Begin: the engines are asked whether they are there."""
        self._thread.start()

    def send(self, line: bytes) -> None:
        """Send a job, or end one by closing its stream; does nothing after the end."""
        self._order(wire.parse_command(line))

    def kill(self) -> None:
        """Close every stream; `on_end` follows."""
        self._order(None)

    def close(self, patience: float = 2.0) -> None:
        self.kill()
        self._thread.join(patience)

    def _order(self, order: wire.JobCommand | wire.Stop | None) -> None:
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._orders.put_nowait, order)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._work())
        except* (LostStream, HTTPError) as lost:
            for error in lost.exceptions:
                _log.warning("The engines at %s: %s", self._where.url, str(error) or type(error).__name__)
        except* Exception:
            _log.exception("The engines at %s can no longer be heard.", self._where.url)
        finally:
            self._loop.close()
            self._on_end(self, 1)

    async def _work(self) -> None:
        async with self._where.client() as client, asyncio.TaskGroup() as group:
            self._on_line(self, await self._greeted(client))
            while order := await self._orders.get():
                if isinstance(order, wire.Stop):
                    self._stop(order.job)
                else:
                    self._streams[order.job] = group.create_task(self._follow(client, order))
            for stream in self._streams.values():
                stream.cancel()

    def _stop(self, job: int) -> None:
        stream = self._streams.pop(job, None)
        if stream and stream.cancel():
            self._on_line(self, wire.dump_event(wire.JobStopped(job)))

    async def _greeted(self, client: AsyncClient) -> bytes:
        """The engines' own `Ready`. They may just be starting again."""
        for _ in range(self._where.greetings - 1):
            try:
                return _checked(await client.get("")).content
            except (LostStream, HTTPError) as error:
                _log.info("The engines at %s do not answer yet: %s", self._where.url, error)
                await asyncio.sleep(self._where.pause)
        return _checked(await client.get("")).content

    async def _follow(self, client: AsyncClient, command: wire.JobCommand) -> None:
        async with client.stream("POST", "", content=wire.dump_command(command)) as response:
            async for line in _lines(_checked(response)):
                if isinstance(wire.parse_event(line), wire.Final):
                    self._streams.pop(command.job, None)
                    self._on_line(self, line)
                    return
                self._on_line(self, line)
        raise LostStream(f"the stream of job {command.job} ended before the job did")


def _checked(response: Response) -> Response:
    if response.status_code == 401:
        raise LostStream("they refuse the token of this server: SPECVIZ_ENGINES_TOKEN must be the same here and there")
    if response.status_code != 200:
        raise LostStream(f"they answered with status {response.status_code}")
    return response


async def _lines(response: Response) -> AsyncIterator[bytes]:
    """Its lines. Only a line feed ends one: a text in a line may hold other ends of lines."""
    rest = b""
    async for part in response.aiter_bytes():
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield line
