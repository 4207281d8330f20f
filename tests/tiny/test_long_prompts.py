"""Long prompts: read in passes that can be stopped, with a budget for keys and values, and never all logits at once."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from tokenizers.pre_tokenizers import WhitespaceSplit
from torch import Tensor
from transformers import DynamicCache

from specviz import DecodeSettings, ModelDrafter, speculative_decode
from specviz.core.request import RunRequest
from specviz.measure import compare
from specviz.models import devices
from specviz.models.cached_model import CHUNK, CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.service.handlers.run import run_steps
from specviz.service.protocol import Rounds, Run, RunStarted
from tests.support.architectures import random_model
from tests.support.fake_workshop import workshop_with
from tests.support.strategies import refusal
from tests.support.tiny_models import tiny_model


def reader_of_words(layers: int, name: str) -> LoadedModel:
    """A model with room for a long prompt; its tokenizer splits a text at the spaces."""
    made = tiny_model(seed=1, layers=layers, name=name, context=1024)
    made.tokenizer.backend_tokenizer.pre_tokenizer = WhitespaceSplit()
    return made


TARGET = reader_of_words(2, "target")
DRAFT = reader_of_words(1, "draft")
LONG = [(7 * place * place + place // 3) % 7 for place in range(3 * CHUNK + 6)]  # read in four passes
SETTINGS = DecodeSettings(max_new_tokens=24, draft_length=4)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens each forward pass of the models reads, in order."""
    sizes, real = list[int](), CachedModel._ids

    def ids(model: CachedModel, tokens: Sequence[int]) -> Tensor:
        sizes.append(len(tokens))
        return real(model, tokens)

    monkeypatch.setattr(CachedModel, "_ids", ids)
    return sizes


def test_a_run_can_be_stopped_between_two_passes_over_its_prompt(passes: list[int]) -> None:
    words = " ".join(f"w{token}" for token in LONG)
    steps = run_steps(Run(1, RunRequest(words, settings=SETTINGS)), workshop_with(TARGET, DRAFT))
    read = []
    while (event := next(steps)) is None:
        read.append(sum(passes))
    assert isinstance(event, RunStarted)
    prompt = len(LONG) - 1  # its last token is read with the first guesses
    assert read[-1] == 2 * prompt, "the target and the draft"
    assert max(b - a for a, b in pairwise(read)) == CHUNK
    assert len(read) >= 8
    assert isinstance(next(steps), Rounds), "the first round does not wait for the target alone"
    alone = [sum(passes)]
    while alone[-1] - alone[0] < prompt:
        event = next(steps)
        assert event is None or event.rounds == []  # on a slow machine it is time for a message
        alone.append(sum(passes))
    assert max(b - a for a, b in pairwise(alone)) == CHUNK
    assert alone[-1] - alone[0] == prompt, "the target alone"


@pytest.mark.parametrize("kind", ["llama", "gpt2", "qwen2", "gpt_neox"])
def test_the_budget_counts_the_bytes_that_the_cache_takes(kind: str) -> None:
    loaded = random_model(kind)
    cache = DynamicCache(config=loaded.model.config)
    loaded.model(torch.tensor([[1, 2, 3, 4, 5]]), past_key_values=cache, use_cache=True)
    taken = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert taken == 5 * loaded.cache_bytes_per_token


def test_keys_and_values_that_do_not_fit_are_refused(passes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = len(LONG) + SETTINGS.max_new_tokens
    each = 2 * TARGET.cache_bytes_per_token + DRAFT.cache_bytes_per_token  # both decoders read with the target
    needed = int(1.1 * tokens * each)
    monkeypatch.setattr(devices, "available_bytes", lambda: needed)
    speculative_decode(TARGET, ModelDrafter(DRAFT), LONG, SETTINGS)
    passes.clear()
    monkeypatch.setattr(devices, "available_bytes", lambda: needed - 1)
    said = refusal(lambda: speculative_decode(TARGET, ModelDrafter(DRAFT), LONG, SETTINGS))
    assert f"for {len(LONG)} tokens and 24 new ones would take " in said
    assert said.endswith("use a shorter prompt or fewer tokens.")
    assert passes == []


def test_quality_needs_only_a_few_rows_of_logits(passes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    output = [(3 * place + place // 2) % 7 for place in range(100)]
    rows: list[int] = []
    real = CachedModel.read

    def read(model: CachedModel, tokens: Sequence[int]) -> Tensor:
        logits = real(model, tokens)
        rows.append(len(logits))
        return logits

    monkeypatch.setattr(CachedModel, "read", read)
    compare.mean_log_probability(TARGET, LONG, output)
    assert max(rows) == compare.ROWS
    rows.clear()
    logits = compare.next_logits(TARGET, LONG)
    torch.testing.assert_close(logits, TARGET.model(torch.tensor([LONG])).logits[0, -1], rtol=0, atol=1e-5)
    assert rows == [1]
