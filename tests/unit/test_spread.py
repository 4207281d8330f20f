"""A sweep on several nodes, without any: who measures what, what a dead node costs, and what goes on after it."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from specviz.core.errors import InputError
from specviz.core.request import PROMPT_LOOKUP
from specviz.core.settings import DecodeSettings
from specviz.measure.sweep.nodes import Answer, Gone, Refused
from specviz.measure.sweep.plan import Cell, SweepPair, SweepPlan, SweepPrompt
from specviz.measure.sweep.rows import SweepRow
from specviz.measure.sweep.spread import NoNodeLeft, spread
from tests.support.fake_nodes import FakeNodes, row_of

PROMPTS = tuple(SweepPrompt("story", f"story-{number}", f"text {number}") for number in range(4))
PAIR = SweepPair("wren-base", "wren-nano")
PLAN = SweepPlan(PROMPTS, (PAIR,), (1, 2, 4), settings=DecodeSettings(max_new_tokens=64))
CELLS = PLAN.cells()


def run(nodes: FakeNodes, cells: Sequence[Cell] = CELLS, known: Sequence[SweepRow] = ()) -> list[SweepRow]:
    return list(spread(cells, nodes, known, lambda line: None, lambda line: None))


def what(rows: Sequence[SweepRow]) -> Counter[tuple[str, int, str]]:
    return Counter((row.preset, row.draft_length, row.draft) for row in rows)


ALL = what([row_of("any", cell) for cell in CELLS])


def dies(node: str, number: int) -> Callable[[str, int], Answer | None]:
    """Node `node` is gone when it should give its answer of this number; the first one is that to loading."""
    return lambda name, count: Gone("its machine ended") if (name, count) == (node, number) else None


def test_every_cell_is_measured_once_and_every_node_works() -> None:
    nodes = FakeNodes("first", "second")
    rows = run(nodes)
    assert what(rows) == ALL
    assert {row.node for row in rows} == {"first", "second"}
    assert all(row.machine == f"machine of {row.node}" for row in rows)


def test_a_prompt_stays_on_one_node_so_that_its_draft_lengths_are_of_one_machine() -> None:
    rows = run(FakeNodes("first", "second", "third"))
    for prompt in PROMPTS:
        assert len({row.node for row in rows if row.preset == prompt.name}) == 1


def test_cells_that_share_a_plain_run_are_asked_for_together() -> None:
    nodes = FakeNodes("first")
    run(nodes)
    asked = [[cell.settings.draft_length for cell in what] for _, what in nodes.asked if isinstance(what, list)]
    assert asked == [[1, 2], [4]] * len(PROMPTS)


def test_models_are_loaded_once_on_each_node() -> None:
    plan = replace(PLAN, pairs=(PAIR, SweepPair("wren-base", PROMPT_LOOKUP)))
    nodes = FakeNodes("first", "second")
    assert len(run(nodes, plan.cells())) == 2 * len(CELLS)
    assert set(nodes.loads().values()) == {1}


@pytest.mark.parametrize("number", [1, 2, 3, 4], ids=["loading", "first cells", "second cells", "next prompt"])
def test_a_node_that_dies_loses_nothing(number: int) -> None:
    nodes, lost = FakeNodes("first", "second", say=dies("second", number)), list[str]()
    rows = list(spread(CELLS, nodes, (), lambda line: None, lost.append))
    assert what(rows) == ALL
    assert len(nodes.measured_by("second")) <= len(CELLS) / 2
    (sentence,) = lost
    assert sentence.startswith("node second is gone (its machine ended); other nodes measure the ")


def test_the_cells_of_a_node_that_dies_last_are_measured_by_one_that_had_nothing_to_do() -> None:
    nodes = FakeNodes("first", "second", say=dies("second", 2))
    rows = run(nodes, [*CELLS[:3], *CELLS[3:6]])
    assert {row.node for row in rows} == {"first"}
    assert len(rows) == 6


def test_when_all_nodes_die_one_sentence_says_so_and_the_same_sweep_goes_on_with_what_is_there() -> None:
    first = FakeNodes("first", "second", say=lambda node, number: Gone("its machine ended") if number == 4 else None)
    rows, arriving = list[SweepRow](), spread(CELLS, first, (), lambda line: None, lambda line: None)
    with pytest.raises(
        NoNodeLeft, match=r"^no node of the cluster is left: \w+ was the last one \(its machine ended\)$"
    ):
        save_each(arriving, rows)
    assert 0 < len(rows) < len(CELLS)
    assert what([*rows, *run(FakeNodes("third"), known=rows)]) == ALL


def save_each(arriving: Iterator[SweepRow], rows: list[SweepRow]) -> None:
    """Put each row where it is safe, as the command does."""
    for row in arriving:
        rows.append(row)


def test_rows_that_are_there_are_not_measured_again_on_whatever_machine_of_a_cluster_they_were_made() -> None:
    known = [row_of("a node that is no more", cell) for cell in CELLS[:5]]
    assert what(run(FakeNodes("first"), known=known)) == what([row_of("any", cell) for cell in CELLS[5:]])
    assert run(FakeNodes("first", "second"), known=[row_of("x", cell) for cell in CELLS]) == []


def test_rows_of_a_sweep_without_a_cluster_count_on_the_same_kind_of_machine_only() -> None:
    here = [replace(row_of("first", cell), node=None) for cell in CELLS]
    assert run(FakeNodes("first"), known=here) == []
    assert what(run(FakeNodes("second"), known=here)) == ALL


def test_each_row_stands_for_one_repeat() -> None:
    cells = replace(PLAN, repeats=2).cells()
    known = [row_of("first", cell) for cell in CELLS]
    assert what(run(FakeNodes("first"), cells, known)) == ALL
    assert run(FakeNodes("first"), cells, [*known, *known]) == []


def test_input_that_a_node_refuses_ends_the_sweep_and_names_the_node() -> None:
    nodes = FakeNodes(
        "first", "second", say=lambda node, number: Refused("There is no model x.") if number == 1 else None
    )
    with pytest.raises(InputError, match=r"^On node first: There is no model x\.$"):
        run(nodes)


def test_progress_says_where_what_is_done_and_how_much_is_left() -> None:
    said = list[str]()
    list(spread(CELLS[:6], FakeNodes("first", "second"), (), said.append, said.append))
    assert said[:3] == [
        "first: loading wren-base and wren-nano",
        "second: loading wren-base and wren-nano",
        "first: story-0, γ = 1, drafted by wren-nano: 2 of 6",
    ]
    assert said[-1].endswith("6 of 6")
