"""Measuring batches: the bookkeeping by hand-worked numbers, and a whole study of tiny models."""

import json
from dataclasses import asdict

import pytest
from pydantic import TypeAdapter

from benchmarks.batching.measuring import BatchPlan, Work, measure_batches, speedup_of
from benchmarks.batching.passes import measure_passes
from benchmarks.batching.rounds import BatchRound, BatchRun, RowRound
from specviz import InputError
from specviz.core.metrics import Counts
from specviz.data.batches import BatchStudy, Ratio
from tests.support.tiny_models import tiny_model

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
PROMPTS = {"one": [1, 2, 1], "two": [3], "three": [5, 5, 0, 4], "four": [6, 1]}
PLAN = BatchPlan(
    batches=(1, 2, 4), draft_lengths=(1, 3), new_tokens=9, repeats=2, pass_lengths=(1, 2, 4), pass_repeats=2
)


def drafting(slow: float = 1.0) -> Work:
    """Two texts, two guesses a round; the first text ends after two rounds, the second after three."""
    first = [RowRound(0, 2, 2, [1, 1, 1]), RowRound(1, 2, 0, [1])]
    second = [RowRound(0, 2, 1, [1, 1]), RowRound(1, 2, 1, [1, 1])]
    work = Work()
    seconds = (4.0 * slow, 3.0 * slow, 1.0 * slow)
    work.add([BatchRound(*seconds, first), BatchRound(*seconds, second), BatchRound(1.0, 2.0, 0.0, second[1:])], 2)
    return work


def alone(step: float) -> Work:
    """The same texts by the target alone: five passes."""
    work = Work()
    rows = [RowRound(0, 0, 0, [1]), RowRound(1, 0, 0, [1])]
    work.add([BatchRound(0.0, step - 1, 1.0, rows)] * 5, 2)
    return work


def test_a_batch_is_timed_until_its_slowest_text_has_ended_and_while_every_text_writes() -> None:
    work = drafting()
    assert work.seconds == 8 + 8 + 3
    assert work.seconds_a_token == 16 / 8  # 4 + 4 tokens in the two rounds that both texts are in
    assert work.costs == (2.0, 3.0, 1.0, 8.0)  # 4 seconds for two draft steps
    assert work.counts == Counts(rounds=5, drafted=10, accepted=5, rejected=4, discarded=1, emitted=10)
    assert work.places == 6


def test_a_point_is_made_of_the_repeats_own_ratios() -> None:
    found = speedup_of(2, 2, [drafting(), drafting()], [alone(4.0), alone(5.0)])
    assert found.speedup.value == pytest.approx((20 / 19 * 25 / 19) ** 0.5)
    assert found.speedup.low < found.speedup.value < found.speedup.high
    assert found.full_speedup.value == pytest.approx((2.0 / 2 * 2.5 / 2) ** 0.5)
    assert found.cost_ratio.value == pytest.approx((2 / 4 * 2 / 5) ** 0.5)
    assert found.verification.value == pytest.approx((3 / 4 * 3 / 5) ** 0.5)
    assert found.overhead.value == pytest.approx((1 / 4 * 1 / 5) ** 0.5)
    assert found.empty_places == pytest.approx(1 / 6)
    assert found.tokens_per_second == pytest.approx(10 / 19)
    assert found.plain_tokens_per_second == pytest.approx((10 / 20 + 10 / 25) / 2)
    steps = 2 * found.cost_ratio.value + found.verification.value + found.overhead.value
    assert found.modelled == pytest.approx(10 / 5 / steps)


def test_a_ratio_is_a_geometric_mean_with_its_interval() -> None:
    assert Ratio.of([0.5, 2.0]).value == pytest.approx(1)
    same = Ratio.of([3.0, 3.0, 3.0])
    assert (same.value, same.low, same.high) == pytest.approx((3, 3, 3))


def test_passes_are_timed_in_batches_of_each_size() -> None:
    passes = measure_passes(TARGET, (1, 3), (2, 4), 3)
    assert [each.batch for each in passes] == [1, 3]
    for each in passes:
        assert list(each.verification) == [1, 2, 4]
        assert each.verification[1] == pytest.approx(1)
        assert each.step_seconds > 0
        for check in each.checks:
            assert 0 < check.steps.low <= check.steps.value <= check.steps.high
    assert passes[0].growth.value == pytest.approx(1)


def test_a_study_decodes_every_prompt_in_every_way_and_compares_the_texts() -> None:
    told: list[str] = []
    study = measure_batches(TARGET, DRAFT, PROMPTS, PLAN, told.append)
    assert (study.target, study.draft, study.prompts) == ("target", "draft", list(PROMPTS))
    assert (study.batches, study.draft_lengths) == ([1, 2, 4], [1, 3])
    assert (study.compared, study.different) == (2 * 4 * 3 * 3 - 4, 0)
    assert told[0] == "passes"
    assert told[-1] == "batches of 4, repeat 2 of 2"
    for point in study.speedups:
        assert point.counts == study.at(1, point.draft_length).counts  # each text accepts what it accepts alone
        assert point.counts.emitted == 4 * 9
        assert (point.empty_places == 0) == (point.batch == 1)
    assert TypeAdapter(BatchStudy).validate_json(json.dumps(asdict(study)), strict=True) == study


def test_a_text_that_differs_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = vars(BatchRun)["outputs"].fget

    def outputs(run: BatchRun) -> list[list[int]]:
        found: list[list[int]] = right(run)
        return [[*found[0][:-1], -1], *found[1:]] if len(found) == 4 else found

    monkeypatch.setattr(BatchRun, "outputs", property(outputs))
    study = measure_batches(TARGET, DRAFT, PROMPTS, PLAN)
    assert study.different == 2 * 3  # one text of the batch of four, in each repeat and way


def test_prompts_that_do_not_fill_the_batches_are_refused() -> None:
    with pytest.raises(InputError, match="3 prompts cannot be divided into batches of 2"):
        measure_batches(TARGET, DRAFT, dict(list(PROMPTS.items())[:3]), PLAN)
    with pytest.raises(InputError, match="at least 2 repeats"):
        BatchPlan(repeats=1)
