"""Engines behind a URL, such as those of `serve_engines` on a cluster: each job is one POST, answered line by line.

The lines are those that an engine process writes. While a job waits for a free engine, or its engine is silent, the
stream has a line every few seconds all the same (`protocol.Alive`), so a stream without any line for long is lost.
"""

import asyncio
import logging
from dataclasses import dataclass

from httpx2 import AsyncClient, HTTPError, HTTPStatusError, Limits, Timeout

from specviz.service import protocol as wire

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
    """One of the engines behind the URL; which one does a job, is known there only.

    It ends where its stream ends too early, or no engine takes the job. The next one first asks whether they are there.
    """

    at_once = 1

    def __init__(self, where: EngineAddress) -> None:
        self._where = where
        self._loop: asyncio.AbstractEventLoop
        self._client: AsyncClient  # one for all jobs: to make one takes 40 ms of the thread that hears all engines
        self._said: asyncio.Queue[wire.Event | None] = asyncio.Queue()
        self._stream: asyncio.Task[None] | None = None  # of the last job

    async def start(self) -> None:
        """Have the engines' own `EngineReady`. They may just be starting again."""
        self._loop = asyncio.get_running_loop()
        self._client, problem = self._where.client(), "their answer is no event"
        for _ in range(self._where.greetings):
            try:
                answer = (await self._client.get("")).raise_for_status()
                if event := wire.parse_event(answer.content):
                    self._said.put_nowait(event)
                    return
            except HTTPError as error:
                problem = why(error)
            await asyncio.sleep(self._where.pause)
        await self._client.aclose()
        raise OSError(f"{self._where.url}: {problem}")

    async def hear(self) -> wire.Event | None:
        return await self._said.get()

    def send(self, order: wire.JobCommand | wire.Stop) -> None:
        self._loop.call_soon_threadsafe(self._take, order)

    def kill(self) -> None:
        self._said.put_nowait(None)

    async def close(self) -> None:
        if self._stream:
            self._stream.cancel()
            await asyncio.wait([self._stream])
        await self._client.aclose()

    def _take(self, order: wire.JobCommand | wire.Stop) -> None:
        if isinstance(order, wire.JobCommand):
            self._stream = self._loop.create_task(self._follow(order))
        elif self._stream and self._stream.cancel():  # else the job is over
            self._said.put_nowait(wire.JobStopped(order.job))

    async def _follow(self, command: wire.JobCommand) -> None:
        over, lost = False, "it ended before the job did"
        try:
            async with self._client.stream("POST", "", content=wire.dump_command(command)) as response:
                if response.is_client_error:
                    self._said.put_nowait(wire.EngineAlive(command.job))  # so that this job is to blame
                async for line in response.raise_for_status().aiter_lines():
                    if event := wire.parse_event(line):
                        self._said.put_nowait(event)
                    else:
                        _log.warning("A stream from %s has a line that is no event: %r", self._where.url, line[:200])
                    if over := isinstance(event, wire.Final):
                        break
        except Exception as error:
            lost = why(error)
        if over:
            return  # whatever came of closing it: this engine may have the next job already
        _log.warning("The stream of job %s from %s: %s", command.job, self._where.url, lost)
        await asyncio.sleep(self._where.pause)
        self.kill()
