"""Texts that are decoded together: each is, draw for draw, what it is alone; and how such batches are measured."""

import json
from dataclasses import asdict, replace

import pytest
import torch
from pydantic import TypeAdapter

from benchmarks.batching.measuring import BatchPlan, Work, measure_batches, speedup_of
from benchmarks.batching.passes import measure_passes
from benchmarks.batching.rounds import BatchRound, BatchRun, RowRound
from specviz import DecodeSettings, InputError, ModelDrafter, autoregressive_decode, speculative_decode
from specviz.core.metrics import Counts, count
from specviz.data.measured.batches import BatchStudy, Ratio
from specviz.measure.paired import total
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import TransformersForward
from tests.support.tiny_models import ending, tiny_model, with_forward

TARGET = tiny_model(seed=1, name="target")
DRAFT = tiny_model(seed=1, layers=1, name="draft")
PROMPTS = [[1, 2, 1, 2, 1], [3], [0, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3], [5, 5], [4, 2, 6, 1, 1, 3, 0]]
HOWS: dict[str, dict[str, object]] = {
    "greedy": {},
    "sampling": {"temperature": 1.0},
    "top-k and top-p": {"temperature": 1.3, "top_k": 5, "top_p": 0.9},
    "block verification": {"temperature": 1.0, "verification": "block"},
    "most probable guesses": {"temperature": 1.0, "draft_sampling": "argmax"},
}


def settings_of(how: str, **more: object) -> DecodeSettings:
    return DecodeSettings(**({"max_new_tokens": 20, "seed": 40} | HOWS[how] | more))  # type: ignore[arg-type]


def counts_of(rounds: list[BatchRound], number: int) -> Counts:
    """The counts of one text."""
    return total([row.counts for round in rounds for row in round.rows if row.number == number])


def decoded_as_alone(target: LoadedModel, prompts: list[list[int]], settings: DecodeSettings) -> list[BatchRound]:
    """The rounds of a batch, after a check that each text and its counts are what they are when it is decoded alone."""
    run = BatchRun(target, DRAFT, prompts, settings)
    rounds = list(run.rounds())
    for number, prompt in enumerate(prompts):
        own = replace(settings, seed=settings.seed + number)
        trace = speculative_decode(target, ModelDrafter(DRAFT), prompt, own, record=False)
        assert run.outputs[number] == trace.output.token_ids
        assert counts_of(rounds, number) == count(trace.rounds)
    return rounds


@pytest.mark.parametrize(("texts", "draft_length"), [(1, 3), (2, 6), (5, 1), (5, 3)])
@pytest.mark.parametrize("how", HOWS)
def test_each_text_of_a_batch_is_what_it_is_alone(how: str, texts: int, draft_length: int) -> None:
    decoded_as_alone(TARGET, PROMPTS[:texts], settings_of(how, draft_length=draft_length))


@pytest.mark.parametrize("how", HOWS)
def test_without_a_draft_each_text_is_what_the_target_writes_alone(how: str) -> None:
    settings = settings_of(how)
    run = BatchRun(TARGET, None, PROMPTS, settings)
    rounds = list(run.rounds())
    assert len(rounds) == settings.max_new_tokens
    for number, prompt in enumerate(PROMPTS):
        own = settings_of(how, seed=settings.seed + number)
        assert run.outputs[number] == autoregressive_decode(TARGET, prompt, own).output.token_ids
        assert counts_of(rounds, number) == Counts(rounds=20, emitted=20)


@pytest.mark.parametrize("how", HOWS)
def test_a_text_that_has_ended_leaves_and_the_others_go_on(how: str) -> None:
    rounds = decoded_as_alone(ending(TARGET, 3), PROMPTS, settings_of(how, max_new_tokens=40))
    sizes = [len(round.rows) for round in rounds]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 5 > sizes[-1]


def test_a_long_prompt_is_read_in_chunks_beside_a_short_one() -> None:
    target = tiny_model(seed=1, context=700)
    draft = tiny_model(seed=1, layers=1, context=700)
    long = torch.randint(7, (300,), generator=torch.Generator().manual_seed(0)).tolist()
    run = BatchRun(target, draft, [long, [1, 2]], settings_of("greedy"))
    list(run.rounds())
    for prompt, written in zip([long, [1, 2]], run.outputs, strict=True):
        assert written == autoregressive_decode(target, prompt, settings_of("greedy")).output.token_ids


@pytest.mark.parametrize(
    ("prompts", "more", "says"),
    [
        ([], {}, "no prompt"),
        ([[1], []], {}, "prompt is empty"),
        ([[1]], {"tree": "2,2", "draft_length": 2}, "leave out tree"),
        ([[1]], {"draft_schedule": "heuristic"}, "leave draft_schedule at fixed"),
        ([[1] * 60], {}, "do not fit"),
    ],
)
def test_what_cannot_be_together_is_refused(prompts: list[list[int]], more: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        BatchRun(TARGET, DRAFT, prompts, settings_of("greedy", **more))
    with pytest.raises(InputError, match="3 prompts cannot be divided into batches of 2"):
        measure_batches(TARGET, DRAFT, dict(list(NAMED.items())[:3]), PLAN)
    with pytest.raises(InputError, match="at least 2 repeats"):
        BatchPlan(repeats=1)
    by_transformers = with_forward(TARGET, TransformersForward(TARGET.model, "target"))
    with pytest.raises(InputError, match="reads one text at a time"):
        BatchRun(by_transformers, DRAFT, PROMPTS, settings_of("greedy"))


NAMED = {"one": [1, 2, 1], "two": [3], "three": [5, 5, 0, 4], "four": [6, 1]}
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


def plainly(step: float) -> Work:
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
    found = speedup_of(2, 2, [drafting(), drafting()], [plainly(4.0), plainly(5.0)])
    assert found.speedup.value == pytest.approx((20 / 19 * 25 / 19) ** 0.5)
    assert found.speedup.low < found.speedup.value < found.speedup.high
    same = Ratio.from_ratios([3.0, 3.0, 3.0])
    assert (same.value, same.low, same.high) == pytest.approx((3, 3, 3))
    assert found.full_speedup.value == pytest.approx((2.0 / 2 * 2.5 / 2) ** 0.5)
    assert found.cost_ratio.value == pytest.approx((2 / 4 * 2 / 5) ** 0.5)
    assert found.verification.value == pytest.approx((3 / 4 * 3 / 5) ** 0.5)
    assert found.overhead.value == pytest.approx((1 / 4 * 1 / 5) ** 0.5)
    assert found.empty_places == pytest.approx(1 / 6)
    assert found.tokens_per_second == pytest.approx(10 / 19)
    assert found.plain_tokens_per_second == pytest.approx((10 / 20 + 10 / 25) / 2)


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


def test_a_study_decodes_every_prompt_and_counts_the_texts_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    study = measure_batches(TARGET, DRAFT, NAMED, PLAN, told.append)
    assert (study.target, study.draft, study.prompts) == ("target", "draft", list(NAMED))
    assert (study.batches, study.draft_lengths) == ([1, 2, 4], [1, 3])
    assert (study.compared, study.different) == (2 * 4 * 3 * 3 - 4, 0)
    assert told[0] == "passes"
    assert told[-1] == "batches of 4, repeat 2 of 2"
    for point in study.speedups:
        assert point.counts == study.at(1, point.draft_length).counts  # each text accepts what it accepts alone
        assert point.counts.emitted == 4 * 9
        assert (point.empty_places == 0) == (point.batch == 1)
    assert TypeAdapter(BatchStudy).validate_json(json.dumps(asdict(study)), strict=True) == study
    right = vars(BatchRun)["outputs"].fget

    def outputs(run: BatchRun) -> list[list[int]]:
        found: list[list[int]] = right(run)
        return [[*found[0][:-1], -1], *found[1:]] if len(found) == 4 else found

    monkeypatch.setattr(BatchRun, "outputs", property(outputs))
    assert measure_batches(TARGET, DRAFT, NAMED, PLAN).different == 2 * 3  # one of four, in each repeat and way
