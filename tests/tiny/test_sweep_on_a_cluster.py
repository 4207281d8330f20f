"""A sweep on a cluster, but for Ray itself: real workers with tiny models, each node in its turn."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from specviz import DecodeSettings, InputError, __version__
from specviz.core import ray_address
from specviz.core.errors import NoNodeLeft
from specviz.core.ray_address import NO_RAY
from specviz.measure.sweep import cluster
from specviz.measure.sweep.cluster import Worker, measure_on, named_nodes
from specviz.measure.sweep.measure import Models
from specviz.measure.sweep.plan import SweepCell, SweepPair, SweepPlan, SweepPrompt
from specviz.measure.sweep.rows import SweepRow, parse_rows
from specviz.models.devices import describe_machine
from tests.support.commands import Cli, command_line, without_progress
from tests.support.tiny_models import tiny_model

TARGET, DRAFT = tiny_model(seed=1, name="target"), tiny_model(seed=1, layers=1, name="draft")
PAIR, LOOKUP = SweepPair("target", "draft"), SweepPair("target", "lookup")
PROMPTS = tuple(SweepPrompt("a", f"a-{number}", f"w{number}") for number in range(4))
PLAN = SweepPlan(PROMPTS, (PAIR,), (1, 2, 4), settings=DecodeSettings(max_new_tokens=6))
CELLS = PLAN.cells()
COMMAND = ["--target", "wren-base", "--draft", "wren-nano", "--draft-lengths", "1,2"]


class RayError(Exception):
    """As Ray's own."""


class RayTaskError(RayError):
    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class FakeRay:
    """Ray's functions that a sweep uses. A reference to an answer is what computes it; the oldest is ready first."""

    exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def init(self, **_: object) -> None:
        raise ConnectionError("Could not find any running Ray instance.\nPlease specify the one to connect to.")

    def wait(self, asked: list[Any], num_returns: int) -> tuple[list[Any], list[Any]]:
        return asked[:num_returns], asked[num_returns:]

    def get(self, reference: Any) -> Any:
        try:
            return reference()
        except RayError:
            raise
        except Exception as error:
            raise RayTaskError(error) from error


class Node:
    """A worker in this process, which is gone from its answer of this number on."""

    def __init__(self, name: str, dies_at: int = sys.maxsize, why: str = "it is off") -> None:
        self.worker, self.dies_at, self.why = Worker(name, self.load, ".", __version__), dies_at, why
        self.asked = 0
        self.loaded: list[SweepPair] = []
        self.measure = SimpleNamespace(remote=self.ask)

    def load(self, pair: SweepPair) -> Models:
        self.loaded.append(pair)
        return load(pair)

    def ask(self, *what: Any) -> Callable[[], Any]:
        self.asked += 1
        return partial(self.answer, self.asked, *what)

    def answer(self, number: int, *what: Any) -> Any:
        if number >= self.dies_at:
            raise RayError(self.why)
        return self.worker.measure(*what)


@pytest.fixture(autouse=True)
def as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path.cwd())  # a worker changes its folder; this changes it back
    monkeypatch.setitem(sys.modules, "ray", FakeRay())  # type: ignore[arg-type]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Cli:
    return command_line(capsys)


def load(pair: SweepPair) -> Models:
    if pair.target not in ("target", "wren-base"):
        raise InputError(f"There is no model {pair.target!r}.")
    return TARGET, None if pair == LOOKUP else DRAFT


def swept(
    *nodes: Node, cells: Sequence[SweepCell] = CELLS, known: Sequence[SweepRow] = (), said: Any = None, lost: Any = None
) -> list[SweepRow]:
    workers = {f"n{place}": node for place, node in enumerate(nodes)}
    return list(measure_on(workers, cells, known, (said or []).append, (lost or []).append))


def what(rows: Sequence[SweepRow]) -> Counter[tuple[str, int]]:
    return Counter((row.preset, row.draft_length) for row in rows)


EVERY = Counter((cell.prompt.name, cell.settings.draft_length) for cell in CELLS)


def test_every_cell_is_measured_once_a_prompt_on_one_node_and_a_pair_is_loaded_once() -> None:
    nodes, said = [Node("first"), Node("second"), Node("third")], [""]
    rows = swept(*nodes, cells=replace(PLAN, pairs=(PAIR, LOOKUP)).cells(), said=said)
    drafted = [row for row in rows if row.draft == "draft"]
    assert what(drafted) == what([row for row in rows if row.draft != "draft"]) == EVERY
    assert {row.node for row in rows} == {"first", "second", "third"}
    assert len({(row.preset, row.node) for row in drafted}) == len(PROMPTS)
    assert all(len(node.loaded) == len(set(node.loaded)) for node in nodes)
    assert said[1:3] == ["n0: loading target and draft", "n0: a-0, drafted by draft: 3 of 24"]
    assert said[-1].endswith("24 of 24")


@pytest.mark.parametrize("number", [1, 2], ids=["loading", "next prompt"])
def test_a_node_that_dies_loses_nothing(number: int) -> None:
    lost = [""]
    assert what(swept(Node("first"), Node("second", number), lost=lost)) == EVERY
    assert lost[1:] == [
        "node n1 is gone (its process or its machine ended); other nodes measure the 3 cells that it had in hand"
    ]


def test_without_a_node_or_with_an_error_of_our_own_the_sweep_ends() -> None:
    with pytest.raises(NoNodeLeft, match=r"^no node of the cluster is left: n1 was the last one \(specviz is not"):
        swept(Node("first", 1), Node("second", 2, "ModuleNotFoundError: No module named 'specviz'"))
    missing = replace(PLAN, pairs=(SweepPair("x", "draft"),)).cells()
    with pytest.raises(InputError, match=r"^On node n0: There is no model 'x'\.$"):
        swept(Node("first"), cells=missing)
    broken = Node("first")
    broken.worker.measure = lambda *_: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    with pytest.raises(ZeroDivisionError):
        swept(broken)


def test_rows_that_are_there_are_not_measured_again() -> None:
    rows = swept(Node("a node that is no more"))
    moved, here = [replace(row, machine="another") for row in rows], [replace(row, node=None) for row in rows]
    assert what(swept(Node("first"), known=moved[:5])) == EVERY - what(moved[:5])
    assert swept(Node("first"), known=here) == []
    assert what(swept(Node("first"), known=[replace(row, machine="another") for row in here])) == EVERY
    twice = replace(PLAN, repeats=2).cells()
    assert what(swept(Node("first"), Node("second"), cells=twice, known=rows)) == EVERY


def test_a_worker_names_its_node_and_machine_and_reads_folders_where_the_sweep_is(tmp_path: Path) -> None:
    rows = Worker("first", load, str(tmp_path), __version__).measure(CELLS[:1], [])
    here = torch.get_num_threads(), describe_machine().machine
    assert [(row.node, row.threads, row.machine) for row in rows] == [("first", *here)]
    Worker("first", load, str(tmp_path / "a folder of another machine"), __version__)
    assert Path.cwd() == tmp_path
    with pytest.raises(InputError, match=r"0\.0\.1 here"):
        Worker("first", load, ".", "0.0.1").measure(CELLS[:1], [])


def test_what_cannot_be_measured_on_a_cluster_is_one_sentence(run: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "'nowhere' is no address of a Ray cluster: use local"
    one_prompt = ["compare", *COMMAND[:4], "--prompt", "Once"]
    for command, ray, says in (
        (["sweep", *COMMAND], "nowhere", address),
        (["compare", *COMMAND, "--prompts-file", __file__], "nowhere", address),
        (one_prompt, "local", "--ray is for several prompts: use --prompts-file."),
    ):
        status, out, err = run(*command, "--ray", ray)
        assert (status, out) == (2, "")
        assert err.splitlines()[-1].startswith(f"specviz: {says}")
    monkeypatch.setattr(ray_address, "find_spec", lambda name: None)
    assert run("sweep", *COMMAND, "--ray", "local") == (2, "", f"specviz: {NO_RAY}\n")


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("127.0.0.1:1", r"^No Ray cluster answers at 127\.0\.0\.1:1: .+\.$"),
        ("auto", r"^The Ray cluster at auto cannot be used: Could not find any running Ray instance\.$"),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_one_sentence(
    address: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "check_ray", lambda: None)
    with pytest.raises(InputError, match=says), cluster.ray_workers(address, load, 1):
        pass


def test_without_nodes_the_rows_are_saved(run: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts, rows = tmp_path / "prompts.txt", tmp_path / "rows.csv"
    prompts.write_text("w1\nw2\nw3\n")
    command = ["compare", *COMMAND, "--max-new-tokens", 6, "--prompts-file", prompts, "--ray", "auto", "--csv", rows]
    monkeypatch.setattr("specviz.cli.sweep.check_ray", lambda: None)

    def measured_with(*nodes: Node) -> tuple[int, str, str]:
        @contextmanager
        def instead_of_ray(*_: object) -> Iterator[dict[str, Node]]:
            yield {f"n{place}": node for place, node in enumerate(nodes)}

        monkeypatch.setattr(cluster, "ray_workers", instead_of_ray)
        status, out, err = run(*command)
        return status, out, without_progress(err)

    status, out, err = measured_with(Node("first", 2), Node("second", 2))
    assert (status, out) == (2, "")
    assert err.splitlines()[-1].endswith(f"{rows} has 4 of 6 rows; the same command measures the rest.")
    status, _, err = measured_with(Node("third"))
    assert (status, err) == (0, "")
    found = [row.node for row in parse_rows(rows.read_text(encoding="utf-8"), "rows")]
    assert (len(found), found[-1], "first" in found) == (6, "third", True)


def test_nodes_of_one_name_are_told_apart() -> None:
    nodes = [{"NodeName": name, "NodeID": number * 8} for name, number in (("b", "12345678"), ("a", "2"), ("b", "3"))]
    assert list(named_nodes(nodes)) == ["a", "b (12345678)", "b (33333333)"]
