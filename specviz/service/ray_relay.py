"""The process beside an app server that speaks with the engine pool on a Ray cluster.

`python -m specviz.service.ray_relay ADDRESS` reads orders from stdin and writes news to stdout. The server itself never
imports Ray: when a node dies, Ray may end the process that is connected to it, and that must not be the server.
"""

import hashlib
import logging
import os
import signal
import sys
import time
import traceback
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Protocol
from uuid import uuid4

from specviz.core.ray_address import parse_ray_address
from specviz.service.child import QUIET
from specviz.service.ray_actors import POOL_THREADS, PoolActor
from specviz.service.ray_wanted import engines_on_ray, gpus_an_engine

NAMESPACE = "specviz"
PATIENCE = 2.0  # seconds that a question for news waits for some
SILENCE = 60.0  # seconds after which a pool that does not answer is given up
START = 300.0  # seconds in which a new pool, or one that is started again elsewhere, must answer
RETRY = 1.0  # seconds
NOT_FOR_ENGINES = {"SPECVIZ_ENGINES", "SPECVIZ_RUNS"}


class PoolLink(Protocol):
    """The pool, as the relay asks it; see `pool.Pool`."""

    def obey(self, server: str, line: bytes) -> None:
        """An order of this server."""

    def news(self, server: str, patience: float) -> bytes:
        """A line for this server."""

    def leave(self, server: str) -> None:
        """This server ends."""


class RayPool:
    """The cluster's pool, made by the server that comes first.

    Args:
        ray: the module, connected to a cluster.

    Raises:
        TimeoutError: the pool does not answer.
    """

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._make: Any = ray.remote(max_concurrency=POOL_THREADS)(PoolActor).options(
            name=f"pool-{version_hash()}",
            namespace=NAMESPACE,
            get_if_exists=True,
            lifetime="detached",
            max_restarts=-1,  # on another node, if its own is gone
            num_cpus=0,
        )
        self._pool: Any = None
        self._find()

    def _find(self) -> None:
        """A pool may just be ending, or starting again on another node."""
        deadline = time.monotonic() + START
        while time.monotonic() < deadline:
            try:
                self._pool = self._make.remote(environment_for_engines(), engines_on_ray(), gpus_an_engine())
                self._ray.get(self._pool.leave.remote("nobody"), timeout=START)
                return
            except self._ray.exceptions.RayError:
                time.sleep(RETRY)
        raise TimeoutError("The engine pool on Ray does not answer.")

    def obey(self, server: str, line: bytes) -> None:
        """See `PoolLink`; raises Ray's errors where the pool is gone."""
        self._ray.get(self._pool.obey.remote(server, line), timeout=SILENCE)

    def news(self, server: str, patience: float) -> bytes:
        """See `PoolLink`; raises Ray's errors where the pool is gone."""
        return bytes(self._ray.get(self._pool.news.remote(server, patience), timeout=SILENCE))

    def leave(self, server: str) -> None:
        """See `PoolLink`; raises Ray's errors where the pool is gone."""
        self._ray.get(self._pool.leave.remote(server), timeout=PATIENCE)


def relay(pool: PoolLink, orders: Iterable[bytes], news: BinaryIO) -> None:
    """Hand on orders and news until the orders end; then the process ends. It raises where the pool is gone."""
    server = uuid4().hex
    Thread(target=_hand_on, args=(pool, server, orders), name="orders", daemon=True).start()
    while True:
        news.write(pool.news(server, PATIENCE))
        news.flush()


def _hand_on(pool: PoolLink, server: str, orders: Iterable[bytes]) -> None:
    status = 0
    try:
        for line in orders:
            pool.obey(server, line)
    except Exception:
        traceback.print_exc()
        status = 1
    with suppress(Exception):
        pool.leave(server)
    os._exit(status)


def version_hash() -> str:
    """Of the program's files: servers of two versions have two pools, because they cannot speak with each other."""
    folder = Path(__file__).resolve().parents[1]
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        found.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return found.hexdigest()[:12]


def environment_for_engines() -> dict[str, str]:
    """This server's settings that concern engines, and what keeps libraries quiet."""
    ours = {name: value for name, value in os.environ.items() if name.startswith("SPECVIZ_")}
    return {name: value for name, value in ours.items() if name not in NOT_FOR_ENGINES} | QUIET


def main() -> None:
    """Serve until stdin closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C reaches the whole group, but the server ends the relay
    news = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Ray prints goes to the log
    try:
        address = parse_ray_address(sys.argv[1])
        ray: Any = import_module("ray")
        where = {"num_cpus": engines_on_ray() or None} if address.starts_one else {"address": address.text}
        ray.init(**where, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
        relay(RayPool(ray), sys.stdin.buffer, news)
    except Exception as error:
        print(f"The engine pool on Ray: {str(error).strip() or type(error).__name__}", file=sys.stderr, flush=True)
    os._exit(1)  # Ray's threads may wait for a cluster that is gone


if __name__ == "__main__":
    main()
