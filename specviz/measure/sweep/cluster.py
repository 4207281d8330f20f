"""A sweep on all nodes of a Ray cluster. The only file of a sweep that imports Ray, and only when asked.

- A node measures one thing at a time, so that no other cell of the sweep disturbs its clock.
- A speedup is made of two runs that one node made back to back (`measure.measure`), never of two machines.
- A prompt's cells go to one node: its draft lengths are compared with each other.
- The prompt that a node had in hand when it was gone is another node's.
"""

import os
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from specviz import __version__
from specviz.core.drafters import spoken
from specviz.core.errors import InputError, NoNodeLeft
from specviz.core.operator_settings import given_settings
from specviz.core.ray_address import CLIENT, LOCAL, check_ray
from specviz.measure.sweep.measure import Models, sweep
from specviz.measure.sweep.plan import SweepCell, SweepPair, SweepPrompt
from specviz.measure.sweep.rows import SweepRow
from specviz.models.devices import describe_machine

Load = Callable[[SweepPair], Models]
Say = Callable[[str], None]
NAMESPACE = "specviz-sweep"  # of the names of workers
PATIENCE = 30  # seconds: for a cluster to answer, and for a node that another sweep uses
OBJECT_STORE = 100_000_000  # bytes; rows are small


class Worker:
    """One process on one node. Its methods are called one after the other, never two at once."""

    def __init__(self, node: str, load: Load, folder: str, version: str) -> None:
        """`folder` is where the sweep was asked for: names of model folders may be relative to it."""
        self._node, self._load, self._version = node, load, version
        self._loaded: dict[SweepPair, Models] = {}  # one pair, or none yet
        with suppress(OSError):  # another machine need not have the folder
            os.chdir(folder)

    def measure(self, cells: Sequence[SweepCell], known: Sequence[SweepRow]) -> list[SweepRow]:
        """The rows of a prompt's cells, but for those that are known.

        A cluster stays the same place when one of its nodes is replaced: what a node measured is known on any.
        """
        if self._version != __version__:
            said = f"specviz {__version__} is installed there, and {self._version} here. Install the same one."
            raise InputError(said)
        here = describe_machine().machine
        done = [(replace(row, machine=here) if row.node else row).key for row in known]
        return [replace(row, node=self._node) for row in sweep(cells, self._models_of, done)]

    def _models_of(self, pair: SweepPair) -> Models:
        if pair not in self._loaded:
            self._loaded.clear()  # their memory is needed
            self._loaded[pair] = self._load(pair)
        return self._loaded[pair]


def measure_on(
    workers: Mapping[str, Any], cells: Sequence[SweepCell], rows: Sequence[SweepRow], progress: Say, lost: Say
) -> Iterator[SweepRow]:
    """The rows that are not there yet, as they arrive. InputError: a node cannot load or measure what was asked.

    NoNodeLeft: all nodes are gone.
    """
    ray, idle, number = import_module("ray"), list(workers), 0
    tasks: dict[tuple[SweepPair, SweepPrompt], list[SweepCell]] = defaultdict(list)
    for cell in cells:
        tasks[cell.pair, cell.prompt].append(cell)
    waiting = list(tasks)
    loaded: dict[str, SweepPair] = {}
    asked: dict[Any, tuple[str, tuple[SweepPair, SweepPrompt]]] = {}  # by Ray's reference to the answer
    while asked or waiting:
        while idle and waiting:
            node = idle.pop(0)  # it takes the first prompt that waits for models that it has; else the first one
            pair, prompt = task = next((each for each in waiting if each[0] == loaded.get(node)), waiting[0])
            waiting.remove(task)
            if loaded.get(node) != pair:
                loaded[node] = pair
                progress(f"{node}: loading {' and '.join(pair.models)}")
            number = min(number + len(tasks[task]), len(cells))
            progress(f"{node}: {prompt.name}, drafted by {spoken(pair.draft)}: {number} of {len(cells)}")
            known = [row for row in rows if row.preset == prompt.name]
            asked[workers[node].measure.remote(tasks[task], known)] = node, task
        (ready,), _ = ray.wait(list(asked), num_returns=1)
        node, task = asked.pop(ready)
        try:
            measured = ray.get(ready)
        except ray.exceptions.RayTaskError as error:  # our own code failed there, so it will fail on other nodes too
            if isinstance(error.cause, InputError):
                raise InputError(f"On node {node}: {error.cause}") from None
            raise error.cause from None
        except ray.exceptions.RayError as error:
            missing = "No module named 'specviz'" in str(error)
            reason = "specviz is not installed there" if missing else "its process or its machine ended"
            waiting.insert(0, task)
            if not asked and not idle:
                raise NoNodeLeft(f"no node of the cluster is left: {node} was the last one ({reason})") from None
            count = len(tasks[task])
            lost(f"node {node} is gone ({reason}); other nodes measure the {count} cells that it had in hand")
        else:
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
        host, colon, port = address.removeprefix(CLIENT).rpartition(":")
        if colon:  # see that something listens there: Ray itself tries for minutes
            try:
                socket.create_connection((host.strip("[]"), int(port)), PATIENCE).close()
            except OSError as error:
                raise InputError(f"No Ray cluster answers at {address}: {error.strerror or error}.") from error
        own = {"include_dashboard": False, "object_store_memory": OBJECT_STORE} if address == LOCAL else {}
        try:
            ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level="ERROR", **own)
        except Exception as error:  # Ray raises many kinds: ConnectionError, RuntimeError, ValueError, its own
            lines = [*filter(None, map(str.strip, str(error).splitlines())), type(error).__name__]
            raise InputError(f"The Ray cluster at {address} cannot be used: {lines[0].rstrip('.')}.") from error
        try:
            alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= threads]
            if not alive:
                count = f"{threads} {'processor' if threads == 1 else 'processors'}"
                raise InputError(f"No node of the cluster has {count}.")
            until, found = time.monotonic() + PATIENCE, dict[str, Any]()
            while not found:
                started = {name: _worker(ray, name, node, load, threads) for name, node in named_nodes(alive).items()}
                found = {name: worker for name, worker in started.items() if worker is not None}
                if not found and time.monotonic() > until:
                    raise InputError("Another sweep uses every node of the cluster: try again when it is done.")
                time.sleep(0 if found else 1)
            yield found
        finally:
            ray.shutdown()


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
