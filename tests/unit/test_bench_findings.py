"""What a bench says, against benches with a known truth; its words, its JSON, its CSV and its table as snapshots."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.measure.endpoints.acceptance import find_acceptance
from specviz.measure.endpoints.findings import BenchFindings, LoadFindings
from specviz.measure.endpoints.pairs import FEWEST_TOKENS, Gain, PairGroup, pair_answers
from specviz.measure.endpoints.report import dump_csv, dump_report, lowest, percentiles, results, table
from specviz.measure.endpoints.result import Accepted, Answer, BenchResult, Server, Span, read_result
from specviz.measure.endpoints.sentences import conclusion
from tests.support.bench_results import FIRST, SPEEDUPS, STEP, accepted_of, make_answer, make_bench, with_spans
from tests.support.known import known

ONE = [("story 1", "story")]


def change(result: BenchResult, changed: Callable[[Answer], Answer]) -> BenchResult:
    return replace(result, answers=[changed(answer) for answer in result.answers])


def timed(result: BenchResult, seconds: Callable[[Answer], float], **more: Any) -> BenchResult:
    """The same answers, each with its own time of a token."""

    def at(a: Answer) -> Answer:
        place = {"prompt": a.prompt, "repeat": a.repeat, "concurrency": a.concurrency, "block": a.block}
        return make_answer(a.side, seconds(a), began=a.began, **(place | more))

    return change(result, at)


def of_pair(ours: Answer, plain: Answer) -> BenchResult:
    return replace(make_bench({1: 1.0}, prompts=ONE, repeats=1), answers=[ours, plain])


def texts(ours: str, plain: str) -> BenchResult:
    return of_pair(make_answer("with", STEP, text=ours), make_answer("without", STEP, text=plain))


def ids(ours: list[int], plain: list[int]) -> BenchResult:
    return change(texts("a bird", "other"), lambda a: replace(a, token_ids=ours if a.side == "with" else plain))


def cut(**parts: Any) -> BenchResult:
    """The server with speculation ends after 17 tokens, of which its parts hold two each; the other writes 33."""
    seconds = [FIRST + STEP * at for at in range(9)]
    fields = {"tokens": 17, "part_seconds": seconds, "part_tokens": [1, *[2] * 8], "seconds": seconds[-1]}
    result = of_pair(make_answer("with", STEP, **fields), make_answer("without", STEP))
    return change(result, lambda each: replace(each, **parts))


def slow_at_the_end(answer: Answer) -> Answer:
    times = [seconds + (place > 20) for place, seconds in enumerate(answer.part_seconds)]
    return replace(answer, part_seconds=times, seconds=times[-1]) if answer.side == "without" else answer


def in_stretches(together: int) -> BenchResult:
    """Two equal servers of which one is slow in each second stretch of the order in which prompts were asked."""
    order = [7, 2, 9, 4, 11, 0, 5, 10, 3, 8, 1, 6]
    result = change(make_bench({1: 1.0}, repeats=1, noise=0), lambda a: replace(a, block=order.index(a.prompt)))
    return timed(result, lambda a: STEP * (1.3 if a.side == "without" and a.block // together % 2 == 0 else 0.9))


def later_slower(load: int, times: float) -> BenchResult:
    result = make_bench({load: 1.6}, noise=0)
    places = sorted({(each.repeat, each.prompt * (load == 1)) for each in result.answers})
    result = change(result, lambda each: replace(each, block=places.index((each.repeat, each.prompt * (load == 1)))))
    steps = {"with": STEP / 1.6, "without": STEP}
    return timed(result, lambda each: steps[each.side] * (times if each.repeat >= 2 else 1))


def held(answer: Answer, seconds: float) -> Answer:
    """It was written, and sent later: its parts came in one moment."""
    return replace(answer, first=answer.seconds - seconds)


def thought(sides: str) -> BenchResult:
    """Of these servers' answers 24 of 64 tokens are sent, after 40 that were thought and only counted."""

    def hide(answer: Answer) -> Answer:
        parts = answer.part_seconds[40:]
        return replace(answer, first=parts[0], part_seconds=parts, text=answer.text[: len(answer.text) * 24 // 64])

    words = " ".join(f"word{number}" for number in range(64))
    seconds = {"with": STEP / 1.33, "without": STEP}
    long = timed(
        make_bench({1: 1.33}, noise=0.02, counted=False),
        lambda a: seconds[a.side],
        tokens=64,
        text=words,
        part_tokens=[],
    )
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
    sizes = (3, 1, 2, 4, 1, 3, 2, 2)

    def hidden(answer: Answer) -> Answer:
        rest, parts, step = tokens - 40, list[int](), 0.008
        while answer.side == "with" and sum(parts) < rest:
            parts.append(min(sizes[len(parts) % len(sizes)], rest - sum(parts)))
            step = 0.014
        parts = parts or [1] * rest
        seconds = [0.3 + step * place for place in range(len(parts))]
        return replace(
            answer, tokens=tokens, first=seconds[0], seconds=seconds[-1], part_seconds=seconds,
            part_tokens=[40 + parts[0], *parts[1:]],
        )  # fmt: skip

    return change(make_bench({1: 1.33}, counted=False), hidden)


BOTH = make_bench({1: 1.5, 4: 1.2})
UNCOUNTED = make_bench({1: 1.5, 4: 1.2}, counted=False)
EQUAL = make_bench({4: 1.0}, noise=0)
TEN = make_bench({1: 2.0}, prompts=[(f"prompt {number}", "story") for number in range(10)], repeats=1)
TEN_STEPS = {"without": [STEP] * 10, "with": [0.01] * 8 + [0.0019] * 2}
SERVER = known(BOTH.without)
EMPTY = replace(BOTH, answers=[])
RESTING = Span("with", 1, 0, 0, Accepted(40, 20, 10), 1, asked=False)


def counted(counts: Accepted | None) -> Callable[[Answer], Answer]:
    return lambda each: replace(each, accepted=each.accepted and counts)


BENCHES = {
    "pays up to a load": make_bench(),
    "good": BOTH,
    "good, one pair": texts("equal", "equal"),
    "one prompt": make_bench({1: 1.5}, prompts=ONE, repeats=1),
    "two prompts": make_bench({1: 1.5}, prompts=[("a", "story"), ("b", "code")], noise=0.1),
    "two blocks": make_bench({4: 0.6}, repeats=2),
    "one load of two blocks": replace(BOTH, answers=[a for a in BOTH.answers if a.concurrency == 1 or a.repeat < 2]),
    "one server alone": replace(BOTH, without=None, answers=[a for a in BOTH.answers if a.side == "with"]),
    "nothing": EMPTY,
    "nothing of one server": replace(EMPTY, with_=Server("", ""), without=None),
    "a server against itself": replace(make_bench({1: 1.01, 4: 0.99}), against_itself=True),
    "counters": with_spans(BOTH),
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
    "tokens for others": with_spans(BOTH, others=40),
    "not at rest": replace(BOTH, spans=[Span("without", 1, 400, 0, asked=False)]),
    "short answers": change(BOTH, lambda each: replace(each, tokens=FEWEST_TOKENS - 1)),
    "two texts without a count": change(BOTH, lambda each: replace(each, tokens=None, text=each.side)),
    "equal texts without a count": change(BOTH, lambda each: replace(each, tokens=None, part_tokens=[])),
    "a failure": replace(BOTH, answers=[replace(BOTH.answers[0], problem="503: busy."), *BOTH.answers[1:]]),
    "long failures": change(BOTH, lambda each: replace(each, problem="no " * 99) if each.prompt == 3 else each),
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
        EQUAL, lambda a: held(a, 0.0005) if (a.side, a.prompt + a.repeat) == ("with", 0) else a
    ),
    "equal, one slow moment": timed(EQUAL, lambda a: 3 * STEP if (a.side, a.repeat) == ("without", 0) else STEP),
    "one prompt all at once": change(
        make_bench({1: 1.3}), lambda a: held(a, 0.01) if (a.side, a.prompt) == ("with", 3) else a
    ),
    "twelve moments": in_stretches(1),
    "six moments": in_stretches(2),
    "as fast at the end": later_slower(1, 1),
    "slower at the end": later_slower(1, 2),
    "slower at the end, at a load": later_slower(4, 2),
    "thoughts that are sent": thought(""),
    "a share of thoughts": change(BOTH, thinking),
    "thoughts of one server alone": replace(
        BOTH, without=None, answers=[replace(a, reasoning=0.25) for a in BOTH.answers if a.side == "with"]
    ),
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
    return "; ".join([f"{told['concurrency']}: {told['verdict']} {value}", *more, *load.doubts])


def lines_of(result: BenchResult) -> list[str]:
    found = BenchFindings(result)
    loads = [in_one_line(load, told) for load, told in zip(found.loads, results(result), strict=True)]
    return [*conclusion(result), *loads, f"columns: {' '.join(next(iter(table(found)), ['none']))}"]


@pytest.fixture(scope="module")
def usual() -> set[str]:
    return {*lines_of(BOTH), *lines_of(texts("equal", "equal"))}


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_in_words_and_its_loads_in_figures(name: str, usual: set[str], snapshot: SnapshotAssertion) -> None:
    """Of two good ones everything, and of others what those do not have."""
    lines = lines_of(BENCHES[name])
    assert "\n".join(line for line in lines if "good" in name or line not in usual) == snapshot


def test_the_known_speedup_is_in_its_interval_and_the_rates_that_are_shown_divide_to_it() -> None:
    found = BenchFindings(make_bench())
    for (load, gain), truth in zip(found.measured, SPEEDUPS.values(), strict=True):
        low, high = known(gain.interval)
        assert low < truth < high
        assert gain.value == pytest.approx(truth, rel=0.01)
        ours, plain = (known(load.sides[side].tokens_per_second) for side in ("with", "without"))
        assert ours / plain == pytest.approx(gain.value)


def test_a_ratio_is_that_of_times_per_output_token_and_the_first_token_is_apart() -> None:
    [pair], _ = pair_answers(of_pair(make_answer("with", STEP / 2), make_answer("without", STEP)))
    prompt = PairGroup(0, [pair])
    assert (pair.ratio, prompt.first_ratio) == (pytest.approx(2), pytest.approx(1))
    thinks = replace(pair.answers["with"], first=FIRST + 8 * STEP, part_tokens=[17, *[1] * 16])  # before its first part
    thinks = replace(thinks, part_seconds=thinks.part_seconds[16:])
    assert pair_answers(of_pair(thinks, pair.answers["without"]))[0][0].ratio == pytest.approx(2)


@pytest.mark.parametrize(("every", "doubts"), [(21, []), (19, ["lost"])])  # of both: about twice as many of one
def test_a_load_at_which_more_than_a_tenth_of_the_requests_failed_has_no_verdict(every: int, doubts: list[str]) -> None:
    """Found: 40 % had timed out, and the verdict was a green "helps"."""
    whole = make_bench({4: 2.0}, repeats=5)
    lost = {id(each) for each in [each for each in whole.answers if each.side == "with"][:: every // 2]}
    spoilt = change(whole, lambda each: replace(each, problem="timed out", tokens=None) if id(each) in lost else each)
    [load] = BenchFindings(spoilt).loads
    assert (load.doubts, known(load.speedup).trusted) == (doubts, not doubts)


def test_an_interval_that_says_nothing_is_none() -> None:
    """Found: "2.97× 0.00× 297130.88×" of three repeats."""
    assert known(Gain.from_ratios([0.6, 0.7, 60.0])).interval is None
    assert known(Gain.from_ratios([1.1, 1.2, 1.4])).interval


def test_what_is_accepted_is_the_same_from_answers_and_from_counters() -> None:
    spanned, plain = with_spans(BOTH), replace(RESTING, side="without", asked=True)
    own, counters = known(find_acceptance(BOTH)), known(find_acceptance(spanned))
    assert find_acceptance(replace(spanned, spans=[*spanned.spans, plain])) == counters, "of the one with speculation"
    assert (own.source, counters.source) == ("answers", "counters")
    assert (own.whole, own.by_load) == (counters.whole, counters.by_load)
    assert own.whole.survival == pytest.approx((9 / 11, 7 / 11, 4 / 11, 2 / 11))
    assert known(BenchFindings(BENCHES["half a character"]).sameness).identical is None


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
@pytest.mark.parametrize("spread", [False, True], ids=["one", "all"])
def test_figures_that_no_server_has_end_in_sentences_not_in_an_error(extreme: dict[str, object], spread: bool) -> None:
    def changed(answer: Answer) -> Answer:
        return replace(answer, **extreme) if spread or not answer.prompt else answer  # type: ignore[arg-type]

    result = change(BOTH, changed)
    assert all(sentence.endswith(".") for sentence in conclusion(result))
    assert "nan" not in " ".join(conclusion(result))
    dump_csv(BenchFindings(result))


# ---- for scripts and spreadsheets, and on the page

STRANGE = [("=tale", "story"), ("loop", "code"), ("<b>", "story")]


def two_loads() -> BenchResult:
    """One helps and one hurts; an answer of each side failed, and one prompt's counts are not known."""
    bench = make_bench({1: 1.5, 4: 0.6}, prompts=STRANGE, repeats=3)
    answers = [
        replace(
            each,
            problem="500" if (each.prompt, each.repeat, each.side, each.concurrency) == (1, 2, "with", 4) else "",
            accepted=None if each.prompt == 2 else accepted_of(33, 5, (0.9, 0.5, 0.2)) if each.side == "with" else None,
            text=f"{each.text}{each.side if each.prompt == 0 and each.concurrency == 4 else ''}",
            reasoning=0.5 if each.side == "with" else 0.25,
        )
        for each in bench.answers
    ]
    return replace(bench, answers=answers)


WHOLE: dict[str, BenchResult] = {
    "nothing": EMPTY,
    "two loads": two_loads(),
    "without counts": make_bench({2: 1.01}, prompts=STRANGE[:2], repeats=2, counted=False),
    "one prompt": replace(
        (alone := make_bench({1: 2.0}, prompts=STRANGE[:1], repeats=1)),
        answers=[replace(each, first=0.03) if each.side == "with" else each for each in alone.answers],
    ),
    "one side": replace(
        (made := make_bench({1: 1.5}, prompts=STRANGE, repeats=2)),
        without=None,
        answers=[each for each in made.answers if each.side == "with"],
    ),
}


def shown(value: Any) -> Any:
    """With four digits: what a reader looks at, on every processor."""
    if isinstance(value, dict):
        return {name: shown(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [shown(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", WHOLE)
def test_a_bench_whole_as_scripts_and_spreadsheets_get_it_and_its_table_on_the_page(
    name: str, snapshot: SnapshotAssertion
) -> None:
    found = BenchFindings(WHOLE[name])
    loads = [json.dumps({key: value}) for each in results(WHOLE[name]) for key, value in shown(each).items()]
    rows = table(found)
    columns = [",".join(rows[0]), *(",".join(map(str, shown([*row.values()]))) for row in rows)] if rows else []
    assert {"results": loads, "csv": dump_csv(found).splitlines(), "table": columns} == snapshot


def test_a_report_is_the_bench_with_more() -> None:
    bench = two_loads()
    report = json.loads(dump_report(bench))
    assert report.pop("results") == json.loads(json.dumps(results(bench)))
    assert len(report.pop("conclusion")) > 2
    assert read_result(json.dumps(report).encode()) == bench


def test_the_lowest_end_is_known_where_every_load_has_one_that_is_trusted() -> None:
    """In the last one the server that drafts is faster than its tokens allow, so its clock is not believed."""
    both, doubted = (
        make_bench(speedups, prompts=STRANGE, repeats=3) for speedups in ({1: 1.5, 4: 0.7}, {1: 1.5, 4: 9.0})
    )
    assert lowest(both) == min(each["low"] for each in results(both))
    assert [(each["trusted"], each["verdict"]) for each in results(doubted)] == [
        (True, "helps"),
        (False, "cannot be told"),
    ]
    assert lowest(doubted) is None
    assert lowest(WHOLE["one prompt"]) is None


@pytest.mark.parametrize(
    ("count", "ends"), [(1, (1, 1, 1)), (2, (1, 2, 2)), (3, (2, 3, 3)), (10, (5, 9, 10)), (101, (51, 91, 100))]
)
def test_a_percentile_is_the_least_value_that_so_many_are_not_above(count: int, ends: tuple[int, ...]) -> None:
    answers: list[Answer] = [
        make_answer("with", 0.01, first=float(count - place), part_seconds=[]) for place in range(count)
    ]
    assert percentiles(answers)["ttft"] == dict(zip(("p50", "p90", "p99"), ends, strict=True))
    assert "gap" not in percentiles(answers)
