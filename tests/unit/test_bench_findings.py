"""What a bench says, against benches with a known truth; its words, its JSON, its CSV and its table as snapshots."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import FEWEST_TOKENS, Gain, PairGroup, Within, pair_answers
from specviz.measure.endpoints.report import (
    bench_rows,
    compare_servers,
    dump_csv,
    dump_report,
    lowest,
    percentiles,
    results,
    table,
)
from specviz.measure.endpoints.result import Accepted, Answer, BenchResult, Server, Span, dump_result, read_result
from specviz.measure.endpoints.sentences import conclusion
from tests.support.bench_results import FIRST, PROMPTS, SPEEDUPS, STEP, accepted_of, make_answer, make_bench, with_spans
from tests.support.known import known

THREE, STRANGE = PROMPTS[::5], [("=tale", "story"), ("loop", "code"), ("<b>", "story")]
SMALL = make_bench({1: 1.5, 4: 0.6}, prompts=STRANGE, repeats=3)
BOTH = make_bench({1: 1.5, 4: 1.2})
UNCOUNTED = make_bench({1: 1.5, 4: 1.2}, counted=False)
EQUAL = make_bench({4: 1.0}, noise=0)
TEN = make_bench({1: 2.0}, prompts=[(f"prompt {number}", "story") for number in range(10)], repeats=1)
EMPTY, SERVER = replace(BOTH, answers=[]), known(BOTH.without)


def change(result: BenchResult, changed: Callable[[Answer], Answer]) -> BenchResult:
    return replace(result, answers=[changed(answer) for answer in result.answers])


def alone(result: BenchResult, **fields: Any) -> BenchResult:
    """The server with speculation alone."""
    return replace(result, without=None, answers=[replace(a, **fields) for a in result.answers if a.side == "with"])


def ours(changed: Callable[[Answer], Answer]) -> Callable[[Answer], Answer]:
    """Only the answers of the server with speculation."""
    return lambda answer: changed(answer) if answer.side == "with" else answer


def timed(result: BenchResult, seconds: Callable[[Answer], float], **more: Any) -> BenchResult:
    """The same answers, each with its own time of a token."""

    def at(a: Answer) -> Answer:
        place = {"prompt": a.prompt, "repeat": a.repeat, "concurrency": a.concurrency, "block": a.block}
        return make_answer(a.side, seconds(a), began=a.began, **(place | more))

    return change(result, at)


def pair(ours: Mapping[str, Any] | None = None, plain: Mapping[str, Any] | None = None) -> BenchResult:
    """One answer of each server to one prompt."""
    answers = [make_answer("with", STEP, **(ours or {})), make_answer("without", STEP, **(plain or {}))]
    return replace(make_bench({1: 1.0}, prompts=PROMPTS[:1], repeats=1), answers=answers)


def texts(ours: str, plain: str) -> BenchResult:
    return pair({"text": ours}, {"text": plain})


def ids(ours: list[int], plain: list[int]) -> BenchResult:
    return pair({"text": "a bird", "token_ids": ours}, {"text": "other", "token_ids": plain})


def cut(**parts: Any) -> BenchResult:
    """The server with speculation ends after 17 tokens, of which its parts hold two each; the other writes 33."""
    seconds = [FIRST + STEP * at for at in range(9)]
    return change(
        pair({"tokens": 17, "part_seconds": seconds, "part_tokens": [1, *[2] * 8], "seconds": seconds[-1]}),
        lambda each: replace(each, **parts),
    )


def slow_at_the_end(answer: Answer) -> Answer:
    times = [seconds + (place > 20) for place, seconds in enumerate(answer.part_seconds)]
    return replace(answer, part_seconds=times, seconds=times[-1]) if answer.side == "without" else answer


def in_stretches(together: int) -> BenchResult:
    """Two equal servers of which one is slow in each second stretch of the order in which prompts were asked."""
    order = [7, 2, 9, 4, 11, 0, 5, 10, 3, 8, 1, 6]
    result = change(make_bench({1: 1.0}, repeats=1, noise=0), lambda a: replace(a, block=order.index(a.prompt)))
    return timed(result, lambda a: STEP * (1.3 if a.side == "without" and a.block // together % 2 == 0 else 0.9))


def later_slower(load: int, times: float) -> BenchResult:
    """Alone a block is one prompt; its number is that of the repeats and prompts before."""
    result = make_bench({load: 1.6}, noise=0)
    if load == 1:
        result = change(result, lambda each: replace(each, block=len(PROMPTS) * each.repeat + each.prompt))
    steps = {"with": STEP / 1.6, "without": STEP}
    return timed(result, lambda each: steps[each.side] * (times if each.repeat >= 2 else 1))


def held(answer: Answer, seconds: float) -> Answer:
    """It was written, and sent later: its parts came in one moment."""
    return replace(answer, first=answer.seconds - seconds)


def lost(every: int) -> BenchResult:
    """Found: 40 % of the requests had timed out, and the verdict was a green "helps"."""
    whole = make_bench({4: 2.0}, repeats=5)
    gone = [each for each in whole.answers if each.side == "with"][::every]
    return change(whole, lambda a: replace(a, problem="timed out", tokens=None) if a in gone else a)


def thought(sides: str) -> BenchResult:
    """Of these servers' answers 24 of 64 tokens are sent, after 40 that were thought and only counted."""

    def hide(answer: Answer) -> Answer:
        parts = answer.part_seconds[40:]
        return replace(answer, first=parts[0], part_seconds=parts, text=answer.text[: len(answer.text) * 24 // 64])

    words, seconds = " ".join(f"word{number}" for number in range(64)), {"with": STEP / 1.33, "without": STEP}
    bench = make_bench({1: 1.33}, noise=0.02, counted=False)
    long = timed(bench, lambda a: seconds[a.side], tokens=64, text=words, part_tokens=[])
    return change(long, lambda each: hide(each) if each.side in sides.split() else each)


def thinking(answer: Answer) -> Answer:
    """The first prompt's answers are long and nearly all thoughts; a failed one says nothing."""
    if answer.side == "without":
        return replace(answer, reasoning=0.25 if answer.prompt else 0.0)
    failed = "500" if (answer.prompt, answer.repeat) == (1, 0) else ""
    share, tokens = (0.9, 330) if answer.prompt == 0 else (0.1, 33)
    return replace(answer, reasoning=1.0 if failed else share, tokens=tokens, problem=failed)


def first_part_of_41(tokens: int) -> BenchResult:
    """Found: 40 tokens were counted and never sent, and the few after them gave 0.85× and 2.57× where 1.33× is true."""
    rounds = [3, 1] if tokens == 44 else [3, 1, 2, 4, 1, 3, 2, 2, 3, 1, 2]

    def hidden(answer: Answer) -> Answer:
        parts, step = (rounds, 0.014) if answer.side == "with" else ([1] * (tokens - 40), 0.008)
        seconds = [0.3 + step * place for place in range(len(parts))]
        return replace(
            answer, tokens=tokens, first=seconds[0], seconds=seconds[-1], part_seconds=seconds,
            part_tokens=[40 + parts[0], *parts[1:]],
        )  # fmt: skip

    return change(make_bench({1: 1.33}, counted=False), hidden)


def strange(answer: Answer) -> Answer:
    """An answer failed, one prompt's counts are not known, another's texts differ at one load."""
    prompt, load, ours = answer.prompt, answer.concurrency, answer.side == "with"
    return replace(
        answer,
        problem="500" if (prompt, answer.repeat, load, ours) == (1, 2, 4, True) else "",
        accepted=accepted_of(33, 5, (0.9, 0.5, 0.2)) if ours and prompt < 2 else None,
        text=f"{answer.text}{answer.side if (prompt, load) == (0, 4) else ''}",
        reasoning=0.5 if ours else 0.25,
    )


def by_rate(result: BenchResult) -> BenchResult:
    """The same answers, as if their requests had come at a rate."""
    rates = [float(load) for load in result.settings.concurrency]
    at_rates = change(result, lambda answer: replace(answer, concurrency=0, rate=float(answer.concurrency)))
    return replace(at_rates, settings=replace(result.settings, concurrency=[], rates=rates))


TEN_STEPS = {"without": [STEP] * 10, "with": [0.01] * 8 + [0.0019] * 2}
RESTING = Span("with", 1, 0, 0, Accepted(40, 20, 10), 1, asked=False)


def counted(counts: Accepted | None) -> Callable[[Answer], Answer]:
    return lambda each: replace(each, accepted=each.accepted and counts)


BENCHES = {
    "pays up to a load": make_bench(),
    "pays up to a rate": by_rate(make_bench()),
    "good": BOTH,
    "good, one pair": texts("equal", "equal"),
    "one prompt": change(
        make_bench({1: 1.5}, prompts=PROMPTS[:1], repeats=1), ours(lambda each: replace(each, first=0.03))),
    "two prompts": make_bench({1: 1.5}, prompts=PROMPTS[::4][:2], repeats=2, noise=0.1, counted=False),
    "two blocks": make_bench({4: 0.6}, repeats=2),
    "one load of two blocks": replace(BOTH, answers=[a for a in BOTH.answers if a.concurrency == 1 or a.repeat < 2]),
    "one server alone": alone(make_bench({1: 1.5, 4: 1.2}, prompts=THREE, repeats=2)),
    "nothing": EMPTY,
    "nothing of one server": replace(EMPTY, with_=Server("", ""), without=None),
    "a server against itself": replace(make_bench({1: 1.01, 4: 0.99}), against_itself=True),
    "counters": with_spans(BOTH),
    "counters of both servers": replace(
        (spanned := with_spans(BOTH)), spans=[*spanned.spans, replace(RESTING, side="without", asked=True)]),
    "counters without rounds": change(BOTH, counted(Accepted(44, 22, None))),
    "no counts": UNCOUNTED,
    "counts of a resting server": replace(UNCOUNTED, spans=[RESTING]),
    # llama.cpp leaves its counts out of an answer for which nothing was drafted
    "one prompt without counts": change(BOTH, lambda a: replace(a, accepted=None) if a.prompt == 11 else a),
    "a temperature": replace(BOTH, settings=replace(BOTH.settings, temperature=0.8)),
    "the same server": replace(BOTH, without=BOTH.with_),
    "swapped": change(BOTH, lambda a: replace(a, side="without" if a.side == "with" else "with")),
    "another system": replace(BOTH, without=Server("http://b/v1", "m")),
    "both draft": replace(BOTH, without=replace(SERVER, drafts="ngram")),
    "nothing drafted": change(BOTH, counted(Accepted(0, 0, 0))),
    "no sign of a draft": replace(change(BOTH, counted(None)), with_=replace(BOTH.with_, drafts="")),
    "faster than its tokens allow": make_bench({1: 1.5, 4: 9.0}),
    "tokens for others": with_spans(BOTH, others=40),
    "not at rest": replace(BOTH, spans=[Span("without", 1, 400, 0, asked=False)]),
    "short answers": change(BOTH, lambda each: replace(each, tokens=FEWEST_TOKENS - 1)),
    "two texts without a count": change(BOTH, lambda each: replace(each, tokens=None, text=each.side)),
    "equal texts without a count": change(BOTH, lambda each: replace(each, tokens=None, part_tokens=[])),
    "a failure": replace(BOTH, answers=[replace(BOTH.answers[0], problem="503: busy."), *BOTH.answers[1:]]),
    "long failures": change(BOTH, lambda each: replace(each, problem="no " * 99) if each.prompt == 3 else each),
    "a tenth failed": lost(10),
    "more than a tenth failed": lost(9),
    "no partner": replace(BOTH, answers=BOTH.answers[1:]),
    "two slots": replace(BOTH, with_=replace(BOTH.with_, slots=2)),
    "enough slots": replace(BOTH, with_=replace(BOTH.with_, slots=4)),
    "a note": replace(BOTH, notes=["A note."]),
    "never the same, without": change(BOTH, lambda a: replace(a, text=f"{a.text}{a.repeat * (a.side == 'without')}")),
    "never the same, with": change(BOTH, lambda a: replace(a, text=f"{a.text}{a.repeat * (a.side == 'with')}")),
    "other texts": texts("a bird\nflew", "a bird sang"),
    "a shorter text": texts("a bird", "a bird sang"),
    "half a character": texts("one 😀 two �� three", "one �� two 😀 three"),
    "half a character and another word": texts("one 😀 two �� three", "one �� two 😀 four"),
    "other texts of the same ids": ids([1, 2, 3], [1, 2, 3]),
    "other ids": ids([1, 2, 3], [1, 9, 3]),
    "fewer ids": ids([1, 2, 3], [1, 2]),
    "twice as fast, cut by counted parts": cut(),
    "twice as fast, cut by parts": cut(part_tokens=[]),
    "twice as fast, then the longer one is slow": change(cut(), slow_at_the_end),
    "not cut": cut(part_seconds=[]),
    "eight twice and two ten times as fast": timed(TEN, lambda a: TEN_STEPS[a.side][a.prompt]),
    "equal, one answer all at once": change(
        EQUAL, ours(lambda a: held(a, 0.0005) if a.prompt + a.repeat == 0 else a)),
    "equal, one slow moment": timed(EQUAL, lambda a: 3 * STEP if (a.side, a.repeat) == ("without", 0) else STEP),
    "one prompt all at once": change(make_bench({1: 1.3}), ours(lambda a: held(a, 0.01) if a.prompt == 3 else a)),
    "twelve moments": in_stretches(1),
    "six moments": in_stretches(2),
    "as fast at the end": later_slower(1, 1),
    "slower at the end": later_slower(1, 2),
    "slower at the end, at a load": later_slower(4, 2),
    "thoughts that are sent": thought(""),
    "a share of thoughts": change(BOTH, thinking),
    "thoughts of one server alone": alone(BOTH, reasoning=0.25),
    "strange names": change(SMALL, strange),
    **{f"hidden thoughts {sides}": thought(sides) for sides in ("with", "without", "with without")},
    **{f"a first part of 41 of {tokens}": first_part_of_41(tokens) for tokens in (44, 64)},
    **{f"loads {[*loads.values()]}": make_bench(loads) for loads in (
        {1: 1.5, 8: 0.7}, {1: 1.5, 4: 1.0, 8: 0.7}, {1: 0.8, 8: 0.7}, {1: 1.0, 8: 0.7}, {1: 1.5, 8: 1.0},
        {1: 0.8, 8: 1.5},
    )},
}  # fmt: skip


def in_one_line(load: LoadFindings, told: dict[str, Any]) -> str:
    gains = [("all", load.throughput), ("first", load.first)]
    more = [f"{name} {gain.value:.3f} of {len(gain.ratios)}: {gain.judged.word}" for name, gain in gains if gain]
    interval = f"{told['low']:.3f} to {told['high']:.3f}" if told["low"] else "no interval"
    value = f"{told['speedup']:.3f}, {interval} of {len(known(load.speedup).ratios)}" if told["speedup"] else "-"
    return "; ".join([f"{load.load:g}: {told['verdict']} {value}", *more, *load.doubts])


def lines_of(result: BenchResult) -> list[str]:
    found, least = BenchFindings(result), lowest(result)
    loads = [in_one_line(load, told) for load, told in zip(found.loads, results(result), strict=True)]
    end = f"columns: {' '.join(next(iter(table(found)), ['none']))}"
    return [*conclusion(result), *loads, end, f"at least {least:.3f}" if least else "at least ?"]


@pytest.fixture(scope="module")
def usual() -> set[str]:
    return {*lines_of(BOTH), *lines_of(texts("equal", "equal"))}


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_in_words_and_its_loads_in_figures(name: str, usual: set[str], snapshot: SnapshotAssertion) -> None:
    """Of two good ones everything, and of others what those do not have. A file of it is read again."""
    lines = lines_of(BENCHES[name])
    assert "\n".join(line for line in lines if "good" in name or line not in usual) == snapshot
    assert read_result(dump_result(BENCHES[name]).encode()) == BENCHES[name]


def test_the_known_speedup_is_in_its_interval_and_the_rates_that_are_shown_divide_to_it() -> None:
    found = BenchFindings(make_bench())
    for (load, gain), truth in zip(found.measured, SPEEDUPS.values(), strict=True):
        low, high = known(gain.interval)
        assert low < truth < high
        assert gain.value == pytest.approx(truth, rel=0.01)
        rates = {side: known(its.tokens_per_second) for side, its in load.sides.items()}
        assert rates["with"] / rates["without"] == pytest.approx(gain.value)


def test_a_ratio_is_that_of_times_per_output_token_and_the_first_token_is_apart() -> None:
    fast, plain = make_answer("with", STEP / 2), make_answer("without", STEP)
    # 16 tokens before its first part
    thinks = replace(fast, first=FIRST + 8 * STEP, part_tokens=[17, *[1] * 16], part_seconds=fast.part_seconds[16:])
    for ours, first in ((fast, 1), (thinks, FIRST / (FIRST + 8 * STEP))):
        [found], _ = pair_answers(replace(pair(), answers=[ours, plain]))
        assert (found.ratio, PairGroup(0, [found]).first_ratio) == (pytest.approx(2), pytest.approx(first))


def test_an_interval_that_says_nothing_is_none() -> None:
    """Found: "2.97× 0.00× 297130.88×" of three repeats."""
    assert known(Gain.from_ratios([0.6, 0.7, 60.0])).interval is None
    assert known(Gain.from_ratios([1.1, 1.2, 1.4])).interval
    against_itself = replace(make_bench({1: 1.01}, prompts=PROMPTS[:2]), against_itself=True)
    assert "no interval" in conclusion(against_itself)[-1]  # found: "No pair of answers can be timed"


EXTREME = [
    {"first": 0.0, "seconds": 5e-324},
    {"first": 0.0, "seconds": 1e7, "tokens": 10**12},
    {"first": 1.0, "seconds": 2.0, "part_seconds": [9.0] * 33},
    {"tokens": 40, "part_seconds": [1e7, 0.0], "part_tokens": [10**12, 0]},
    {"tokens": 10**12, "part_tokens": [0] * 33},
    {"accepted": Accepted(10**12, 10**12, 1, [10**12] * 64)},
    {"accepted": Accepted(1, 1, 10**12)},
    {"accepted": Accepted(0, 0, None, [5])},
    {"accepted": Accepted(10**12, 10**12)},
    {"accepted": Accepted(4, 2, 1, [1, 2, 3])},
    {"text": "", "token_ids": []},
    {"first": None},
    {"tokens": 0},
]  # fmt: skip


@pytest.mark.parametrize("extreme", EXTREME, ids=lambda given: "-".join(given))
def test_figures_that_no_server_has_end_in_sentences_not_in_an_error(extreme: dict[str, Any]) -> None:
    for most in (1, 3):  # prompts that have them
        result = change(SMALL, lambda a: replace(a, **extreme) if a.prompt < most else a)  # noqa: B023
        assert all(sentence.endswith(".") and "nan" not in sentence for sentence in conclusion(result))
        dump_csv(BenchFindings(result))


# ---- for scripts and spreadsheets, and on the page


def shown(value: Any) -> Any:
    """With four digits: what a reader looks at, on every processor."""
    if isinstance(value, dict):
        return {name: shown(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


WHOLE = ["nothing", "strange names", "two prompts", "one prompt", "one server alone", "half a character"]


@pytest.mark.parametrize("name", WHOLE)
def test_a_bench_whole_as_scripts_and_spreadsheets_get_it_and_its_table_on_the_page(
    name: str, snapshot: SnapshotAssertion
) -> None:
    found, told = BenchFindings(BENCHES[name]), results(BENCHES[name], Within(None, 0.02))
    loads = [json.dumps({key: value}) for each in told for key, value in shown(each).items()]
    rows = table(found)
    columns = [",".join(rows[0]), *(",".join(map(str, shown([*row.values()]))) for row in rows)] if rows else []
    assert {"results": loads, "csv": dump_csv(found).splitlines(), "table": columns} == snapshot


def test_a_report_is_the_bench_with_more() -> None:
    bench, within = change(SMALL, strange), Within(None, 0.02)
    report = json.loads(dump_report(bench, within))
    assert report.pop("results") == json.loads(json.dumps(results(bench, within)))
    assert report.pop("conclusion") == conclusion(bench, within)
    assert read_result(json.dumps(report).encode()) == bench


def test_a_bench_at_rates_finds_what_one_of_requests_under_way_finds_but_one_a_second_is_not_one_under_way() -> None:
    under_way, at_rates = make_bench({2: 1.6, 4: 1.3}), by_rate(make_bench({2: 1.6, 4: 1.3}))
    for one, other in zip(results(under_way), results(at_rates), strict=True):
        assert other.pop("rate") == one.pop("concurrency")
        assert one == other
    assert not any("concurrency" in sentence for sentence in conclusion(at_rates))
    assert {row["rate"] for row in table(BenchFindings(at_rates))} == {2.0, 4.0}
    assert {row["concurrency"] for row in bench_rows(BenchFindings(at_rates))} == {None}
    speedups = [BenchFindings(each).loads[0].speedup for each in (BENCHES["pays up to a rate"], make_bench())]
    assert speedups[0] != speedups[1]


def test_goodput_is_the_share_of_all_requests_that_keep_both_limits() -> None:
    late, slow = make_answer("with", 0.02, first=0.6, part_seconds=[]), make_answer("with", 0.08)
    failed, short = make_answer("with", 0.02, problem="It failed."), make_answer("with", 0.08, tokens=4)
    answers = [make_answer("with", 0.02), late, slow, failed, short]
    shares = [Within(*limits).share(answers) for limits in ((0.5, 0.05), (None, 0.05), (0.5, None))]
    assert shares == [2 / 5, 3 / 5, 3 / 5]
    said = "Requests within tpot 20 ms: 100% with, 0% without at concurrency 1; 0% with, 0% without at concurrency 4."
    assert said in conclusion(make_bench({1: 1.6, 4: 0.8}), Within(None, 0.02))


def test_the_fastest_of_several_servers_is_named_only_where_the_intervals_tell_it(snapshot: SnapshotAssertion) -> None:
    fast, slow = make_bench({1: 2.0, 4: 1.3}), make_bench({1: 1.2, 4: 1.31}, seed=2)
    fast = replace(fast, with_=replace(fast.with_, drafts="wren-nano"))
    rows, told = compare_servers([slow, fast])
    for other in ("two prompts", "faster than its tokens allow"):  # without an interval, and not trusted
        told += compare_servers([fast, BENCHES[other]])[1]
    assert [*(json.dumps(shown(row)) for row in rows), *told] == snapshot


@pytest.mark.parametrize(
    ("count", "ends"), [(1, (1, 1, 1)), (2, (1, 2, 2)), (3, (2, 3, 3)), (10, (5, 9, 10)), (101, (51, 91, 100))]
)
def test_a_percentile_is_the_least_value_that_so_many_are_not_above(count: int, ends: tuple[int, ...]) -> None:
    answers = [make_answer("with", 0.01, first=float(count - place), part_seconds=[]) for place in range(count)]
    assert percentiles(answers)["ttft"] == dict(zip(("p50", "p90", "p99"), ends, strict=True))
    assert "gap" not in percentiles(answers)
