"""Engines behind a URL, without Ray, engines and a network: each request is answered as its prompt says.

Prompts: `rounds N` streams N rounds · `break` ends the stream in the middle · `once` does so the first time only ·
`busy N` is answered with status 503 the first N times, `refused N` not at all · `large` with status 413 · `closing`
fails once its stream is closed · `hold` streams one round, then heartbeats. The first line of each is no event.
A sweep has three cells, and gives its place after each.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator

from httpx2 import ConnectError, MockTransport, ReadError, RemoteProtocolError, Request, Response

from specviz.service import protocol as wire
from tests.support.replaying_engine import begin

TOKEN = "a token of the tests"
BEAT = 0.05  # seconds


class Engines(MockTransport):
    def __init__(self) -> None:
        super().__init__(self.answer)
        self.asked, self.left = list[str](), list[str]()
        self.gone, self.greeting = False, wire.dump_event(wire.EngineReady({}))

    async def answer(self, request: Request) -> Response:
        if self.gone:
            raise ConnectError("refused")
        if request.headers["authorization"] != f"Bearer {TOKEN}":
            return Response(401)
        if request.method == "GET":
            return Response(200, content=self.greeting)
        command = wire.parse_command(await request.aread())
        assert isinstance(command, wire.Run | wire.Sweep)
        order = command.request.prompt if isinstance(command, wire.Run) else "sweep"
        self.asked.append(order)
        kind, _, number = order.partition(" ")
        if order == "large":
            return Response(413)
        if kind in ("busy", "refused") and self.asked.count(order) <= int(number):
            if kind == "refused":
                raise ConnectError(kind)
            return Response(503)
        return Response(200, content=self.lines(command, order))

    async def lines(self, command: wire.Run | wire.Sweep, order: str) -> AsyncIterator[bytes]:
        """In parts that are no lines."""
        yield b"noise\n"
        try:
            for event in sweep(command) if isinstance(command, wire.Sweep) else run(command, order):
                line = wire.dump_event(event)
                yield line[:7]
                yield line[7:]
                has_begun = isinstance(event, wire.Rounds)
                if has_begun and (order == "break" or self.asked == ["once"]):
                    raise RemoteProtocolError("it breaks")
                while has_begun and order == "hold":
                    await asyncio.sleep(BEAT)
                    if self.gone:
                        raise ReadError("gone")
                    yield wire.dump_event(wire.EngineAlive(command.job))
        finally:
            if order == "hold":
                self.left.append(order)
            if order == "closing":
                raise ReadError(order)


def run(command: wire.Run, order: str) -> Iterator[wire.Event]:
    yield from begin(command, int(order.partition(" ")[2]) if order.startswith("rounds") else 1)
    yield wire.RunDone(command.job, "plain \u2028 text")


def sweep(command: wire.Sweep) -> Iterator[wire.Event]:
    if command.done == 3:
        yield wire.JobFinished(command.job)
    else:
        yield wire.JobProgress(command.job, "measuring", 3)
        yield wire.JobItem(command.job, "sweep", f"cell {command.done + 1}")
        yield wire.JobStopped(command.job)
