"""A fresh server of the app for a benchmark: its address, its processes, what they use."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import psutil

ROOT = Path(__file__).resolve().parent.parent
STARTS = 3  # another process may take the free port before the server has it
START_SECONDS, STOP_SECONDS = 300, 120
PATIENCE = 10.0  # seconds for the answer to a health check


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    port: int
    process: psutil.Process

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self.port}"

    def engines(self) -> list[psutil.Process]:
        """The engine's process; none while it is started again."""
        return [child for child in self.process.children() if child.status() != psutil.STATUS_ZOMBIE]

    def processor_seconds(self) -> float:
        """What the server's process has used so far, without the engine."""
        used = self.process.cpu_times()
        return float(used.user + used.system)

    def memory(self) -> dict[str, float]:
        """Resident memory in MB."""
        server, *engines = (each.memory_info().rss / 2**20 for each in (self.process, *self.engines()))
        found = {"server_mb": server, "engine_mb": sum(engines), "together_mb": server + sum(engines)}
        return {name: round(megabytes, 1) for name, megabytes in found.items()}

    def healthy(self, patience: float = 1.0) -> bool:
        """Whether its health check answers within this many seconds."""
        with suppress(OSError):  # of which urllib's errors are
            urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=patience).close()
            return True
        return False


@contextmanager
def health_checked(server: Server) -> Iterator[list[float]]:
    """Ask again and again whether the server is well, as what hosts it would: seconds of each answer, 10 for none."""
    seconds, over = list[float](), Event()

    def ask() -> None:
        while not over.wait(0.25):
            began = time.perf_counter()
            well = server.healthy(PATIENCE)
            seconds.append(time.perf_counter() - began if well else PATIENCE)

    asking = Thread(target=ask, daemon=True)
    asking.start()
    try:
        yield seconds
    finally:
        over.set()
        asking.join()


@contextmanager
def served(
    log: Path = Path(os.devnull),
    entry: str = "serve.py",
    module: Sequence[str] = ("streamlit",),
    environment: dict[str, str] | None = None,
) -> Iterator[Server]:
    """A fresh server, ready to be opened, with no run of an earlier one; what it and its engine write goes to `log`.

    At the end no process of it is left, also where a test failed.
    """
    for _ in range(STARTS):
        port = free_port()
        command = [sys.executable, "-m", *module, "run", entry, "--server.address", "127.0.0.1"]
        with TemporaryDirectory() as runs, log.open("wb") as lines:
            started = subprocess.Popen(
                [*command, "--server.port", str(port)],
                cwd=ROOT,
                env=os.environ | {"SPECVIZ_RUNS": runs} | (environment or {}),
                stdout=lines,
                stderr=subprocess.STDOUT,
            )
            server = Server(port, psutil.Process(started.pid))
            try:
                until = time.monotonic() + START_SECONDS
                while started.poll() is None and time.monotonic() < until:
                    if server.healthy():
                        yield server
                        return
                    time.sleep(0.05)
            finally:
                _end(started, server)
    raise RuntimeError(f"the app did not start:\n{log.read_text(errors='replace')[-4000:]}")


def _end(started: "subprocess.Popen[bytes]", server: Server) -> None:
    """Streamlit's own way, so that the app can end its engine; what is left then, a frozen one perhaps, is killed."""
    with suppress(psutil.NoSuchProcess):
        engines = server.process.children(recursive=True)
        started.terminate()
        for left in psutil.wait_procs([server.process, *engines], STOP_SECONDS)[1]:
            left.kill()
    started.wait()


def free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
