"""What a bench has beside requests under way: requests at a rate, limits that each must keep, several servers."""

import asyncio
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.bench_error import MadeUpTime
from specviz.cli.bench import _within
from specviz.core.errors import InputError
from specviz.measure.endpoints.client import Endpoint
from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.pairs import Within
from specviz.measure.endpoints.report import bench_rows, compare_servers, dump_report, results
from specviz.measure.endpoints.result import SIDES, BenchResult, BenchSettings, Span, dump_result, read_result
from specviz.measure.endpoints.sentences import conclusion
from specviz.measure.endpoints.turns import BenchInTurns, plan
from tests.support.bench_results import make_answer, make_bench
from tests.support.endpoint_server import FakeServer, run_alone, running
from tests.tiny.test_bench_command import ASKED, bench

SETTINGS = BenchSettings(33, 0.0, 7, 1, [], "completions", rates=[2.0, 40.0])


def by_rate(result: BenchResult) -> BenchResult:
    """The same answers, as if their requests had come at a rate."""
    rates = [float(load) for load in result.settings.concurrency]
    answers = [replace(answer, concurrency=0, rate=float(answer.concurrency)) for answer in result.answers]
    return replace(result, settings=replace(result.settings, concurrency=[], rates=rates), answers=answers)


def test_requests_come_at_drawn_moments_that_are_the_same_for_both_servers() -> None:
    blocks = plan(12, SETTINGS, SIDES)
    assert plan(12, SETTINGS, SIDES) == blocks
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
    block, sent = plan(12, SETTINGS, SIDES)[0], list[float]()

    class Slow:
        async def listen(self, question: Any) -> None:
            sent.append(loop.time())
            await asyncio.sleep(1000)

    result = cast(BenchResult, SimpleNamespace(answers=[]))
    turns = BenchInTurns(result, dict.fromkeys(SIDES, cast(Endpoint, Slow())), [cast(Any, None)] * 12, [block])
    run_alone(lambda: loop.run_until_complete(turns._hear("with", block)))
    loop.close()
    assert sent == pytest.approx(block.starts)


def test_a_bench_at_rates_finds_what_one_of_requests_under_way_finds_and_says_which_load_it_was() -> None:
    under_way = make_bench({2: 1.6, 4: 1.3, 8: 0.8})
    at_rates = read_result(dump_result(by_rate(under_way)).encode())
    for one, other in zip(results(under_way), results(at_rates), strict=True):
        assert other.pop("rate") == one.pop("concurrency")
        assert one == other
    said = conclusion(at_rates)
    assert "It pays up to 4 requests a second and no longer from 8 on." in said
    assert not any("concurrency" in sentence for sentence in said)
    rows = bench_rows(BenchFindings(at_rates))
    assert {(row["concurrency"], row["rate"]) for row in rows} == {(None, 2.0), (None, 4.0), (None, 8.0)}
    one_a_second = by_rate(make_bench({1: 1.6}))
    assert any("1 request a second: helps" in sentence for sentence in conclusion(one_a_second))
    assert BenchFindings(one_a_second).loads[0].speedup != BenchFindings(make_bench({1: 1.6})).loads[0].speedup


def test_a_file_whose_loads_are_of_two_kinds_or_not_those_of_its_settings_is_refused() -> None:
    """Found: a file of 1.3 MB with a load for each pair of answers kept a page busy for 41 s."""
    result = by_rate(make_bench({2: 1.5}))
    mixed = replace(result, answers=[replace(result.answers[0], rate=None), *result.answers[1:]])
    other = replace(result, answers=[replace(result.answers[0], rate=2.5), *result.answers[1:]])
    spans = replace(result, spans=[Span("with", 0, None, 0)])
    for wrong, where in ((mixed, "answers"), (other, "answers"), (spans, "spans")):
        with pytest.raises(InputError, match=rf"{where}\.0 has not the kind of load"):
            read_result(dump_result(wrong).encode())


def test_what_a_bench_may_write_can_be_read_again() -> None:
    """Found: with one prompt at concurrency 500 its repeats, and after many notes the notes, made a file unreadable."""
    blocks = plan(1, replace(SETTINGS, rates=[], concurrency=[500]), SIDES)
    most = max(repeat for block in blocks for _, repeat in block.jobs)
    result = make_bench({1: 1.5})
    result.answers[0] = replace(result.answers[0], repeat=most)
    turns = BenchInTurns(result, {}, [], [])
    for number in range(60):
        turns._note(f"Note {number}.")
    assert len(read_result(dump_result(result).encode()).notes) == 50


def test_goodput_is_the_share_of_all_requests_that_keep_both_limits() -> None:
    late, slow = make_answer("with", 0.02, first=0.6, part_seconds=[]), make_answer("with", 0.08)
    failed, short = make_answer("with", 0.02, problem="It failed."), make_answer("with", 0.08, tokens=4)
    answers = [make_answer("with", 0.02), late, slow, failed, short]
    assert Within(0.5, 0.05).share(answers) == 2 / 5
    assert Within(None, 0.05).share(answers) == 3 / 5
    assert Within(0.5, None).share(answers) == 3 / 5
    assert [_within("ttft:0.5s,tpot:50ms"), _within("tpot:1.5s")] == [Within(0.5, 0.05), Within(None, 1.5)]
    result = make_bench({1: 1.6, 4: 0.8})
    assert results(result)[0]["goodput"] is None
    report = json.loads(dump_report(result, Within(None, 0.02)))
    assert [its["goodput"] for its in report["results"]] == [
        {"with": 1.0, "without": 0.0},
        {"with": 0.0, "without": 0.0},
    ]
    said = "Requests within tpot 20 ms: 100% with, 0% without at concurrency 1; 0% with, 0% without at concurrency 4."
    assert said in report["conclusion"]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--goodput", "ttft=500"], "--goodput takes limits such as ttft:500ms,tpot:50ms, not 'ttft=500'."),
        (["--goodput", "ttft:5ms,ttft:6ms"], "--goodput takes limits"),
        (["--goodput", "ttft:5ms,"], "--goodput takes limits"),
        (["--goodput", ""], "--goodput takes limits"),
        (["--rate", "0"], "settings.rates.0: Input should be greater than or equal to 0.01."),
        (["--rate", "nan"], "settings.rates.0: Input should be a valid number"),
        (["--rate", "2", "--concurrency", "1"], "--concurrency and --rate are two kinds of load: give one of them."),
        (["--with", "http://localhost:2", "--json", "-"], "--json - holds one bench: with several --with name a file."),
        (["--drafts", "a", "--drafts", "b"], "There are more --drafts than --with."),
    ],
)
def test_a_wrong_load_or_limit_is_one_sentence(
    options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["bench", "--with", "http://localhost:1", "--without", "http://localhost:3", *ASKED]
    assert bench([*asked, *options]) == 2
    assert problem in capsys.readouterr().err


def test_the_fastest_of_several_servers_is_named_only_where_the_intervals_tell_it() -> None:
    fast, slow = make_bench({1: 2.0, 4: 1.3}), make_bench({1: 1.2, 4: 1.3}, seed=2)
    fast = replace(fast, with_=replace(fast.with_, drafts="wren-nano"))
    rows, said = compare_servers([slow, fast])
    assert said == [
        "Fastest at concurrency 1: wren-nano. Its interval lies above that of each other one.",
        "At concurrency 4 the intervals do not tell which server is fastest.",
    ]
    assert [(row["server"], row["load"], row["verdict"]) for row in rows][2:] == [
        ("wren-nano", "concurrency 1", "helps"),
        ("wren-nano", "concurrency 4", "helps"),
    ]
    assert rows[2]["speedup"] == pytest.approx(2.0, rel=0.05)
    few = make_bench({1: 1.2}, prompts=[("one", "story"), ("two", "code")])
    assert compare_servers([fast, few])[1][0].startswith("At concurrency 1 the intervals do not tell"), "no interval"


def test_several_servers_have_a_bench_and_a_file_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    with running(FakeServer(drafts=3)) as one, running(FakeServer(drafts=1)) as two, running(FakeServer()) as plain:
        asked = ["bench", "--with", one.url, "--with", two.url, "--without", plain.url, *ASKED]
        assert bench([*asked, "--drafts", "long", "--drafts", "short", "--json", str(file)]) == 0
    found = [read_result((tmp_path / f"bench-{number}.json").read_bytes()) for number in (1, 2)]
    assert [each.with_.drafts for each in found] == ["long", "short"]
    assert not file.exists()
    last = capsys.readouterr().out.splitlines()
    assert sum(line.startswith(("long", "short")) for line in last) == 2
    assert "at concurrency 1" in last[-1].lower()
