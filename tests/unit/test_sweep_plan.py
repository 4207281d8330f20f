"""What a sweep will measure: each combination once."""

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.grammars import Grammar
from specviz.data.prompts.workloads import WORKLOADS, find_workload
from specviz.measure.sweep.plan import SweepPair, SweepPlan, SweepPrompt, groups, plain_runs, workload_prompts
from tests.support.known import known

PAIR, LOOKUP = SweepPair("target", "draft"), SweepPair("target", PROMPT_LOOKUP)
PROMPTS = (SweepPrompt("a", "a-1", "one"), SweepPrompt("b", "b-1", "two", Grammar("regex", "x")))
PLAN = SweepPlan(PROMPTS, (PAIR, LOOKUP), (1, 4, 8), temperatures=(0.0, 0.7), settings=DecodeSettings(seed=5))
ONE = replace(PLAN, pairs=(PAIR,), prompts=PROMPTS[:1], temperatures=(0.0,))
PLANS = {
    "every combination once": replace(PLAN, draft_lengths=(1, 8)),
    "a constraint where a prompt has one": replace(ONE, prompts=PROMPTS, draft_lengths=(2,), constrain=True),
    "schedules, and prompt lookup is never unsure": replace(
        ONE, pairs=(PAIR, LOOKUP), schedules=("fixed", "heuristic", "confidence")
    ),
    "one length's repeats are not one plain run": replace(ONE, draft_lengths=(1,), repeats=2),
    "greedy repeats": replace(ONE, draft_lengths=(1, 2, 3), repeats=2),
    "sampled repeats have another seed each": replace(ONE, draft_lengths=(1, 2, 3), repeats=2, temperatures=(0.7,)),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_its_cells_in_order_two_to_a_plain_run(name: str, snapshot: SnapshotAssertion) -> None:
    cells = PLANS[name].cells()
    shared = list(groups(cells))
    assert [cell for group in shared for cell in group] == cells == PLANS[name].cells()
    assert len(shared) == plain_runs(cells)
    lines = [
        f"plain run {number}: {cell.label}, {its.draft_schedule}, temperature {its.temperature}, seed {its.seed}"
        for number, group in enumerate(shared, start=1)
        for cell in group
        for its in [cell.settings]
    ]
    assert "\n".join(lines) == snapshot


def test_each_workloads_first_prompt_comes_first() -> None:
    prompts = workload_prompts(WORKLOADS, 2)
    assert [prompt.workload for prompt in prompts] == 2 * [workload.name for workload in WORKLOADS]
    assert [prompt.name[-2:] for prompt in prompts] == 8 * ["-1"] + 8 * ["-2"]
    constrained = known(find_workload("constrained"))
    assert [prompt.grammar for prompt in workload_prompts([constrained], 1)] == [constrained.prompts[0].grammar]


def test_another_text_has_another_hash_and_an_impossible_setting_is_one_sentence() -> None:
    hashes = {SweepPrompt("a", "same", text).text_hash for text in ("one", "two", "")}
    assert len(hashes) == 3
    assert all(len(each) == 8 for each in hashes)
    with pytest.raises(InputError, match="temperature must be from 0 to 10, not 11"):
        replace(PLAN, temperatures=(11.0,)).cells()
