"""A server of another program on this machine, from its start until the block ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx2

from benchmarks.serving import free_port
from specviz.models.catalogue import MODELS_FOLDER
from tests.servers.questions import CONTEXT, TARGET, TEMPLATE, Setup

PATIENCE = 300.0  # seconds for a start: vLLM needs forty on a free machine
SEVERAL = 4  # requests that a server decodes at once
# vLLM: little memory for the cache, one thread that no core is kept for, and no reports to its authors.
VLLM_ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
    "VLLM_NO_USAGE_STATS": "1",
}


@dataclass(frozen=True, slots=True)
class Running:
    client: httpx2.Client
    log: Path
    setup: Setup


def command_of(setup: Setup, folder: Path, port: str) -> list[str]:
    """The command that starts this server, from the folder that `_home` gives."""
    where = ["--host", "127.0.0.1", "--port", port]
    if setup.system == "vllm":
        model = ["serve", f"models/{TARGET}", "--served-model-name", TARGET, "--dtype", "float32"]
        limits = ["--max-model-len", str(CONTEXT), "--max-num-seqs", str(SEVERAL), "--enforce-eager"]
        return [f"{folder}/bin/vllm", *model, *limits, "--chat-template", TEMPLATE, *where, *setup.options]
    model = ["-m", f"{TARGET}.gguf", "--alias", TARGET, "-ctk", "f32", "-ctv", "f32", "-t", "1"]
    limits = ["-c", str(CONTEXT * SEVERAL), "-np", str(SEVERAL), "--metrics", "--no-ui"]
    return [f"{folder}/llama-server", *model, *limits, "--chat-template", TEMPLATE, *where, *setup.options]


def _home(setup: Setup, folder: Path) -> Path:
    """Where it is started, so that no answer holds a path of this machine."""
    return MODELS_FOLDER.parent if setup.system == "vllm" else folder


@contextmanager
def running(setup: Setup, folder: Path, log: Path) -> Iterator[Running]:
    """The server of this setup, ready to answer."""
    port = free_port()
    with answering(command_of(setup, folder.resolve(), str(port)), port, log, _home(setup, folder)) as client:
        yield Running(client, log, setup)


@contextmanager
def answering(command: Sequence[str], port: int, log: Path, home: Path) -> Iterator[httpx2.Client]:
    """A server that answers at this port. RuntimeError, with the end of its log, where it does not start."""
    with log.open("wb") as written:
        server = subprocess.Popen(
            command,
            cwd=home,
            env=os.environ | VLLM_ENVIRONMENT,
            stdout=written,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # vLLM has processes of its own
        )
    try:
        # llama.cpp says that it keeps a connection, and closes it after a stream.
        each_its_own = httpx2.Limits(max_keepalive_connections=0)
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, limits=each_its_own) as client:
            _wait(client, server, log)
            yield client
    finally:
        _stop(server)


def _wait(client: httpx2.Client, server: "subprocess.Popen[bytes]", log: Path) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.poll() is None:
        try:
            if client.get("/health").is_success:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"The server did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _stop(server: "subprocess.Popen[bytes]") -> None:
    """First politely, so that it writes the end of its log; then everything that it has started."""
    server.terminate()
    with suppress(subprocess.TimeoutExpired):
        server.wait(timeout=30)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def lines_of(log: Path, words: Sequence[str]) -> list[str]:
    return [line for line in log.read_text(errors="replace").splitlines() if any(word in line for word in words)]
