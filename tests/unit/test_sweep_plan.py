"""What a sweep will measure: each combination once."""

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
