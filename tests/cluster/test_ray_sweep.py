"""A sweep on a real Ray cluster of two nodes: rows of both, one node killed on the way, and the same command again."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specviz.measure.sweep.cluster import NAMESPACE
from specviz.measure.sweep.rows import SweepRow, parse_rows
from tests.cluster.conftest import TwoNodes

ROOT = Path(__file__).parents[2]
PROMPTS = ["Once upon a time", "One day a girl", "The cat sat on", "A dog ran to", "Tom had a red", "It was a hot"]
LENGTHS = (1, 2, 3, 4)
PAIR = ["--target", "wren-base", "--draft", "wren-nano"]
EVERY = {(f"line-{number}", length) for number in range(1, len(PROMPTS) + 1) for length in LENGTHS}
PATIENCE = 300  # seconds; far more than any of this needs, so that a busy machine fails no test


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    file = tmp_path / "prompts.txt"
    file.write_text("".join(f"{prompt}\n" for prompt in PROMPTS))
    return file


class Command:
    """A `specviz` command that runs beside the test; its progress is read line by line."""

    def __init__(self, log: Path, *arguments: object) -> None:
        self._log = log
        command = [sys.executable, "-m", "specviz", *map(str, arguments)]
        with log.open("w") as output:
            self._process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.PIPE, text=True)

    def progress(self) -> Iterator[str]:
        """Each line on standard error, until the command ends."""
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                print(line, end="")  # pytest shows it if the test fails
                yield line

    def ended(self) -> tuple[int, str]:
        """Its status and what it printed, when it has ended."""
        status = self._process.wait(PATIENCE)
        return status, self._log.read_text(encoding="utf-8")


def sweep(prompts: Path, *more: object) -> list[object]:
    return ["sweep", *PAIR, "--prompts-file", prompts, "--draft-lengths", ",".join(map(str, LENGTHS)), *more]


def measured(csv: Path) -> list[SweepRow]:
    return parse_rows(csv.read_text(encoding="utf-8"), csv.name)


def cells(rows: Sequence[SweepRow]) -> list[tuple[str, int]]:
    return sorted((row.preset, row.draft_length) for row in rows)


def test_both_nodes_measure_and_one_that_is_killed_loses_nothing(
    cluster: TwoNodes, prompts: Path, tmp_path: Path
) -> None:
    csv = tmp_path / "rows.csv"
    arguments = sweep(prompts, "--max-new-tokens", 24, "--csv", csv, "--json", "-", "--ray", cluster.address)
    command, said, begun = Command(tmp_path / "log", *arguments), list[str](), 0
    for line in command.progress():
        said.append(line)
        begun += line.startswith("progress: second: line-")
        if begun == 2:  # its first prompt is measured and saved, and the next one is under way
            begun += 1
            saved = measured(csv)
            cluster.kill_second()
    status, printed = command.ended()
    assert status == 0, said
    rows = measured(csv)
    assert cells(rows) == sorted(EVERY)
    assert {row.node for row in saved} >= {"second"}
    assert rows[: len(saved)] == saved
    assert {row.node for row in rows} == {"first", "second"}
    assert all(row.machine for row in rows)
    assert any(line.startswith("note: node second is gone (its process or its machine ended)") for line in said)
    assert [line for line in said if "first: loading" in line] == ["progress: first: loading wren-base and wren-nano\n"]
    assert len(json.loads(printed)["rows"]) == len(EVERY)  # nothing else is on standard output

    again = Command(tmp_path / "log", *arguments)
    said = list(again.progress())
    assert again.ended()[0] == 0, said
    assert measured(csv) == rows


def test_a_node_that_another_sweep_uses_is_left_alone(cluster: TwoNodes, prompts: Path, tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    arguments = sweep(prompts, "--max-new-tokens", 8, "--csv", csv, "--ray", cluster.address)
    with other_sweep(cluster.address) as workers:
        command = Command(tmp_path / "log", *arguments)
        *_, last = command.progress()
        assert command.ended() == (2, "")
        assert last == "specviz: Another sweep uses every node of the cluster: try again when it is done.\n"
        import ray

        ray.kill(workers["second"])
        command = Command(tmp_path / "log", *arguments)
        said = list(command.progress())
        assert command.ended()[0] == 0, said
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


def test_a_cluster_that_the_command_starts_here(prompts: Path, tmp_path: Path) -> None:
    csv = tmp_path / "rows.csv"
    compare = ["compare", *PAIR, "--prompts-file", prompts, "--draft-length", 2, "--max-new-tokens", 8]
    command = Command(tmp_path / "log", *compare, "--csv", csv, "--ray", "local")
    said = list(command.progress())
    assert command.ended()[0] == 0, said
    rows = measured(csv)
    assert cells(rows) == [(f"line-{number}", 2) for number in range(1, len(PROMPTS) + 1)]
    assert len({row.node for row in rows}) == 1
    assert rows[0].node
