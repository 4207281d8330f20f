"""A bench in turns: who is asked when."""

import asyncio
from itertools import pairwise
from statistics import mean
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_error import MadeUpTime
from specviz.core.errors import InputError
from specviz.measure.endpoints.result import MAX_ANSWERS, MAX_NOTES, SIDES, BenchSettings
from specviz.measure.endpoints.turns import AskedBlock, BenchInTurns, plan
from tests.support.endpoint_server import run_alone


def planned(prompts: int = 3, **changed: Any) -> list[AskedBlock]:
    alone: dict[str, Any] = {"seed": 7, "repeats": 1, "concurrency": [1]}
    return plan(prompts, BenchSettings(8, 0.0, api="completions", **(alone | changed)), SIDES)


def test_alone_each_prompt_is_asked_of_both_servers_in_changing_order() -> None:
    blocks = planned(repeats=2)
    assert [sorted(block.jobs[0] for block in its) for its in (blocks[:3], blocks[3:])] == [
        [(0, repeat), (1, repeat), (2, repeat)] for repeat in (0, 1)
    ]
    first = {block.jobs[0]: block.order[0] for block in blocks}
    assert all(first[prompt, 0] != first[prompt, 1] for prompt in (0, 1, 2)), "an odd number of prompts too"
    assert first[0, 0] != first[1, 0]


@given(st.integers(1, 200), st.sampled_from([2, 4, 16]), st.integers(0, 100))
def test_many_requests_under_way_have_four_blocks_or_more(prompts: int, concurrency: int, seed: int) -> None:
    blocks = planned(prompts, concurrency=[concurrency], seed=seed)
    assert blocks == planned(prompts, concurrency=[concurrency], seed=seed)
    times = max(repeat for block in blocks for _, repeat in block.jobs) + 1
    every = [(prompt, repeat) for prompt in range(prompts) for repeat in range(times)]
    assert sorted(job for block in blocks for job in block.jobs) == every
    sizes = {len(block.jobs) for block in blocks}
    assert len(blocks) >= 4
    assert 2 * concurrency <= min(sizes) <= max(sizes) <= 1 + min(sizes)
    first = [block.order[0] for block in blocks]
    assert abs(2 * first.count("with") - len(first)) < 2, "each is first as often"
    # A server with two moments after each other counts nearly the same twice.
    assert sum(before != after for before, after in pairwise(first)) <= 2


def test_the_seed_draws_who_is_first_and_a_block_has_prompts_of_all_kinds() -> None:
    for load in (1, 4):
        orders = [[each.order for each in planned(12, concurrency=[load], seed=seed)] for seed in range(8)]
        assert len(set(map(str, orders))) > 2
        assert all(sum(order[0] == "with" for order in its) == len(its) / 2 for its in orders)
    for block in planned(24, concurrency=[4]):  # eight of each kind, one kind after the other
        assert {prompt // 8 for prompt, _ in block.jobs} == {0, 1, 2}


def test_requests_come_at_drawn_moments_that_are_the_same_for_both_servers() -> None:
    rates: dict[str, Any] = {"concurrency": [], "rates": [2.0, 40.0]}
    blocks = planned(12, **rates)
    assert planned(12, **rates) == blocks
    for rate, fewest in ((2.0, 10), (40.0, 200)):
        its = [block for block in blocks if block.rate == rate]
        assert len(its) >= 6
        assert all(len(block.starts) == len(block.jobs) >= fewest for block in its)
        gaps = [later - earlier for block in its for earlier, later in pairwise((0.0, *block.starts))]
        # A mean of n such gaps is off by 1 / √n: six of that are passed once in 10⁸ draws, and this one is drawn once.
        assert abs(rate * mean(gaps) - 1) < 6 / len(gaps) ** 0.5
        assert abs(sum(gap > mean(gaps) for gap in gaps) / len(gaps) - 0.37) < 3 / len(gaps) ** 0.5, "exponential"


def test_a_request_is_sent_when_it_comes_whatever_is_under_way() -> None:
    loop = MadeUpTime()
    block, sent = planned(12, concurrency=[], rates=[2.0])[0], list[float]()

    class Slow:
        async def listen(self, question: Any) -> None:
            sent.append(loop.time())
            await asyncio.sleep(1000)

    result = SimpleNamespace(answers=[])
    turns = BenchInTurns(result, dict.fromkeys(SIDES, Slow()), [None] * 12, [block])
    run_alone(lambda: loop.run_until_complete(turns._hear("with", block)))
    loop.close()
    assert sent == pytest.approx(block.starts)


def test_what_is_planned_and_noted_is_within_the_bounds_of_a_file_or_refused() -> None:
    """Found: with one prompt at concurrency 500 its repeats, and after many notes the notes, made a file unreadable."""
    assert max(repeat for block in planned(1, concurrency=[500]) for _, repeat in block.jobs) < MAX_ANSWERS
    with pytest.raises(InputError, match="This asks 400,000 times or more; at most 20,000"):
        planned(200, repeats=1_000)
    turns = BenchInTurns(SimpleNamespace(answers=[], notes=[]), {}, [], [])
    for number in range(60):
        turns._note(f"Note {number}.")
    assert len(turns.result.notes) == MAX_NOTES
