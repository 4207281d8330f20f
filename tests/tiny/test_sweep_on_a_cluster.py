"""A sweep on a cluster, but for Ray itself: the worker with tiny models, the command, and what Ray's errors mean."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from specviz import DecodeSettings, InputError, __version__
from specviz.core import ray_address
from specviz.core.ray_address import NO_RAY, parse_ray_address
from specviz.measure.sweep import ray_nodes
from specviz.measure.sweep.measure import Models
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt, groups
from specviz.measure.sweep.ray_nodes import RayNodes, Worker, named_nodes
from specviz.measure.sweep.spread import LostNode, NodeAnswer
from specviz.measure.sweep.table import parse_rows
from specviz.models.devices import describe_machine
from tests.support.commands import Cli, command_line, without_progress
from tests.support.fake_nodes import FakeNodes
from tests.support.tiny_models import tiny_model

TARGET, DRAFT = tiny_model(seed=1, name="target"), tiny_model(seed=1, layers=1, name="draft")
PAIR = SweepPair("target", "draft")
PROMPTS = (SweepPrompt("a", "a-1", "w1"), SweepPrompt("a", "a-2", "w2"))
PLAN = SweepPlan(PROMPTS, (PAIR,), (1, 3), settings=DecodeSettings(max_new_tokens=8))
COMMAND = ["--target", "wren-base", "--draft", "wren-nano", "--draft-lengths", "1,2"]


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())  # a worker changes its folder; this changes it back


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def load(pair: SweepPair) -> Models:
    if pair.target != "target":
        raise InputError(f"There is no model {pair.target!r}.")
    return TARGET, DRAFT


def a_worker(tmp_path: Path, version: str = __version__) -> Worker:
    return Worker("first", load, str(tmp_path), version)


def test_a_worker_names_its_node_and_machine_in_every_row_and_reads_folders_where_the_sweep_is(tmp_path: Path) -> None:
    worker, (group, _) = a_worker(tmp_path), groups(PLAN.cells())
    here = torch.get_num_threads(), describe_machine().machine
    assert worker.load(PAIR) == ("target", "float32", "draft", "float32", *here)
    assert [(row.draft_length, row.node, row.machine) for row in worker.measure(group)] == [
        (1, "first", here[1]), (3, "first", here[1]),
    ]  # fmt: skip
    assert Path.cwd() == tmp_path
    a_worker(tmp_path / "a folder of another machine")
    assert Path.cwd() == tmp_path


def test_a_worker_refuses_in_one_sentence(tmp_path: Path) -> None:
    worker = a_worker(tmp_path)
    with pytest.raises(InputError, match="There is no model 'x'"):
        worker.load(SweepPair("x", "draft"))
    worker.load(PAIR)
    with pytest.raises(InputError, match="context"):
        worker.measure(SweepPlan((SweepPrompt("a", "long", "w1 " * 5000),), (PAIR,), (1,)).cells())
    with pytest.raises(InputError, match=r"0\.0\.1 here"):
        a_worker(tmp_path, "0.0.1").load(PAIR)


def test_what_cannot_be_measured_on_a_cluster_is_one_sentence(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "'nowhere' is no address of a Ray cluster: use local"
    one_prompt = ["compare", *COMMAND[:4], "--prompt", "Once"]
    for command, ray, says in (
        (["sweep", *COMMAND], "nowhere", address),
        (["compare", *COMMAND, "--prompts-file", __file__], "nowhere", address),
        (one_prompt, "local", "--ray is for several prompts: use --prompts-file.\n"),
    ):
        status, out, err = run(*command, "--ray", ray)
        assert (status, out) == (2, "")
        assert err.splitlines()[-1].startswith(f"specviz: {says.strip()}")
    monkeypatch.setattr(ray_address, "find_spec", lambda name: None)
    status, out, err = run("sweep", *COMMAND, "--ray", "local")
    assert (status, out, err) == (2, "", f"specviz: {NO_RAY}\n")


def test_nobody_at_an_address_and_a_cluster_that_cannot_be_joined_are_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^No Ray cluster answers at 127\.0\.0\.1:1: .+\.$"):
        ray_nodes._knock(parse_ray_address("127.0.0.1:1"))
    why = re.escape("Could not find any running Ray instance.")
    with pytest.raises(InputError, match=f"^The Ray cluster at auto cannot be used: {why}$"):
        ray_nodes._connect(FakeRay(), parse_ray_address("auto"))


def test_without_nodes_the_rows_are_saved(run: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts, rows = tmp_path / "prompts.txt", tmp_path / "rows.csv"
    prompts.write_text("Once\nOne day\nThe cat\n")
    command = ["compare", *COMMAND, "--prompts-file", prompts, "--ray", "auto", "--csv", rows]
    monkeypatch.setattr("specviz.cli.sweep.check_ray", lambda: None)

    def with_nodes(nodes: FakeNodes) -> None:
        @contextmanager
        def instead_of_ray(*_: object) -> Iterator[FakeNodes]:
            yield nodes

        monkeypatch.setattr(ray_nodes, "ray_nodes", instead_of_ray)

    with_nodes(FakeNodes("first", "second", say=lambda node, number: LostNode("it is off") if number == 3 else None))
    status, out, err = run(*command)
    saved = f"measured now: 4 rows. {rows} has 4 rows; the same command measures the rest."
    assert (status, out) == (2, "")
    assert without_progress(err).splitlines() == [
        "note: node first is gone (it is off); other nodes measure the 2 cells that it had in hand",
        f"specviz: no node of the cluster is left: second was the last one (it is off); {saved}",
    ]
    with_nodes(FakeNodes("third"))
    status, out, err = run(*command)
    assert (status, without_progress(err)) == (0, "")
    assert [row.node for row in parse_rows(rows.read_text(encoding="utf-8"), "rows")] == [
        "first", "first", "second", "second", "third", "third",
    ]  # fmt: skip


def node(name: str, number: str) -> dict[str, Any]:
    return {"NodeName": name, "NodeID": number * 8}


def test_nodes_of_one_name_are_told_apart() -> None:
    names = list(named_nodes([node("b", "12345678"), node("a", "2"), node("b", "3")]))
    assert names == ["a", "b (12345678)", "b (33333333)"]


class RayError(Exception):
    """As Ray's own."""


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class FakeRay:
    """Ray's functions that the nodes use. Each reference to an answer is the answer, or the error in its place."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def init(self, **_: object) -> None:
        raise ConnectionError("Could not find any running Ray instance.\nPlease specify the one to connect to.")

    def wait(self, asked: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return asked[-num_returns:], asked[:-num_returns]  # the last one is ready first

    def get(self, reference: Any) -> Any:
        if isinstance(reference, Exception):
            raise reference
        return reference


def answers(**each: object) -> Iterator[tuple[str, NodeAnswer]]:
    nodes = RayNodes(FakeRay(), {name: Mock(**{"load.remote.return_value": answer}) for name, answer in each.items()})
    for name in each:
        nodes.send(name, PAIR)
    for _ in each:
        yield nodes.answer()


def test_whoever_is_ready_answers_an_error_of_ray_is_a_node_that_is_gone_and_ones_own_is_raised() -> None:
    loaded = ("a model",)
    missing = RayError("The actor died.\nModuleNotFoundError: No module named 'specviz'")
    assert list(answers(first=loaded, second=RayError("The node died."), third=missing)) == [
        ("third", LostNode("specviz is not installed there")),
        ("second", LostNode("its process or its machine ended")),
        ("first", loaded),
    ]
    with pytest.raises(ValueError, match=r"^a bug$"):
        list(answers(first=RayTaskError(ValueError("a bug"))))
    with pytest.raises(InputError, match=r"^On node first: There is no model x\.$"):
        list(answers(first=RayTaskError(InputError("There is no model x."))))
