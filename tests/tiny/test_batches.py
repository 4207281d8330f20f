"""Texts that are decoded together: each is what it is alone, and is distributed as the target's own text.

The chi-squared tests have odds of a false alarm of 1 in 10,000 each with new seeds (`tests.support.joint`); with these
seeds they are decided for ever.
"""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
import torch

from benchmarks.batching import rounds as batches
from benchmarks.batching.rounds import BatchRound, BatchRun
from specviz import DecodeSettings, InputError, ModelDrafter, autoregressive_decode, speculative_decode
from specviz.core.metrics import Counts, count
from specviz.measure.proof.other_rules import make_other_rule
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import TransformersForward
from tests.support.joint import FALSE_ALARM, exact_joint, p_value
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
    mine = [row.counts for round in rounds for row in round.rows if row.number == number]
    names = ("rounds", "drafted", "accepted", "rejected", "discarded", "emitted")
    return Counts(*(sum(getattr(each, name) for each in mine) for name in names))


def alone(target: LoadedModel, number: int, settings: DecodeSettings) -> tuple[list[int], Counts]:
    """What a text of the batch is when it is decoded alone, and its counts."""
    own = replace(settings, seed=settings.seed + number)
    trace = speculative_decode(target, ModelDrafter(DRAFT), PROMPTS[number], own, record=False)
    return trace.output.token_ids, count(trace.rounds)


@pytest.mark.parametrize("draft_length", [1, 3, 6])
@pytest.mark.parametrize("texts", [1, 2, 5])
@pytest.mark.parametrize("how", HOWS)
def test_each_text_of_a_batch_is_what_it_is_alone(how: str, texts: int, draft_length: int) -> None:
    settings = settings_of(how, draft_length=draft_length)
    run = BatchRun(TARGET, DRAFT, PROMPTS[:texts], settings)
    rounds = list(run.rounds())
    for number in range(texts):
        written, counts = alone(TARGET, number, settings)
        assert run.outputs[number] == written
        assert counts_of(rounds, number) == counts


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
    target = ending(TARGET, 3)
    settings = settings_of(how, max_new_tokens=40)
    run = BatchRun(target, DRAFT, PROMPTS, settings)
    rounds = list(run.rounds())
    sizes = [len(round.rows) for round in rounds]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 5 > sizes[-1]
    for number in range(5):
        written, counts = alone(target, number, settings)
        assert run.outputs[number] == written
        assert counts_of(rounds, number) == counts


def test_a_round_has_every_text_that_still_writes_once() -> None:
    run = BatchRun(TARGET, DRAFT, PROMPTS, settings_of("sampling"))
    left = dict.fromkeys(range(5), 20)
    for round in run.rounds():
        assert sorted(row.number for row in round.rows) == sorted(number for number in left if left[number])
        for row in round.rows:
            left[row.number] -= len(row.emitted)
            counts = row.counts
            assert counts.drafted == counts.accepted + counts.rejected + counts.discarded
    assert set(left.values()) == {0}


def test_a_long_prompt_is_read_in_chunks_beside_a_short_one() -> None:
    target = tiny_model(seed=1, context=700)
    draft = tiny_model(seed=1, layers=1, context=700)
    long = torch.randint(7, (300,), generator=torch.Generator().manual_seed(0)).tolist()
    run = BatchRun(target, draft, [long, [1, 2]], settings_of("greedy"))
    list(run.rounds())
    for prompt, written in zip([long, [1, 2]], run.outputs, strict=True):
        assert written == autoregressive_decode(target, prompt, settings_of("greedy")).output.token_ids


# ---- losslessness


def p_values() -> list[float]:
    """The test on the first three tokens of 1,000 texts for each of two prompts, all in batches of 100."""
    prompts = [PROMPTS[0], PROMPTS[3]]
    seen: dict[int, Counter[tuple[int, ...]]] = defaultdict(Counter)
    settings = DecodeSettings(max_new_tokens=7, draft_length=4, temperature=1.0)
    for seed in range(0, 2000, 100):
        run = BatchRun(TARGET, DRAFT, prompts * 50, replace(settings, seed=seed))
        list(run.rounds())
        for number, written in enumerate(run.outputs):
            seen[number % 2][tuple(written[:3])] += 1
    return [p_value(seen[i], exact_joint(TARGET, prompt, settings, 3)) for i, prompt in enumerate(prompts)]


def test_each_text_of_a_batch_is_distributed_as_the_targets_own() -> None:
    assert min(p_values()) > FALSE_ALARM


def test_a_lossy_rule_in_a_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "make_rule", lambda _, generator: make_other_rule("no-residual", generator))
    assert min(p_values()) < 1e-9


# ---- what cannot be done


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
def test_what_cannot_be_decoded_together_is_refused_in_a_sentence(
    prompts: list[list[int]], more: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        BatchRun(TARGET, DRAFT, prompts, settings_of("greedy", **more))


def test_a_model_that_transformers_reads_is_refused() -> None:
    other = with_forward(TARGET, TransformersForward(TARGET.model, "target"))
    with pytest.raises(InputError, match="reads one text at a time"):
        BatchRun(other, DRAFT, PROMPTS, settings_of("greedy"))
