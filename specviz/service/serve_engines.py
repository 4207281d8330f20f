"""Engines on Ray Serve, for any number of app servers: `python -m specviz.service.serve_engines`, or `serve run`.

An `Engine` is one engine process, and does one job at a time. The `Door` is asked over HTTP: it checks the token, waits
for a free engine, and sends its lines on. Only this module imports Ray; see docs/operating.md.
"""

import asyncio
import hmac
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from hashlib import sha256
from threading import Event as Signal
from typing import Annotated, Any

import ray  # type: ignore[import-not-found]
from ray import serve
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from typer import Option, run

from specviz.core.errors import InputError
from specviz.core.operator_settings import check_operator_settings, given_settings, operator_setting
from specviz.core.ray_address import LOCAL, parse_ray_address
from specviz.service import protocol as wire
from specviz.service.child import ENGINE, QUIET, SHARED, Child
from specviz.service.limits import ServiceLimits

HEARTBEAT = 5.0  # seconds between two lines of a stream
AT_DOOR = 1_000  # requests that may wait or be answered at once
LARGEST = 32_000_000  # bytes of a command
TOKEN = "SPECVIZ_ENGINES_TOKEN"
NOT_FOR_ENGINES = {"SPECVIZ_ENGINES", TOKEN, "SPECVIZ_RUNS"}


@serve.deployment(max_ongoing_requests=1, health_check_period_s=10)
class Engine:
    async def __init__(  # type: ignore[misc]  # Serve awaits it: a replica is there once its engine is
        self, environment: Mapping[str, str], command: tuple[str, ...], limits: ServiceLimits
    ) -> None:
        os.environ.update(environment)
        self._command, self._limits = (*command, SHARED), limits
        self._at_work: int | None = None  # a job whose last event has not come
        await self._start()

    async def _start(self) -> None:
        self._child = Child(self._command)
        await self._child.start()
        if not isinstance(await self._hear(self._limits.start), wire.EngineReady):
            raise RuntimeError("The engine was never ready.")

    async def work(self, line: bytes) -> AsyncIterator[bytes]:
        """The lines about one job, to its last one; they end without it where the process ends."""
        command = wire.parse_command(line)
        async for _ in self._listen(self._limits.stop):  # until the job before has ended
            pass
        if self._child.ended:
            await self._start()
        self._at_work = command.job
        self._child.send(command)
        try:
            async for event in self._listen(self._limits.silence):
                yield wire.dump_event(event)
        finally:
            if self._at_work is not None:  # nobody listens any more
                self._child.send(wire.Stop(command.job))

    async def _listen(self, patience: float) -> AsyncIterator[wire.Event]:
        """The events about the job at work."""
        while (job := self._at_work) is not None:
            event = await self._hear(patience)
            if event is None:
                self._at_work = None
            elif not isinstance(event, wire.EngineReady) and event.job == job:  # not a late word about the one before
                if isinstance(event, wire.Final):
                    self._at_work = None
                yield event

    async def _hear(self, patience: float) -> wire.Event | None:
        """What the process says next; None where it has ended. It is ended where it says nothing for too long."""
        event = None
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                event = await self._child.hear()
        if event is None:
            await self._child.close()
        return event


@serve.deployment(max_ongoing_requests=AT_DOOR)
class Door:
    def __init__(self, engines: Any, digest: bytes, heartbeat: float = HEARTBEAT) -> None:
        self._engines, self._digest, self._heartbeat = engines.options(stream=True), digest, heartbeat

    async def __call__(self, request: Request) -> Response:
        """GET: `Ready`. POST: a command's stream of events."""
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(sha256(given.encode()).digest(), self._digest):
            return PlainTextResponse("the token is wrong", 401)
        if request.method == "GET":
            return PlainTextResponse(wire.dump_event(wire.EngineReady({"ray": ray.__version__})))
        try:
            command = wire.parse_command(await _body(request))
        except ValueError:
            command = None
        if command is None or isinstance(command, wire.Stop):
            return PlainTextResponse("not a job", 400)
        return StreamingResponse(self._lines(command), media_type="application/x-ndjson")

    async def _lines(self, command: wire.JobCommand) -> AsyncIterator[bytes]:
        said = self._engines.work.remote(wire.dump_command(command))
        coming: asyncio.Future[bytes] | None = None
        try:
            while True:
                coming = coming or asyncio.ensure_future(anext(said))
                if (await asyncio.wait([coming], timeout=self._heartbeat))[0]:
                    line, coming = coming.result(), None
                    yield line
                else:
                    yield wire.dump_event(wire.EngineAlive(command.job))
        except StopAsyncIteration:
            pass
        finally:
            if coming:
                coming.cancel()
            said.cancel()


async def _body(request: Request) -> bytes:
    """What was sent; a ValueError where it is too much."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise ValueError("too large")
    return body


def engines(
    token: str,
    least: int = 1,
    most: int = 1,
    gpus: float = 0.0,
    command: tuple[str, ...] = ENGINE,
    limits: ServiceLimits | None = None,
    heartbeat: float = HEARTBEAT,
) -> serve.Application:
    check_operator_settings()
    scaling = {"min_replicas": least, "max_replicas": max(least, most), "target_ongoing_requests": 1}
    takes = {"num_cpus": 1, "num_gpus": gpus}
    engine: Any = Engine
    door: Any = Door
    # the operator's settings that concern engines, and what keeps libraries quiet
    environment = {name: text for name, text in given_settings().items() if name not in NOT_FOR_ENGINES} | QUIET
    replicas = engine.options(autoscaling_config=scaling, ray_actor_options=takes)
    process = replicas.bind(environment, command, limits or ServiceLimits())
    return door.options(ray_actor_options={"num_cpus": 0}).bind(process, sha256(token.encode()).digest(), heartbeat)


def app(options: Mapping[str, str]) -> serve.Application:
    """For `serve run specviz.service.serve_engines:app least=2 most=4 gpus=1`. InputError: a setting is wrong."""
    least, most = int(options.get("least", 1)), int(options.get("most", 1))
    return engines(operator_setting(TOKEN, needed=True), least, most, float(options.get("gpus", 0)))


def main(
    address: Annotated[str, Option(help="The Ray cluster: local (starts one here), auto, HOST:PORT.")] = LOCAL,
    host: Annotated[str, Option(help="Where to listen; 0.0.0.0: everywhere.")] = "127.0.0.1",
    port: int = 8000,
    least: Annotated[int, Option(help="Engines that are always there.")] = 1,
    most: Annotated[int, Option(help="Engines at most, while jobs wait.")] = 1,
    gpus: Annotated[float, Option(help="GPUs of each engine, such as 0.5.")] = 0.0,
) -> None:
    """Serve engines until Ctrl+C or SIGTERM."""
    try:
        address = parse_ray_address(address)
        application = engines(operator_setting(TOKEN, needed=True), least, most, gpus)
    except InputError as error:
        sys.exit(str(error))
    ray.init(None if address == LOCAL else address)
    serve.start(http_options={"host": host, "port": port})
    serve.run(application, name="specviz", route_prefix="/")
    print(f"Engines at http://{host}:{port}", flush=True)
    ended = Signal()
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda *_: ended.set())
    ended.wait()
    serve.delete("specviz")


if __name__ == "__main__":
    run(main)
