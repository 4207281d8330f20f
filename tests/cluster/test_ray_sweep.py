"""A sweep on a real Ray cluster of two nodes: rows of both, one node killed on the way, and the same command again."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks.serving import free_port
from specviz.measure.sweep.cluster import NAMESPACE
from specviz.measure.sweep.rows import SweepRow, parse_rows
from tests.support.known import known

ROOT = Path(__file__).parents[2]
PROMPTS = ["Once upon a time", "One day a girl", "The cat sat on", "A dog ran to", "Tom had a red", "It was a hot"]
LENGTHS = (1, 2, 3, 4)
EVERY = [(f"line-{number}", length) for number in range(1, len(PROMPTS) + 1) for length in LENGTHS]
# A node's helpers are Python programs, which start slowly on a busy machine: by default Ray gives them 15 seconds.
PATIENT = {"agent_register_timeout_ms": 300_000, "raylet_start_wait_time_s": 300, "enable_metrics_collection": False}
HELPERS = ("metrics_agent_port", "runtime_env_agent_port", "dashboard_agent_listen_port", "metrics_export_port")
STARTS = 4  # times that a cluster is tried
LEAST = {"num_cpus": 1, "object_store_memory": 80_000_000, "include_dashboard": False}


@dataclass
class TwoNodes:
    """A running cluster of two nodes, "first" and "second", of one processor each. The first one is the head."""

    cluster: Any
    second: Any

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
def two() -> Iterator[TwoNodes]:
    """A new cluster, ended after the test."""
    started = next((started for _ in range(STARTS) if (started := _started())), None)
    assert started, f"no cluster started in {STARTS} tries"
    yield started
    started.cluster.shutdown()


def _started() -> TwoNodes | None:
    """None if a node did not start within the 30 seconds that Ray gives it: a busy machine needs another try.

    With ports chosen here, Ray does not wait for a node's helpers to choose them.
    """
    from ray.cluster_utils import Cluster

    cluster, nodes = Cluster(), {}
    try:
        for name, more in (("first", {"_system_config": PATIENT}), ("second", {})):
            nodes[name] = cluster.add_node(node_name=name, **LEAST, **more, **{each: free_port() for each in HELPERS})
    except Exception as error:  # Ray names no class for it
        print(f"The cluster did not start: {error}")
        cluster.shutdown()
        return None
    return TwoNodes(cluster, nodes["second"])


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    file = tmp_path / "prompts.txt"
    file.write_text("".join(f"{prompt}\n" for prompt in PROMPTS))
    return file


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def command(name: str, prompts: Path, csv: Path, *more: object) -> list[str]:
    asked = [name, "--target", "wren-base", "--draft", "wren-nano", "--prompts-file", prompts, "--csv", csv, *more]
    return [sys.executable, "-m", "specviz", *map(str, asked)]


def done(command: list[str]) -> tuple[int, str, list[str]]:
    """Its status, what it printed, and the lines on standard error."""
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return ended.returncode, ended.stdout, ended.stderr.splitlines()


def measured(csv: Path) -> list[SweepRow]:
    return parse_rows(csv.read_text(encoding="utf-8"), csv.name)


def test_both_nodes_measure_and_one_that_is_killed_loses_nothing(
    two: TwoNodes, prompts: Path, csv: Path, tmp_path: Path
) -> None:
    more = ("--draft-lengths", "1,2,3,4", "--max-new-tokens", 24, "--json", "-", "--ray", two.cluster.address)
    sweep, out, said, begun = command("sweep", prompts, csv, *more), tmp_path / "out", list[str](), 0
    with out.open("w") as printed:
        running = subprocess.Popen(sweep, cwd=ROOT, stdout=printed, stderr=subprocess.PIPE, text=True)
    with known(running.stderr) as lines:
        for line in lines:
            said.append(line)
            begun += line.startswith("progress: second: line-")
            if begun == 2:  # its first prompt is measured and saved, and the next one is under way
                begun += 1
                saved = measured(csv)
                two.kill_second()
    assert running.wait() == 0, said
    rows = measured(csv)
    assert sorted((row.preset, row.draft_length) for row in rows) == EVERY
    assert {row.node for row in saved} >= {"second"}
    assert rows[: len(saved)] == saved
    assert {row.node for row in rows} == {"first", "second"}
    assert all(row.machine for row in rows)
    assert any(line.startswith("note: node second is gone (its process or its machine ended)") for line in said)
    assert [line for line in said if "first: loading" in line] == ["progress: first: loading wren-base and wren-nano\n"]
    assert len(json.loads(out.read_text(encoding="utf-8"))["rows"]) == len(EVERY), "nothing else is printed"
    status, _, said = done(sweep)
    assert (status, measured(csv)) == (0, rows), said


def test_a_node_that_another_sweep_uses_is_left_alone(two: TwoNodes, prompts: Path, csv: Path) -> None:
    more = ("--draft-lengths", "1,2", "--max-new-tokens", 8, "--ray", two.cluster.address)
    sweep = command("sweep", prompts, csv, *more)
    with other_sweep(two.cluster.address) as workers:
        *refused, said = done(sweep)
        assert refused == [2, ""]
        assert said[-1] == "specviz: Another sweep uses every node of the cluster: try again when it is done."
        import ray

        ray.kill(workers["second"])
        status, _, said = done(sweep)
        assert status == 0, said
    assert {row.node for row in measured(csv)} == {"second"}


@contextmanager
def other_sweep(address: str) -> Iterator[dict[str, Any]]:
    """Actors with the names that a sweep gives its workers, by node; they need no processor."""
    import ray

    class Nothing:
        pass

    ray.init(address=address, namespace=NAMESPACE, log_to_driver=False)
    try:
        each = ray.remote(num_cpus=0)(Nothing)
        yield {node["NodeName"]: each.options(name=node["NodeID"]).remote() for node in ray.nodes()}
    finally:
        ray.shutdown()


def test_a_cluster_that_the_command_starts_here(prompts: Path, csv: Path) -> None:
    more = ("--draft-length", 2, "--max-new-tokens", 8, "--ray", "local")
    status, _, said = done(command("compare", prompts, csv, *more))
    assert status == 0, said
    rows = measured(csv)
    assert sorted((row.preset, row.draft_length) for row in rows) == [cell for cell in EVERY if cell[1] == 2]
    assert len({row.node for row in rows}) == 1
    assert rows[0].node
