"""A bench as scripts and spreadsheets get it, whole: the results of its loads, its rows, and the table on the page."""

import json
from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from specviz.measure.endpoints.findings import BenchFindings
from specviz.measure.endpoints.report import bench_rows, dump_csv, dump_report, lowest, percentiles, results, table
from specviz.measure.endpoints.result import Answer, BenchResult, read_result
from tests.support.bench_results import accepted_of, make_answer, make_bench

PROMPTS = [("=tale", "story"), ("loop", "code"), ("<b>", "story")]


def two_loads() -> BenchResult:
    """One helps and one hurts; an answer of each side failed, and one prompt's counts are not known."""
    bench = make_bench({1: 1.5, 4: 0.6}, prompts=PROMPTS, repeats=3)
    answers = [
        replace(
            each,
            problem="500" if (each.prompt, each.repeat, each.side, each.concurrency) == (1, 2, "with", 4) else "",
            accepted=None if each.prompt == 2 else accepted_of(33, 5, (0.9, 0.5, 0.2)) if each.side == "with" else None,
            text=f"{each.text}{each.side if each.prompt == 0 and each.concurrency == 4 else ''}",
        )
        for each in bench.answers
    ]
    return replace(bench, answers=answers)


BENCHES: dict[str, BenchResult] = {
    "two loads": two_loads(),
    "without counts": make_bench({2: 1.01}, prompts=PROMPTS[:2], repeats=2, counted=False),
    "one prompt": replace(
        (alone := make_bench({1: 2.0}, prompts=PROMPTS[:1], repeats=1)),
        answers=[replace(each, first=0.03) if each.side == "with" else each for each in alone.answers],
    ),
    "one side": replace(
        (made := make_bench({1: 1.5}, prompts=PROMPTS, repeats=2)),
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


@pytest.mark.parametrize("name", BENCHES)
def test_the_results_of_each_load(name: str, snapshot: SnapshotAssertion) -> None:
    bench = BENCHES[name]
    assert [json.dumps({key: value}) for each in results(bench) for key, value in shown(each).items()] == snapshot


@pytest.mark.parametrize("name", BENCHES)
def test_a_row_for_each_prompt_and_load(name: str, snapshot: SnapshotAssertion) -> None:
    found = BenchFindings(BENCHES[name])
    rows = bench_rows(found)
    assert [",".join(rows[0]), *(",".join(map(str, shown([*row.values()]))) for row in rows)] == snapshot


def test_the_csv_has_every_row_with_six_digits_and_no_formula() -> None:
    header, *lines = dump_csv(BenchFindings(two_loads())).split("\r\n")
    assert header.split(",") == [*bench_rows(BenchFindings(two_loads()))[0]]
    assert [line.split(",", 5)[:5] for line in lines] == [
        ["'=tale", "story", "1", "3", "1.42025"],
        ["loop", "code", "1", "3", "1.49497"],
        ["<b>", "story", "1", "3", "1.56977"],
        ["'=tale", "story", "4", "3", "0.568126"],
        ["loop", "code", "4", "2", "0.59995"],
        ["<b>", "story", "4", "3", "0.627893"],
        [""],
    ]
    assert max(len(cell.partition(".")[2]) for line in lines for cell in line.split(",")) <= 7
    assert dump_csv(BenchFindings(replace(two_loads(), answers=[]))) == ""


def test_the_table_on_the_page(snapshot: SnapshotAssertion) -> None:
    shown_tables = {name: shown(table(BenchFindings(bench))) for name, bench in BENCHES.items()}
    assert {
        name: [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        for name, rows in shown_tables.items()
    } == snapshot


def test_a_report_is_the_bench_with_more() -> None:
    bench = two_loads()
    report = json.loads(dump_report(bench))
    assert report.pop("results") == json.loads(json.dumps(results(bench)))
    assert len(report.pop("conclusion")) > 2
    assert read_result(json.dumps(report).encode()) == bench


def test_the_lowest_end_is_known_where_every_load_has_one_that_is_trusted() -> None:
    """In the last one the server that drafts is faster than its tokens allow, so its clock is not believed."""
    both, doubted = (
        make_bench(speedups, prompts=PROMPTS, repeats=3) for speedups in ({1: 1.5, 4: 0.7}, {1: 1.5, 4: 9.0})
    )
    assert lowest(both) == min(each["low"] for each in results(both))
    assert [(each["trusted"], each["verdict"]) for each in results(doubted)] == [
        (True, "helps"),
        (False, "cannot be told"),
    ]
    assert lowest(doubted) is None
    assert lowest(BENCHES["one prompt"]) is None


@pytest.mark.parametrize(
    ("count", "ends"), [(1, (1, 1, 1)), (2, (1, 2, 2)), (3, (2, 3, 3)), (10, (5, 9, 10)), (101, (51, 91, 100))]
)
def test_a_percentile_is_the_least_value_that_so_many_are_not_above(count: int, ends: tuple[int, ...]) -> None:
    answers: list[Answer] = [
        make_answer("with", 0.01, first=float(count - place), part_seconds=[]) for place in range(count)
    ]
    assert percentiles(answers)["ttft"] == dict(zip(("p50", "p90", "p99"), ends, strict=True))
    assert "gap" not in percentiles(answers)
