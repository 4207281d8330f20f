"""The engine's process as others see it: what it is told, what it says, and its end."""

import asyncio
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from specviz.service import protocol as wire

_log = logging.getLogger(__name__)

ENGINE = (sys.executable, "-m", "specviz.service.engine")
SHARED = "--shared"  # of an engine that several servers give jobs to, see `Bench`
LONGEST_LINE = 2**26  # bytes
# Of every engine, wherever it is: no progress bars, no reports to anyone, and one thread.
QUIET = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",  # visitors choose what is downloaded: not with the operator's token
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
}


class RunningEngine(Protocol):
    """One engine, from its start to its end: a process here (`Child`), or one elsewhere (`stream.StreamEngine`).

    `send` may be called in any thread, all else in that of its loop.
    """

    at_once: int  # so many jobs it takes

    async def start(self) -> None: ...  # OSError: it cannot be started
    async def hear(self) -> wire.Event | None: ...  # what it says next; None after its end
    def send(self, order: wire.JobCommand | wire.Stop) -> None: ...  # waits for nothing; nothing happens after its end
    def kill(self) -> None: ...  # `hear` tells of its end
    async def close(self) -> None: ...  # end it, and wait for that


class Child:
    at_once = sys.maxsize

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._loop: asyncio.AbstractEventLoop
        self._process: Process

    async def start(self) -> None:
        # its stderr is the server's own: tracebacks land in the server's log
        self._loop = asyncio.get_running_loop()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, env=_environment(), limit=LONGEST_LINE
        )

    @property
    def ended(self) -> bool:
        return self._process.returncode is not None

    async def hear(self) -> wire.Event | None:
        assert self._process.stdout
        async for line in self._process.stdout:
            if event := wire.parse_event(line):
                return event
            _log.warning("The engine wrote a line that is not an event: %r", line[:200])
        _log.warning("The engine ended with status %s.", await self._wait())
        return None

    def send(self, order: wire.JobCommand | wire.Stop) -> None:
        """A stuck engine reads no more: the loop has what is to be written."""
        assert self._process.stdin
        self._loop.call_soon_threadsafe(self._process.stdin.write, wire.dump_command(order))

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def close(self) -> None:
        self.kill()
        await self._wait()

    async def _wait(self) -> int | None:
        """Wait for its end; a program that it has started may still hold its pipes."""
        assert self._process.stdin
        self._process.stdin.close()
        await self._process.communicate()
        return self._process.returncode


StartEngine = Callable[[], RunningEngine]


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **QUIET}
