"""A sweep on all nodes of a Ray cluster. The only file of a sweep that imports Ray, and only when asked.

- A node measures one thing at a time, so that no other cell of the sweep disturbs its clock.
- A speedup is made of two runs that one node made back to back (`measure.measure`), never of two machines.
- A prompt's cells go to one node, as long as it lives: its draft lengths are compared with each other.
- A node that is gone gives back what it has not measured, and other nodes measure that.
"""

import os
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from itertools import groupby
from typing import Any

from specviz import __version__
from specviz.core.errors import InputError, NoNodeLeft
from specviz.core.operator_settings import given_settings
from specviz.core.ray_address import CLIENT, LOCAL, check_ray
from specviz.core.steps import result_of
from specviz.measure.sweep.measure import Models, cell_key, measure, naming
from specviz.measure.sweep.plan import SweepCell, SweepPair, groups
from specviz.measure.sweep.rows import MACHINE, MADE_BY, SweepRow, row_key

Load = Callable[[SweepPair], Models]
Key = tuple[str, ...]
Say = Callable[[str], None]
NAMESPACE = "specviz-sweep"  # of the names of workers
PATIENCE = 30  # seconds: for a cluster to answer, and for a node that another sweep uses
OBJECT_STORE = 100_000_000  # bytes; rows are small
MADE = len(MADE_BY)  # parts of a key that say what made a row; without the machine one less


class Worker:
    """One process on one node. Its methods are called one after the other, never two at once."""

    def __init__(self, node: str, load: Load, folder: str, version: str) -> None:
        """`folder` is where the sweep was asked for: names of model folders may be relative to it."""
        self._node, self._load, self._version = node, load, version
        self._pair: SweepPair | None = None
        self._models: Models | None = None
        with suppress(OSError):  # another machine need not have the folder
            os.chdir(folder)

    def measure(self, cells: Sequence[SweepCell], known: Sequence[Key]) -> tuple[list[SweepRow], list[Key]]:
        """The rows of the cells that no known key stands for, and the keys that stand for no cell."""
        if self._version != __version__:
            said = f"specviz {__version__} is installed there, and {self._version} here. Install the same one."
            raise InputError(said)
        if self._pair != cells[0].pair or self._models is None:
            self._models = None
            self._models, self._pair = self._load(cells[0].pair), cells[0].pair
        left, unused = list[SweepCell](), list(known)
        for cell in cells:
            key = cell_key(self._models, cell)
            if found := next((each for each in (without_machine(key), key) if each in unused), None):
                unused.remove(found)
            else:
                left.append(cell)
        with naming(cells[0]):
            rows = result_of(measure(self._models, left)) if left else []
        return [replace(row, node=self._node) for row in rows], unused


def without_machine(key: Key) -> Key:
    """A cluster stays the same place when one of its nodes is replaced."""
    return (*key[:MACHINE], *key[MACHINE + 1 :])


def measure_on(
    workers: Mapping[str, Any], cells: Sequence[SweepCell], rows: Iterable[SweepRow], progress: Say, lost: Say
) -> Iterator[SweepRow]:
    """The rows that are not there yet, as they arrive. InputError: a node cannot load or measure what was asked.

    NoNodeLeft: all nodes are gone.
    """
    ray, idle, number = import_module("ray"), list(workers), 0
    known = Counter(without_machine(row.key) if row.node else row.key for row in rows)
    # Neighbouring cells that differ only in the way of drafting, and in the grammar, are one node's.
    its_cells = groupby(cells, lambda each: (each.pair, each.prompt, each.settings.temperature, each.settings.seed))
    waiting = deque(list(groups(its)) for _, its in its_cells)
    hand: dict[str, list[list[SweepCell]]] = {}  # of each node: what is left of its prompt
    pairs: dict[str, SweepPair] = {}  # that a node has loaded
    asked: dict[Any, tuple[str, list[Key]]] = {}  # by Ray's reference to the answer
    while asked or waiting or any(hand.values()):
        for node in [*idle]:
            if not hand.get(node) and not waiting:
                continue
            idle.remove(node)
            if not hand.get(node):  # the first prompt that waits for models that the node has; else the first one
                hand[node] = next((each for each in waiting if each[0][0].pair == pairs.get(node)), waiting[0])
                waiting.remove(hand[node])
            group = hand[node][0]
            if pairs.get(node) != group[0].pair:
                pairs[node] = group[0].pair
                progress(f"{node}: loading {' and '.join(group[0].pair.models)}")
            number = min(number + len(group), len(cells))
            progress(f"{node}: {group[0].label}: {number} of {len(cells)}")
            wanted = {row_key((), cell.named, cell.settings) for cell in group}
            keys = [key for key in known.elements() if key[MADE - 1 :] in wanted or key[MADE:] in wanted]
            known -= Counter(keys)
            asked[workers[node].measure.remote(group, keys)] = node, keys
        (ready,), _ = ray.wait(list(asked), num_returns=1)
        node, keys = asked.pop(ready)
        try:
            measured, unused = ray.get(ready)
        except ray.exceptions.RayTaskError as error:  # our own code failed there, so it will fail on other nodes too
            if isinstance(error.cause, InputError):
                raise InputError(f"On node {node}: {error.cause}") from None
            raise error.cause from None
        except ray.exceptions.RayError as error:
            missing = "No module named 'specviz'" in str(error)
            reason = "specviz is not installed there" if missing else "its process or its machine ended"
            known += Counter(keys)
            left = hand.pop(node)
            waiting.appendleft(left)
            if not asked and not idle:
                raise NoNodeLeft(f"no node of the cluster is left: {node} was the last one ({reason})") from None
            count = sum(map(len, left))
            lost(f"node {node} is gone ({reason}); other nodes measure the {count} cells that it had in hand")
        else:
            known += Counter(unused)
            del hand[node][0]
            idle.append(node)
            yield from measured


@contextmanager
def ray_workers(address: str, load: Load, threads: int) -> Iterator[dict[str, Any]]:
    """A worker on each node of a cluster, until the block ends. A node needs `threads` processors.

    InputError: Ray is not installed, the cluster does not answer, or no node of it can measure.
    """
    check_ray()
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a cluster started here reports nothing to anyone
    ray = import_module("ray")
    # Ray prints on standard output what its nodes log when one dies; --json - needs it for the result.
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing):
        _connect(ray, address)
        try:
            yield _workers(ray, load, threads)
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
