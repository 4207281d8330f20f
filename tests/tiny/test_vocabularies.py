"""A draft whose tokens are the first of the target's, or the other way round: lossless drafts at any temperature.

Chi-squared over the joint distribution of three tokens, see `tests.support.joint`. The odds of a false alarm are 1 in
10,000 for each test with new seeds; with these seeds it is decided for ever.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from specviz import DecodeSettings, ModelDrafter, make_drafter, speculative_decode
from specviz.decoding.drafters.translated import TranslatedDrafter
from specviz.models.pairing import check_pair, same_numbers
from tests.support.grids import grid
from tests.support.joint import FALSE_ALARM, p_value_of_loop
from tests.support.tiny_models import save, tiny_model, tokenizer_of, with_tokenizer

FEW, MANY = 5, 9
TARGET = tiny_model(seed=1, vocabulary=MANY, name="target")
DRAFT = tiny_model(seed=1, vocabulary=FEW, layers=1, name="draft")
PROMPT = [1, 7, 2, 1]  # with a token that the draft does not have
RUNS = 1000

WAYS: dict[str, dict[str, object]] = {
    "a chain": {},
    "top-k": {"top_k": 7},  # more than the draft has
    "top-p": {"top_p": 0.9},
    "top-k and top-p": {"top_k": 4, "top_p": 0.8},
    "block verification": {"verification": "block"},
    "most probable tokens": {"draft_sampling": "argmax"},
    "a tree": {"tree": "4,2,1"},
    "a tree with more children than the draft has tokens": {"tree": "8,1", "draft_length": 2},
    "the best paths": {"tree": "dynamic:12"},
    "unsure drafts": {"draft_schedule": "confidence"},
}


def settings_of(way: str) -> DecodeSettings:
    return DecodeSettings(**({"draft_length": 3, "temperature": 0.8} | WAYS[way]))  # type: ignore[arg-type]


SMALL = ("a chain",)  # the others: only the full grid


@pytest.mark.parametrize("way", grid(WAYS, SMALL))
def test_a_draft_with_fewer_tokens_leaves_the_targets_distribution(way: str) -> None:
    assert p_value_of_loop(TARGET, ModelDrafter(DRAFT), PROMPT, settings_of(way), runs=RUNS) > FALSE_ALARM


@pytest.mark.parametrize("way", grid(["a chain", "block verification", "a tree"], ("block verification",)))
def test_a_draft_with_more_tokens_leaves_the_targets_distribution(way: str) -> None:
    found = p_value_of_loop(DRAFT, ModelDrafter(TARGET), [1, 2, 1], settings_of(way), runs=RUNS)
    assert found > FALSE_ALARM


class Allowed:
    def __init__(self, *token_ids: int) -> None:
        self._mask = torch.tensor([token_id in token_ids for token_id in range(MANY)])

    def allowed(self, _: Sequence[int]) -> Tensor:
        return self._mask


@pytest.mark.parametrize("token_ids", [(1, 3, 7), (6, 8)])
def test_a_constraint_may_allow_only_tokens_that_the_draft_does_not_have(token_ids: tuple[int, ...]) -> None:
    pair = TARGET, ModelDrafter(DRAFT)
    found = p_value_of_loop(*pair, PROMPT, settings_of("a chain"), runs=RUNS, constraint=Allowed(*token_ids))
    assert found > FALSE_ALARM


@pytest.mark.parametrize("seed", range(4))
def test_q_of_the_other_tokens_is_0_and_the_target_writes_them(seed: int) -> None:
    settings = DecodeSettings(max_new_tokens=40, temperature=0.8, seed=seed)
    trace = speculative_decode(TARGET, ModelDrafter(DRAFT), PROMPT, settings)
    drafted = [token for round in trace.rounds for token in round.drafted]
    others = [each for token in drafted for each in token.candidates if each.id >= FEW]
    assert others
    assert all(each.q == 0 for each in others)
    assert max(trace.output.token_ids) >= FEW > max(token.id for token in drafted)


@pytest.mark.parametrize("few_first", [False, True])
@pytest.mark.parametrize("marks", [False, True])
def test_such_a_pair_drafts_in_tokens_where_it_can(few_first: bool, marks: bool, tmp_path: Path) -> None:
    """Of words that one of them lacks, a greedy draft can still make a text."""
    words = tokenizer_of({f"w{i}": i for i in range(FEW)})
    words.add_special_tokens({"additional_special_tokens": [f"w{i}" for i in range(FEW, MANY)]})
    pair = (DRAFT, TARGET) if few_first else (TARGET, DRAFT)
    target, draft = (with_tokenizer(each, words) if marks and each is TARGET else each for each in pair)
    names = [str(save(each, tmp_path / each.name)) for each in (target, draft)]
    for temperature in (0.0, 0.8):
        direct = marks or temperature > 0
        drafter = make_drafter(names[1], target, DecodeSettings(temperature=temperature))
        assert isinstance(drafter, ModelDrafter if direct else TranslatedDrafter)
        _, note = check_pair(*names, greedy=temperature == 0)
        assert bool(note) == (not direct)


WORDS = {f"w{i}": i for i in range(6)}


def test_the_same_numbers_mean_the_same_tokens() -> None:
    alike = [WORDS, {**WORDS, "a": 6, "b": 7}, {**WORDS, "a": 8}, {"w0": 0, "w1": 1}]  # 7 stands for nothing
    others = [{**WORDS, "w1": 2, "w2": 1}, {**WORDS, "w5": 6, "a": 5}, {"w0": 0, "w2": 2}]
    ours = tokenizer_of(WORDS)
    for theirs in (*alike, *others):
        other = tokenizer_of(theirs)
        assert same_numbers(ours, other) == same_numbers(other, ours) == (theirs in alike)
