"""A bench in turns: who is asked when, what its counters say, what is left after a stop, what is repeated."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.core.errors import InputError
from specviz.measure.endpoints.client import Endpoint, open_client, parse_address
from specviz.measure.endpoints.result import (
    SIDES,
    Accepted,
    BenchPrompt,
    BenchResult,
    BenchSettings,
    Server,
    dump_result,
    read_result,
)
from specviz.measure.endpoints.turns import AskedBlock, BenchInTurns, left, plan
from specviz.measure.sweep.plan import SweepPrompt
from tests.support.endpoint_server import FakeServer, Reply, event, run_async, running, said

PROMPTS = [BenchPrompt("one", "story", "a1"), BenchPrompt("two", "code", "b2"), BenchPrompt("three", "code", "c3")]


def settings(concurrency: Sequence[int] = (1,), repeats: int = 1, tokens: int = 8) -> BenchSettings:
    return BenchSettings(tokens, 0.0, 7, repeats, list(concurrency), "completions")


def begun(how: BenchSettings) -> BenchResult:
    return BenchResult(1, "2026-11-26", "here", how, Server("http://a/v1", "m"), Server("http://b/v1", "m"), PROMPTS)


def measure(
    speculative: FakeServer,
    plain: FakeServer,
    how: BenchSettings,
    result: BenchResult | None = None,
    after_block: Callable[[int, int], None] = lambda done, total: None,
) -> BenchResult:
    found = result or begun(how)
    prompts = [SweepPrompt(each.workload, each.name, each.name) for each in PROMPTS]

    async def run() -> None:
        async with open_client(max(how.concurrency)) as http:
            both = dict(zip(SIDES, (speculative, plain), strict=True))
            asked = {
                side: Endpoint(parse_address(its.url, side), http, how, model="wren", system="vLLM")
                for side, its in both.items()
            }
            await BenchInTurns(found, asked, prompts, plan(len(PROMPTS), how, SIDES)).measure(after_block)

    with running(speculative), running(plain):
        run_async(run())
    return found


def test_alone_each_prompt_is_asked_of_both_servers_in_changing_order() -> None:
    blocks = plan(len(PROMPTS), settings(repeats=2), SIDES)
    assert [sorted(block.jobs[0] for block in its) for its in (blocks[:3], blocks[3:])] == [
        [(0, repeat), (1, repeat), (2, repeat)] for repeat in (0, 1)
    ]
    first = {block.jobs[0]: block.order[0] for block in blocks}
    assert all(first[prompt, 0] != first[prompt, 1] for prompt in (0, 1, 2)), "an odd number of prompts too"
    assert first[0, 0] != first[1, 0]


@given(st.integers(1, 200), st.sampled_from([2, 4, 16]), st.integers(0, 100))
def test_many_requests_under_way_have_four_blocks_or_more(prompts: int, concurrency: int, seed: int) -> None:
    blocks = plan(prompts, replace(settings([concurrency]), seed=seed), SIDES)
    assert blocks == plan(prompts, replace(settings([concurrency]), seed=seed), SIDES)
    times = max(repeat for block in blocks for _, repeat in block.jobs) + 1
    every = [(prompt, repeat) for prompt in range(prompts) for repeat in range(times)]
    assert sorted(job for block in blocks for job in block.jobs) == every
    sizes = {len(block.jobs) for block in blocks}
    assert len(blocks) >= 4
    assert min(sizes) >= 2 * concurrency
    assert max(sizes) <= 1 + min(sizes)
    first = [block.order[0] for block in blocks]
    assert abs(2 * first.count("with") - len(first)) < 2, "each is first as often"
    # A server with two moments after each other counts nearly the same twice.
    assert sum(before != after for before, after in pairwise(first)) <= 2


def test_the_seed_draws_who_is_first_and_a_block_has_prompts_of_all_kinds() -> None:
    for load in (1, 4):
        orders = [[each.order for each in plan(12, replace(settings([load]), seed=seed), SIDES)] for seed in range(8)]
        assert len(set(map(str, orders))) > 2
        assert all(sum(order[0] == "with" for order in its) == len(its) / 2 for its in orders)
    for block in plan(24, settings([4]), SIDES):  # eight of each kind, one kind after the other
        assert {prompt // 8 for prompt, _ in block.jobs} == {0, 1, 2}


def test_a_server_that_still_writes_is_waited_for_and_tokens_for_somebody_else_are_seen() -> None:
    plain = FakeServer(busy=3)
    found = measure(FakeServer(strangers=50), plain, settings())
    assert plain.busy == 0
    assert [span.others for span in found.spans if span.side == "with" and span.asked] == [50, 50, 50]


def test_more_than_a_file_holds_is_refused() -> None:
    with pytest.raises(InputError, match="This asks 400,000 times or more; at most 20,000"):
        plan(200, settings(repeats=1_000), SIDES)


def test_a_bench_holds_every_answer_and_what_the_servers_counted() -> None:
    speculative, plain = FakeServer(drafts=3), FakeServer()
    found = measure(speculative, plain, settings())
    planned = [(side, block.jobs[0][0]) for block in plan(len(PROMPTS), settings(), SIDES) for side in block.order]
    assert [(answer.side, answer.prompt) for answer in found.answers] == planned
    assert {answer.tokens for answer in found.answers} == {8}
    assert not any(answer.problem for answer in found.answers)
    began = [answer.began for answer in found.answers]
    assert began == sorted(began)
    spans = [(each.written, each.ours, each.others, each.accepted) for each in found.spans if each.asked]
    assert spans.count((8, 8, 0, Accepted(6, 6, 2, [2, 2, 2]))) == spans.count((8, 8, 0, None)) == 3
    assert [(each.written, each.accepted) for each in found.spans if not each.asked and each.side == "without"] == [
        (0, None)
    ] * 3
    assert read_result(dump_result(found).encode()) == found


@pytest.mark.parametrize("concurrency", [1, 3])
def test_so_many_requests_are_under_way_at_once(concurrency: int) -> None:
    together = Barrier(concurrency)  # an answer begins when so many are under way

    def answer(body: dict[str, Any]) -> Reply:
        together.wait(60)
        return Reply(speculative.parts(body))

    speculative = FakeServer(answer=answer)
    found = measure(speculative, FakeServer(), settings([concurrency], repeats=4))
    assert not any(each.problem for each in found.answers)
    assert speculative.most_at_once == concurrency
    assert len(speculative.asked) == (12 if concurrency == 1 else 36) + 3  # some to warm up


def test_a_bench_that_was_stopped_goes_on_where_it_was() -> None:
    how, found = settings(repeats=2), begun(settings(repeats=2))

    def stop(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(FakeServer(), FakeServer(), how, found, stop)
    assert len(found.answers) == 4
    held = read_result(dump_result(found).encode())
    speculative = FakeServer()
    whole = measure(speculative, FakeServer(), how, held)
    assert len(whole.answers) == 12
    assert len(speculative.asked) == 4 + 3  # and some to warm up
    assert whole.answers[:4] == found.answers
    assert [note.split(";")[0] for note in whole.notes] == ["Interrupted with 4 of 6 blocks to do"]
    assert min(answer.began for answer in whole.answers[4:]) > max(answer.began for answer in whole.answers[:4])


def failing(*turns: int) -> Callable[[dict[str, Any]], Reply]:
    """An answer that fails at these turns, of which the first three are to warm up."""
    asked = iter(range(10**6))
    ended = event({"choices": [], "usage": {"completion_tokens": 2}}) + b"data: [DONE]\n"

    def answer(_: dict[str, Any]) -> Reply:
        if next(asked) in turns:
            return said("no memory", 503)
        return Reply([event({"choices": [{"text": "a"}]}), event({"choices": [{"text": "b"}]}), ended])

    return answer


@pytest.mark.parametrize("again", [False, True])
def test_a_failed_request_is_repeated_at_the_end_and_keeps_its_problem_if_it_fails_again(again: bool) -> None:
    found = measure(FakeServer(answer=failing(4, *[6] * again)), FakeServer(), settings())
    assert found.notes == [
        "with: 1 request failed and was repeated at the end: it answered 503 Service Unavailable: “no memory”."
    ]
    failed = [(answer.prompt, answer.tokens) for answer in found.answers if answer.problem]
    assert failed == [(plan(len(PROMPTS), settings(), SIDES)[1].jobs[0][0], None)] * again
    assert len(found.answers) == 6
    assert read_result(dump_result(found).encode()) == found


def test_a_server_that_is_gone_ends_the_bench_and_loses_nothing() -> None:
    how, found = settings(repeats=3), begun(settings(repeats=3))
    with pytest.raises(InputError, match="answers no more: it answered 503 Service Unavailable: “no memory”"):
        measure(FakeServer(answer=failing(*range(5, 99))), FakeServer(), how, found)
    assert len([answer for answer in found.answers if not answer.problem]) >= 4
    assert left([AskedBlock(99, 1, ((0, 0),), SIDES)], found) != []


def test_a_few_tokens_more_than_asked_for_are_a_note_and_many_a_problem() -> None:
    found = measure(FakeServer(writes=11), FakeServer(), settings())
    assert not any(answer.problem for answer in found.answers)
    assert found.notes == ["with: there are answers of more than the 8 tokens that were asked for."]
    with pytest.raises(InputError, match="wrote 40 tokens, and at most 8 were asked for"):
        measure(FakeServer(writes=40), FakeServer(), settings())
