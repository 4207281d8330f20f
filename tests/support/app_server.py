"""A Streamlit app on a free port of this machine, and the processes that it starts."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
START_SECONDS = 300  # far more than a server needs, so that a busy machine fails no test
STOP_SECONDS = 120
REPLAYING = "-m tests.support.replaying_engine"
MOST = "most.json"  # a file beside the log: how many items the replaying engine sends for now
SILENT = "-c import sys; sys.stdin.read()"  # an engine that never starts
STARTS = 3  # another process may take the free port before the server has it


@dataclass(frozen=True)
class AppServer:
    url: str  # without a slash at the end
    pid: int
    log: Path  # what the server printed

    def engine_pids(self) -> list[int]:
        """The engine processes that the server started and that still run."""
        return [child.pid for child in psutil.Process(self.pid).children() if child.status() != psutil.STATUS_ZOMBIE]

    @contextmanager
    def at_most(self, **items: int) -> Iterator[None]:
        """Until the block ends, the replaying engine waits once a job has so many items: a run, so many rounds."""
        file = self.log.with_name(MOST)
        whole = file.with_suffix(".new")
        whole.write_text(json.dumps(items), encoding="utf-8")
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
    """Serve an app; at the end no process of it is left, also where a test failed.

    Args:
        app: the file that Streamlit runs.
        log: where what it prints goes; what it stores is beside that.
        engine: Python's arguments for an engine; None: the real one, with its models.
    """
    for _ in range(STARTS):
        server, process = _start(app, log, engine)
        try:
            if not _healthy(server, process):
                continue
            yield server
            return
        finally:
            _stop(process)
    pytest.fail(f"the app did not start:\n{log.read_text(errors='replace')[-4000:]}")


def _start(app: Path, log: Path, engine: str | None) -> tuple[AppServer, "subprocess.Popen[bytes]"]:
    port = free_port()
    streamlit = ["tests.support.streamlit_with", engine] if engine else ["streamlit"]
    command = [sys.executable, "-m", *streamlit, "run", str(app), "--server.headless", "true"]
    options = ["--server.fileWatcherType", "none", "--server.address", "127.0.0.1", "--server.port", str(port)]
    with log.open("ab") as out:
        # a run store of its own: what other tests measured is not there
        environment = {**os.environ, "SPECVIZ_RUNS": str(log.parent / "runs"), "REPLAY_MOST": str(log.with_name(MOST))}
        process = subprocess.Popen(
            [*command, *options], cwd=ROOT, stdout=out, stderr=subprocess.STDOUT, env=environment
        )
    return AppServer(f"http://127.0.0.1:{port}", process.pid, log), process


def free_port() -> int:
    """One of this machine; another process may take it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _healthy(server: AppServer, process: "subprocess.Popen[bytes]") -> bool:
    """Wait until it answers; not so where it ends or needs more than a minute."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return True
        except OSError:  # not listening yet
            time.sleep(0.1)
    return False


def _stop(process: "subprocess.Popen[bytes]") -> None:
    started: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        started = psutil.Process(process.pid).children(recursive=True)
    process.terminate()  # Streamlit's own way to end, so that the app can end its engine
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    _, left = psutil.wait_procs(started, timeout=STOP_SECONDS)
    for engine in left:  # a frozen one, for example
        with suppress(psutil.NoSuchProcess):
            engine.kill()
