"""The app on a free port of this machine, with an engine that replays."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.serving import Server, served

REPLAYING = "-m tests.support.replaying_engine"
SILENT = "-c import sys; sys.stdin.read()"  # an engine that never starts
MOST = "most.json"  # a file beside the log: how many rounds the replaying engine sends for now


@dataclass(frozen=True)
class AppServer(Server):
    log: Path  # what the server printed

    @property
    def pid(self) -> int:
        return self.process.pid

    def engine_pids(self) -> list[int]:
        return [engine.pid for engine in self.engines()]

    @contextmanager
    def at_most(self, run: int) -> Iterator[None]:
        """Until the block ends, the replaying engine waits once a run has so many rounds."""
        file = self.log.with_name(MOST)
        whole = file.with_suffix(".new")
        whole.write_text(str(run), encoding="utf-8")
        whole.replace(file)
        try:
            yield
        finally:
            file.unlink()

    def freeze(self, pid: int) -> None:
        """Stop one of them for now, so that it cannot do what it is asked before it is killed."""
        assert pid in self.engine_pids()
        os.kill(pid, signal.SIGSTOP)


@contextmanager
def serving(app: Path, log: Path, engine: str | None = REPLAYING) -> Iterator[AppServer]:
    """Serve an app; what it stores is beside its log.

    `engine` is Python's arguments for one; None: the real one, with its models.
    """
    module = ("tests.support.streamlit_with", engine) if engine else ("streamlit",)
    beside = {"SPECVIZ_RUNS": str(log.parent / "runs"), "REPLAY_MOST": str(log.with_name(MOST))}
    with served(log, str(app), module, beside) as server:
        yield AppServer(server.port, server.process, log)
