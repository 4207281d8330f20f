"""A Ray cluster of two nodes on this machine. Where Ray is not installed, this folder has no tests."""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import psutil
import pytest

from tests.support.app_server import free_port

collect_ignore_glob = [] if find_spec("ray") else ["test_*.py"]

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is reported to anyone
os.environ["RAY_DEDUP_LOGS"] = "0"
os.environ["RAY_AUTH_MODE"] = "disabled"  # else a token in the user's folder, or none, decides who may connect

# A node's helpers are Python programs, which start slowly on a busy machine: by default Ray gives them 15 seconds.
PATIENT = {"agent_register_timeout_ms": 300_000, "raylet_start_wait_time_s": 300, "enable_metrics_collection": False}
HELPERS = ("metrics_agent_port", "runtime_env_agent_port", "dashboard_agent_listen_port", "metrics_export_port")
STARTS = 4  # times that a cluster is tried
OBJECT_STORE = 80_000_000  # bytes; about the least that Ray takes


@dataclass
class TwoNodes:
    """A running cluster of two nodes, "first" and "second", of one processor each. The first one is the head."""

    cluster: Any
    first: Any
    second: Any

    @property
    def address(self) -> str:
        """HOST:PORT, for `--ray` and for `ray.init`."""
        return str(self.cluster.address)

    def kill_second(self) -> None:
        """End all of the second node's processes at once, as when its machine loses power.

        Ray ends the node's own process; its workers would notice that only some time later, and work until then.
        """
        (raylet,) = self.second.all_processes["raylet"]
        workers = psutil.Process(raylet.process.pid).children(recursive=True)
        for worker in workers:
            with suppress(psutil.NoSuchProcess):
                worker.kill()
        self.cluster.remove_node(self.second, allow_graceful=False)


@pytest.fixture
def cluster() -> Iterator[TwoNodes]:
    """A new cluster, ended after the test."""
    two = next((started for _ in range(STARTS) if (started := _started())), None)
    assert two, f"no cluster started in {STARTS} tries"
    yield two
    two.cluster.shutdown()


def _started() -> TwoNodes | None:
    """None if a node did not start within the 30 seconds that Ray gives it: a busy machine needs another try."""
    from ray.cluster_utils import Cluster

    nodes = Cluster()
    try:
        first = nodes.add_node(node_name="first", _system_config=PATIENT, **_node())
        second = nodes.add_node(node_name="second", **_node())
    except Exception as error:  # Ray names no class for it
        print(f"The cluster did not start: {error}")
        nodes.shutdown()
        return None
    return TwoNodes(nodes, first, second)


def _node() -> dict[str, Any]:
    """What a node is started with. With ports chosen here, Ray does not wait for its helpers to choose them."""
    ports = {name: free_port() for name in HELPERS}
    return {"num_cpus": 1, "object_store_memory": OBJECT_STORE, "include_dashboard": False, **ports}
