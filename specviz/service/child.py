"""The engine's process as the server sees it: lines in, lines out, and its end."""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Protocol

_log = logging.getLogger(__name__)

ENGINE = (sys.executable, "-m", "specviz.service.engine")
SHARED = "--shared"  # of an engine that several servers give jobs to, see `Bench`
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
    """An engine that has been started: a process here (`Child`), or the engines of a service on another machine."""

    engines: int  # so many jobs are at work at the same time, each in its own engine
    works: bool  # on the jobs itself, so that the one at work may have been its end

    def listen(self) -> None: ...
    def send(self, line: bytes) -> None: ...
    def kill(self) -> None: ...
    def close(self, patience: float = 2.0) -> None: ...


OnLine = Callable[[RunningEngine, bytes], None]
OnEnd = Callable[[RunningEngine, int], None]
StartEngine = Callable[[OnLine, OnEnd], RunningEngine]  # raises OSError where it cannot be started


class Child:
    engines, works = 1, True

    def __init__(self, command: Sequence[str], on_line: OnLine, on_end: OnEnd) -> None:
        # its stderr is the server's own: tracebacks land in the server's log
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment())
        self._on_line = on_line
        self._on_end = on_end
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()  # to write; None: the last one
        self._reader = Thread(target=self._read, name="engine-reader", daemon=True)
        Thread(target=self._write, name="engine-writer", daemon=True).start()

    def listen(self) -> None:
        """Start reading what the engine writes. Not part of `__init__`: the caller must know its child by then."""
        self._reader.start()

    def send(self, line: bytes) -> None:
        """Send a line; waits for nothing, also where a stuck engine reads no more. After its end this does nothing."""
        self._lines.put(line)

    def kill(self) -> None:
        """End it at once; `on_end` follows."""
        self._process.kill()

    def close(self, patience: float = 2.0) -> None:
        """Ask the process to end by closing its stdin, then kill it, and wait until it has ended."""
        self._lines.put(None)
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        """Ends only with the process: an error here ends that too, because nobody would hear it any more."""
        try:
            assert self._process.stdout
            with self._process.stdout as lines:
                for line in lines:
                    self._on_line(self, line)
        except Exception:
            _log.exception("The engine can no longer be heard; it is ended.")
            self.kill()
        status = self._process.wait()
        self._lines.put(None)
        self._on_end(self, status)

    def _write(self) -> None:
        assert self._process.stdin
        with (
            suppress(OSError),
            self._process.stdin as stdin,
        ):  # an engine that has ended reads nothing: `on_end` says so
            while (line := self._lines.get()) is not None:
                stdin.write(line)
                stdin.flush()


def _environment() -> dict[str, str]:
    root = str(Path(__file__).resolve().parents[2])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **QUIET}
