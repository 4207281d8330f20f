"""What a sweep will measure, and how several nodes measure it: each combination once, and a dead node loses nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product

import pytest

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.grammars import Grammar
from specviz.data.prompts.workloads import CONSTRAINED, WORKLOADS
from specviz.measure.sweep.plan import (
    SweepCell,
    SweepPair,
    SweepPlan,
    SweepPrompt,
    groups,
    plain_runs,
    workload_prompts,
)
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.spread import ClusterSweep, LostNode, NodeAnswer
from tests.support.fake_nodes import FakeNodes, row_of

PAIR, LOOKUP = SweepPair("target", "draft"), SweepPair("target", PROMPT_LOOKUP)
PROMPTS = (SweepPrompt("a", "a-1", "one"), SweepPrompt("b", "b-1", "two", Grammar("regex", "x")))
PLAN = SweepPlan(PROMPTS, (PAIR, LOOKUP), (1, 4, 8), temperatures=(0.0, 0.7), settings=DecodeSettings(seed=5))


def said(cell: SweepCell) -> tuple[object, ...]:
    return cell.pair.draft, cell.settings.temperature, cell.prompt.name, cell.constrained, cell.settings.draft_length


def test_every_combination_comes_once_and_always_in_the_same_order() -> None:
    cells = PLAN.cells()
    expected = product(("draft", "lookup"), (0.0, 0.7), ("a-1", "b-1"), (False,), (1, 4, 8))
    assert [said(cell) for cell in cells] == list(expected)
    assert PLAN.cells() == cells
    assert {cell.settings.seed for cell in cells} == {5}


def test_schedules_and_the_constraint_are_measured_where_they_can_be() -> None:
    cells = replace(PLAN, pairs=(PAIR,), temperatures=(0.0,), draft_lengths=(2,), constrain=True).cells()
    assert [(cell.prompt.name, cell.constrained) for cell in cells] == [
        ("a-1", False), ("b-1", False), ("b-1", True),
    ]  # fmt: skip
    plan = replace(PLAN, prompts=PROMPTS[:1], temperatures=(0.0,), schedules=("fixed", "heuristic", "confidence"))
    found = [(cell.pair.draft, cell.settings.draft_schedule, cell.settings.draft_length) for cell in plan.cells()]
    fixed = [("fixed", 1), ("fixed", 4), ("fixed", 8)]
    with_model = [*fixed, ("heuristic", 4), ("confidence", 8)]
    expected = [("draft", *one) for one in with_model] + [("lookup", *one) for one in [*fixed, ("heuristic", 4)]]
    assert found == expected  # prompt lookup is never unsure


def test_repeats_measure_everything_again_above_temperature_0_with_another_seed() -> None:
    plan = replace(PLAN, pairs=(PAIR,), prompts=PROMPTS[:1], draft_lengths=(1, 2, 3), repeats=2)
    greedy = replace(plan, temperatures=(0.0,)).cells()
    assert greedy[:3] == greedy[3:]
    sampled = replace(plan, temperatures=(0.7,)).cells()
    assert [(cell.settings.draft_length, cell.settings.seed) for cell in sampled] == [
        (1, 5), (2, 5), (3, 5), (1, 6), (2, 6), (3, 6),
    ]  # fmt: skip
    assert [len(group) for group in groups(sampled)] == [2, 1, 2, 1], "no plain run of another seed is shared"


def test_the_plan_shares_plain_runs_and_takes_each_workloads_first_prompt_first() -> None:
    cells = PLAN.cells()
    shared = list(groups(cells))
    assert [cell for group in shared for cell in group] == cells
    assert [len(group) for group in shared] == [2, 1] * 8
    assert all(len({cell.block for cell in group}) == 1 for group in shared)
    assert plain_runs(cells) == 16
    prompts = workload_prompts(WORKLOADS, 2)
    assert [prompt.workload for prompt in prompts] == 2 * [workload.name for workload in WORKLOADS]
    assert [prompt.name[-2:] for prompt in prompts] == 8 * ["-1"] + 8 * ["-2"]
    grammars = [prompt.grammar for prompt in workload_prompts([CONSTRAINED], 1)]
    assert grammars == [CONSTRAINED.prompts[0].grammar]


def test_another_text_has_another_hash_and_an_impossible_setting_is_one_sentence() -> None:
    hashes = {SweepPrompt("a", "same", text).text_hash for text in ("one", "two", "")}
    assert len(hashes) == 3
    assert all(len(each) == 8 for each in hashes)
    with pytest.raises(InputError, match="temperature must be from 0 to 10, not 11"):
        replace(PLAN, temperatures=(11.0,)).cells()


SPREAD_PROMPTS = tuple(SweepPrompt("story", f"story-{number}", f"text {number}") for number in range(4))
SPREAD_PAIR = SweepPair("wren-base", "wren-nano")
SPREAD_PLAN = SweepPlan(SPREAD_PROMPTS, (SPREAD_PAIR,), (1, 2, 4), settings=DecodeSettings(max_new_tokens=64))
CELLS = SPREAD_PLAN.cells()


def run(nodes: FakeNodes, cells: Sequence[SweepCell] = CELLS, known: Sequence[SweepRow] = ()) -> list[SweepRow]:
    return list(ClusterSweep(cells, nodes, known, lambda line: None, lambda line: None).rows())


def what(rows: Sequence[SweepRow]) -> Counter[tuple[str, int, str]]:
    return Counter((row.preset, row.draft_length, row.draft) for row in rows)


ALL = what([row_of("any", cell) for cell in CELLS])


def dies(node: str, number: int) -> Callable[[str, int], NodeAnswer | None]:
    """Node `node` is gone when it should give its answer of this number; the first one is that to loading."""
    return lambda name, count: LostNode("its machine ended") if (name, count) == (node, number) else None


def test_every_cell_is_measured_once_by_prompt_and_plain_run() -> None:
    nodes = FakeNodes("first", "second")
    rows = run(nodes)
    assert what(rows) == ALL
    assert {row.node for row in rows} == {"first", "second"}
    assert all(row.machine == f"machine of {row.node}" for row in rows)
    rows = run(FakeNodes("first", "second", "third"))
    for prompt in SPREAD_PROMPTS:
        assert len({row.node for row in rows if row.preset == prompt.name}) == 1
    plan = replace(SPREAD_PLAN, pairs=(SPREAD_PAIR, SweepPair("wren-base", PROMPT_LOOKUP)))
    nodes = FakeNodes("first", "second")
    assert len(run(nodes, plan.cells())) == 2 * len(CELLS)
    assert set(nodes.loads().values()) == {1}


def test_nodes_are_asked_for_shared_plain_runs_and_say_their_progress() -> None:
    nodes = FakeNodes("first")
    run(nodes)
    asked = [[cell.settings.draft_length for cell in what] for _, what in nodes.asked if isinstance(what, list)]
    assert asked == [[1, 2], [4]] * len(SPREAD_PROMPTS)
    said = list[str]()
    list(ClusterSweep(CELLS[:6], FakeNodes("first", "second"), (), said.append, said.append).rows())
    assert said[:3] == [
        "first: loading wren-base and wren-nano",
        "second: loading wren-base and wren-nano",
        "first: story-0, γ = 1, drafted by wren-nano: 2 of 6",
    ]
    assert said[-1].endswith("6 of 6")


@pytest.mark.parametrize("number", [1, 2, 3, 4], ids=["loading", "first cells", "second cells", "next prompt"])
def test_a_node_that_dies_loses_nothing(number: int) -> None:
    nodes, lost = FakeNodes("first", "second", say=dies("second", number)), list[str]()
    rows = list(ClusterSweep(CELLS, nodes, (), lambda line: None, lost.append).rows())
    assert what(rows) == ALL
    assert len(nodes.measured_by("second")) <= len(CELLS) / 2
    (sentence,) = lost
    assert sentence.startswith("node second is gone (its machine ended); other nodes measure the ")


def test_the_cells_of_a_node_that_dies_last_are_measured_by_one_that_had_nothing_to_do() -> None:
    nodes = FakeNodes("first", "second", say=dies("second", 2))
    rows = run(nodes, [*CELLS[:3], *CELLS[3:6]])
    assert {row.node for row in rows} == {"first"}
    assert len(rows) == 6


def test_rows_that_are_there_are_not_measured_again() -> None:
    known = [row_of("a node that is no more", cell) for cell in CELLS[:5]]
    assert what(run(FakeNodes("first"), known=known)) == what([row_of("any", cell) for cell in CELLS[5:]])
    assert run(FakeNodes("first", "second"), known=[row_of("x", cell) for cell in CELLS]) == []
    here = [replace(row_of("first", cell), node=None) for cell in CELLS]
    assert run(FakeNodes("first"), known=here) == []
    assert what(run(FakeNodes("second"), known=here)) == ALL
    cells = replace(SPREAD_PLAN, repeats=2).cells()
    known = [row_of("first", cell) for cell in CELLS]
    assert what(run(FakeNodes("first"), cells, known)) == ALL
    assert run(FakeNodes("first"), cells, [*known, *known]) == []
