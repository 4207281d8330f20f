"""Engines behind a URL, such as those of `serve_engines` on a cluster: each job is one POST, answered line by line.

The lines are those that an engine process writes. While a job waits for a free engine, or its engine is silent, the
stream has a line every few seconds all the same (`protocol.Alive`), so a stream without any line for long is lost.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Thread

from httpx2 import AsyncClient, HTTPError, HTTPStatusError, Limits, Response, Timeout

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
        headers, waits = {"Authorization": f"Bearer {self.token}"}, Timeout(self.silence, connect=CONNECT)
        each_its_own = Limits(max_keepalive_connections=0)  # an old one that was closed would look like a lost job
        return AsyncClient(base_url=self.url, headers=headers, timeout=waits, limits=each_its_own)


def why(error: Exception) -> str:
    if isinstance(error, HTTPStatusError) and error.response.status_code == 401:
        return "they refuse the token of this server: SPECVIZ_ENGINES_TOKEN must be the same here and there"
    return str(error) or type(error).__name__


class StreamEngine:
    """All engines behind the URL, as `fleet.EngineDriver` sees one; which one does a job, is known there only.

    So many jobs at a time are sent there, by the rule of `bench`; a stream that ends too early has lost only its job.
    Where no engine takes a job, nobody is to blame: while others are heard it is sent again later, else all end.
    """

    works = False

    def __init__(self, where: EngineAddress, most: int, on_line: OnLine, on_end: OnEnd) -> None:
        self._where, self.engines, self._on_line, self._on_end = where, most, on_line, on_end
        self._loop = asyncio.new_event_loop()
        self._orders: asyncio.Queue[wire.JobCommand | wire.Stop | None] = asyncio.Queue()
        self._line: list[wire.JobCommand] = []
        self._streams: dict[int, asyncio.Task[None]] = {}  # by job
        self._speaking: set[int] = set()  # jobs whose stream has had a line
        self._thread = Thread(target=self._run, name="engine-stream", daemon=True)

    def listen(self) -> None:
        """Begin: the engines are asked whether they are there."""
        self._thread.start()

    def send(self, line: bytes) -> None:
        """Let a job wait for its stream, or end one by closing that; does nothing after the end."""
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
        except* HTTPError as lost:
            for error in lost.exceptions:
                _log.warning("The engines at %s: %s", self._where.url, why(error))
        except* Exception:
            _log.exception("The engines at %s can no longer be heard.", self._where.url)
        finally:
            self._loop.close()
            self._on_end(self, 1)

    async def _work(self) -> None:
        async with self._where.client() as client, asyncio.TaskGroup() as group:
            self._on_line(self, await self._greeted(client))

            def send_next() -> None:
                while self._line and len(self._streams) < self.engines:
                    command = min(self._line, key=lambda each: not each.watched)
                    self._line.remove(command)
                    self._line.sort(key=lambda each: each.shares(command))
                    self._streams[command.job] = stream = group.create_task(self._follow(client, command))
                    stream.add_done_callback(partial(end, command.job))

            def end(job: int, stream: asyncio.Task[None]) -> None:
                if self._streams.get(job) is stream:
                    del self._streams[job]
                if not stream.cancelled() and not stream.exception():  # else all of them end
                    send_next()

            while order := await self._orders.get():
                if isinstance(order, wire.JobCommand):
                    self._line.append(order)
                else:
                    self._stop(order.job)
                send_next()
            self._line = []
            for stream in self._streams.values():
                stream.cancel()

    def _stop(self, job: int) -> None:
        stream = self._streams.pop(job, None)
        waits = [command for command in self._line if command.job == job]
        self._line = [command for command in self._line if command.job != job]
        if waits or (stream and stream.cancel()):
            self._on_line(self, wire.dump_event(wire.JobStopped(job)))

    async def _greeted(self, client: AsyncClient) -> bytes:
        """The engines' own `Ready`. They may just be starting again."""
        for _ in range(self._where.greetings - 1):
            with suppress(HTTPError):
                return (await client.get("")).raise_for_status().content
            await asyncio.sleep(self._where.pause)
        return (await client.get("")).raise_for_status().content

    async def _follow(self, client: AsyncClient, command: wire.JobCommand) -> None:
        lost, not_taken = "it ended before the job did", False
        try:
            async with client.stream("POST", "", content=wire.dump_command(command)) as response:
                async for line in _lines(response.raise_for_status()):
                    self._speaking.add(command.job)
                    self._on_line(self, line)
                    if isinstance(wire.parse_event(line), wire.Final):
                        return
        except HTTPError as error:
            lost, not_this = why(error), isinstance(error, HTTPStatusError) and error.response.is_client_error
            not_taken = command.job not in self._speaking and not not_this
            if not_taken and not self._speaking:
                raise
        finally:
            self._speaking.discard(command.job)
        _log.warning("The stream of job %s from %s: %s", command.job, self._where.url, lost)
        await asyncio.sleep(self._where.pause if not_taken else 0.0)
        self._on_line(self, wire.dump_event(wire.JobStopped(command.job, command.seconds, died=not not_taken)))


async def _lines(response: Response) -> AsyncIterator[bytes]:
    """Its lines. Only a line feed ends one: a text in a line may hold other ends of lines."""
    rest = b""
    async for part in response.aiter_bytes():
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield line
