"""A bench in turns: who is asked when, what its counters say, what is repeated."""

import asyncio
from dataclasses import replace
from itertools import count, pairwise
from statistics import mean
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_error import MadeUpTime
from specviz.core.errors import InputError
from specviz.measure.endpoints import result as bench_file
from specviz.measure.endpoints.client import Endpoint, open_client, parse_address
from specviz.measure.endpoints.result import SIDES, Accepted, BenchPrompt, BenchResult, BenchSettings, Server
from specviz.measure.endpoints.turns import AskedBlock, BenchInTurns, plan
from specviz.measure.sweep.plan import SweepPrompt
from tests.support.endpoint_server import FakeServer, Reply, ending, event, run_alone, run_async, running, said

PROMPTS = [BenchPrompt("one", "story", "a1"), BenchPrompt("two", "code", "b2"), BenchPrompt("three", "code", "c3")]
ALONE = BenchSettings(8, 0.0, 7, 1, [1], "completions")


def planned(prompts: int = len(PROMPTS), how: BenchSettings = ALONE, **changed: Any) -> list[AskedBlock]:
    return plan(prompts, replace(how, **changed), SIDES)


def measure(speculative: FakeServer, plain: FakeServer, **changed: Any) -> BenchResult:
    how, servers = replace(ALONE, **changed), (Server("http://a/v1", "m"), Server("http://b/v1", "m"))
    found = BenchResult(1, "2026-11-26", "here", how, *servers, PROMPTS)
    prompts = [SweepPrompt(each.workload, each.name, each.name) for each in PROMPTS]

    async def run() -> None:
        async with open_client(max(how.concurrency)) as http:
            asked = {
                side: Endpoint(parse_address(its.url, side), http, how, model="wren", system="vLLM")
                for side, its in zip(SIDES, (speculative, plain), strict=True)
            }
            await BenchInTurns(found, asked, prompts, planned(how=how)).measure(lambda *_: None)

    with running(speculative), running(plain):
        run_async(run())
    assert bench_file.read_result(bench_file.dump_result(found).encode()) == found
    return found


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
    assert max(repeat for block in planned(1, concurrency=[500]) for _, repeat in block.jobs) < bench_file.MAX_ANSWERS
    with pytest.raises(InputError, match="This asks 400,000 times or more; at most 20,000"):
        planned(200, repeats=1_000)
    turns = BenchInTurns(SimpleNamespace(answers=[], notes=[]), {}, [], [])
    for number in range(60):
        turns._note(f"Note {number}.")
    assert len(turns.result.notes) == bench_file.MAX_NOTES


def test_a_bench_holds_every_answer_and_what_the_servers_counted_for_others_too() -> None:
    """A server that still writes is waited for."""
    plain = FakeServer(busy=3)
    found = measure(FakeServer(drafts=3, strangers=50), plain)
    assert plain.busy == 0
    order = [(side, block.jobs[0][0]) for block in planned() for side in block.order]
    assert [(answer.side, answer.prompt) for answer in found.answers] == order
    assert {(answer.tokens, answer.problem) for answer in found.answers} == {(8, "")}
    began = [answer.began for answer in found.answers]
    assert began == sorted(began)
    spans = [(its.side, its.asked, its.written, its.ours, its.others, its.accepted) for its in found.spans]
    rounds, none = Accepted(6, 6, 2, [2, 2, 2]), Accepted(0, 0, 0)
    asked: list[Any] = [("with", True, 58, 8, 50, rounds), ("without", True, 8, 8, 0, None)]
    rested: list[Any] = [("with", False, 0, 0, 0, none), ("without", False, 0, 0, 0, None)]
    assert sorted(spans, key=str) == sorted(3 * [*asked, *rested], key=str)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_so_many_requests_are_under_way_at_once(concurrency: int) -> None:
    together = Barrier(concurrency)  # an answer begins when so many are under way

    def answer(body: dict[str, Any]) -> Reply:
        together.wait(60)
        return Reply(speculative.parts(body))

    speculative = FakeServer(answer=answer)
    found = measure(speculative, FakeServer(), concurrency=[concurrency], repeats=4)
    assert not any(each.problem for each in found.answers)
    assert speculative.most_at_once == concurrency
    assert len(speculative.asked) == (12 if concurrency == 1 else 36) + 3  # some to warm up


@pytest.mark.parametrize("again", [False, True])
def test_a_failed_request_is_repeated_at_the_end_and_keeps_its_problem_if_it_fails_again(again: bool) -> None:
    """The first three requests are to warm up."""
    asked, fails, word = count(), [4, *[6] * again], event({"choices": [{"text": "a"}]})
    server = FakeServer(answer=lambda _: said("no memory", 503) if next(asked) in fails else ending(2, word, word))
    found = measure(server, FakeServer())
    assert found.notes == [
        "with: 1 request failed and was repeated at the end: it answered 503 Service Unavailable: “no memory”."
    ]
    failed = [(answer.prompt, answer.tokens) for answer in found.answers if answer.problem]
    assert failed == [(planned()[1].jobs[0][0], None)] * again
    assert len(found.answers) == 6


def test_a_few_tokens_more_than_asked_for_are_a_note_and_many_a_problem() -> None:
    found = measure(FakeServer(writes=11), FakeServer())
    assert not any(answer.problem for answer in found.answers)
    assert found.notes == ["with: there are answers of more than the 8 tokens that were asked for."]
    with pytest.raises(InputError, match="wrote 40 tokens, and at most 8 were asked for"):
        measure(FakeServer(writes=40), FakeServer())
