"""What a bench says to a script: results of each load, as the contract has them, and the percentiles of its times."""

from dataclasses import replace

import pytest

from specviz.measure.endpoints.report import lowest, percentiles, results
from tests.support.bench_results import make_answer, make_bench


def test_each_load_has_its_figures() -> None:
    first, second = results(make_bench({1: 1.5, 4: 0.7}))
    assert (first["verdict"], second["verdict"]) == ("helps", "hurts")
    assert first["low"] < first["speedup"] < first["high"]
    assert (first["prompts"], first["identical"]) == (12, True)
    assert first["tokens_per_target_call"] == pytest.approx(3)
    assert first["by_position"] == pytest.approx([9 / 11, 7 / 11, 4 / 11, 2 / 11])
    rates = first["tokens_per_second"]
    assert rates["with"] / rates["without"] == pytest.approx(first["speedup"])


def test_without_an_interval_nothing_is_told() -> None:
    [load] = results(make_bench({1: 2.0}, prompts=[("one", "story")]))
    assert (load["verdict"], load["low"], load["trusted"]) == ("cannot be told", None, True)
    assert lowest(make_bench({1: 2.0}, prompts=[("one", "story")])) is None


def test_percentiles_are_values_that_were_measured() -> None:
    answers = [make_answer("with", 0.01 * number, first=number, tokens=11) for number in range(1, 101)]
    timed = [replace(answer, first=0.05) for answer in answers]
    assert percentiles(answers)["ttft"] == {"p50": 50, "p90": 90, "p99": 99}
    assert percentiles(timed)["tpot"] == pytest.approx({"p50": 0.5, "p90": 0.9, "p99": 0.99})
    assert percentiles(timed)["gap"] == pytest.approx({"p50": 0.5, "p90": 0.9, "p99": 0.99})
    assert percentiles(timed)["total"] == pytest.approx({"p50": 5.05, "p90": 9.05, "p99": 9.95})
    assert percentiles([]) == {}
    lumps = make_answer("with", 0.1, tokens=4, part_seconds=[0.1, 0.1, 0.1, 0.4])
    assert percentiles([lumps])["gap"] == pytest.approx({"p50": 0.0, "p90": 0.3, "p99": 0.3})
