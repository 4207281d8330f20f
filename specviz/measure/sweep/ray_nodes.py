"""The nodes of a Ray cluster, as `spread` asks them. The only file of a sweep that imports Ray, and only when asked."""

import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from specviz import __version__
from specviz.core.errors import InputError
from specviz.core.operator_settings import given_settings
from specviz.core.ray_address import CLIENT, LOCAL, check_ray
from specviz.core.steps import result_of
from specviz.measure.sweep.measure import Models, made_by, measure, naming
from specviz.measure.sweep.plan import SweepCell, SweepPair
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.spread import LostNode, MadeBy, NodeAnswer

Load = Callable[[SweepPair], Models]
NAMESPACE = "specviz-sweep"  # of the names of workers
PATIENCE = 30  # seconds: for a cluster to answer, and for a node that another sweep uses
OBJECT_STORE = 100_000_000  # bytes; rows are small


class Worker:
    """One process on one node. Its methods are called one after the other, never two at once."""

    def __init__(self, node: str, load: Load, folder: str, version: str) -> None:
        """`folder` is where the sweep was asked for: names of model folders may be relative to it."""
        self._node, self._load, self._version = node, load, version
        self._models: Models | None = None
        with suppress(OSError):  # another machine need not have the folder
            os.chdir(folder)

    def load(self, pair: SweepPair) -> MadeBy:
        if self._version != __version__:
            said = f"specviz {__version__} is installed there, and {self._version} here. Install the same one."
            raise InputError(said)
        self._models = None
        self._models = self._load(pair)
        return made_by(self._models)

    def measure(self, cells: Sequence[SweepCell]) -> list[SweepRow]:
        assert self._models is not None
        with naming(cells[0]):
            return [replace(row, node=self._node) for row in result_of(measure(self._models, cells))]


@contextmanager
def ray_nodes(address: str, load: Load, threads: int) -> Iterator["RayNodes"]:
    """The nodes of a cluster, each with a worker, until the block ends. A node needs `threads` processors.

    InputError: Ray is not installed, the cluster does not answer, or no node of it can measure.
    """
    check_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster started here reports nothing to anyone
    ray = import_module("ray")
    # Ray prints on standard output what its nodes log when one dies; --json - needs it for the result.
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing):
        _connect(ray, address)
        try:
            yield RayNodes(ray, _workers(ray, load, threads))
        finally:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    _knock(address)
    own = {"include_dashboard": False, "object_store_memory": OBJECT_STORE} if address == LOCAL else {}
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR", **own)
    except Exception as error:  # Ray raises many kinds: ConnectionError, RuntimeError, ValueError, its own
        lines = [*filter(None, map(str.strip, str(error).splitlines())), type(error).__name__]
        raise InputError(f"The Ray cluster at {address} cannot be used: {lines[0].rstrip('.')}.") from error


def _knock(address: str) -> None:
    """Where an address names a port, see that something listens there: Ray itself tries for minutes."""
    host, colon, port = address.removeprefix(CLIENT).rpartition(":")
    if not colon:
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
    except OSError as error:
        raise InputError(f"No Ray cluster answers at {address}: {error.strerror or error}.") from error


def _workers(ray: Any, load: Load, threads: int) -> dict[str, Any]:
    nodes = named_nodes([each for each in ray.nodes() if each["Alive"] and each["Resources"].get("CPU", 0) >= threads])
    if not nodes:
        raise InputError(f"No node of the cluster has {threads} {'processor' if threads == 1 else 'processors'}.")
    until = time.monotonic() + PATIENCE
    while True:
        started = {name: _worker(ray, name, node, load, threads) for name, node in nodes.items()}
        if found := {name: worker for name, worker in started.items() if worker is not None}:
            return found
        if time.monotonic() > until:
            raise InputError("Another sweep uses every node of the cluster: try again when it is done.")
        time.sleep(1)


def named_nodes(nodes: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = Counter(node["NodeName"] for node in nodes)
    parts = ["" if names[node["NodeName"]] == 1 else f" ({node['NodeID'][:8]})" for node in nodes]
    return dict(sorted((f"{node['NodeName']}{part}", node) for node, part in zip(nodes, parts, strict=True)))


def _worker(ray: Any, name: str, node: dict[str, Any], load: Load, threads: int) -> Any:
    """Start a worker on a node; None if another sweep has one there: its name can be given once."""
    pinned = import_module("ray.util.scheduling_strategies").NodeAffinitySchedulingStrategy
    options = {
        "name": node["NodeID"],
        "num_cpus": threads,
        "num_gpus": min(1, node["Resources"].get("GPU", 0)),
        "scheduling_strategy": pinned(node["NodeID"], soft=False),
        "runtime_env": {"env_vars": given_settings()},
    }
    try:
        return ray.remote(Worker).options(**options).remote(name, load, os.getcwd(), __version__)
    except ray.exceptions.ActorAlreadyExistsError:
        return None


class RayNodes:
    def __init__(self, ray: Any, workers: dict[str, Any]) -> None:
        self._ray, self._workers = ray, workers
        self._asked: dict[Any, str] = {}  # Ray's reference to an answer: the node

    @property
    def names(self) -> list[str]:
        return list(self._workers)

    def send(self, node: str, what: SweepPair | list[SweepCell]) -> None:
        worker = self._workers[node]
        method = worker.load if isinstance(what, SweepPair) else worker.measure
        self._asked[method.remote(what)] = node

    def answer(self) -> tuple[str, NodeAnswer]:
        (ready,), _ = self._ray.wait(list(self._asked), num_returns=1)
        node, errors = self._asked.pop(ready), self._ray.exceptions
        try:
            return node, self._ray.get(ready)
        except errors.RayTaskError as error:  # our own code failed there, so it will fail on other nodes too
            if isinstance(error.cause, InputError):
                raise InputError(f"On node {node}: {error.cause}") from None
            raise error.cause from None
        except errors.RayError as error:
            missing = "No module named 'specviz'" in str(error)
            return node, LostNode("specviz is not installed there" if missing else "its process or its machine ended")
