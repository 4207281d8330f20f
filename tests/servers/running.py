"""A server of another program on this machine, from its start until the block ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
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


@contextmanager
def running(setup: Setup, folder: Path, log: Path) -> Iterator[httpx2.Client]:
    """The server of this setup, started where no answer holds a path of this machine."""
    port = free_port()
    where = ["--chat-template", TEMPLATE, "--host", "127.0.0.1", "--port", str(port), *setup.options]
    if setup.system == "vllm":
        home, command = MODELS_FOLDER.parent, [f"{folder}/bin/vllm", "serve", f"models/{TARGET}"]
        command += ["--served-model-name", TARGET, "--dtype", "float32", "--enforce-eager"]
        command += ["--max-model-len", str(CONTEXT), "--max-num-seqs", str(SEVERAL)]
    else:
        home, command = folder, [f"{folder}/llama-server", "-m", f"{TARGET}.gguf", "--alias", TARGET]
        command += ["-ctk", "f32", "-ctv", "f32", "-t", "1", "--metrics", "--no-ui"]
        command += ["-c", str(CONTEXT * SEVERAL), "-np", str(SEVERAL)]
    with answering([*command, *where], port, log, home) as client:
        yield client


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
    # llama.cpp says that it keeps a connection, and closes it after a stream.
    each_its_own = httpx2.Limits(max_keepalive_connections=0)
    until = time.monotonic() + PATIENCE
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, limits=each_its_own) as client:
            while not _is_up(client):
                if time.monotonic() > until or server.poll() is not None:
                    raise RuntimeError(f"The server did not start:\n{log.read_text(errors='replace')[-3000:]}")
                time.sleep(0.2)
            yield client
    finally:  # first politely, so that it writes the end of its log; then everything that it has started
        server.terminate()
        with suppress(subprocess.TimeoutExpired):
            server.wait(timeout=30)
        with suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _is_up(client: httpx2.Client) -> bool:
    try:
        return client.get("/health").is_success
    except httpx2.TransportError:
        return False
