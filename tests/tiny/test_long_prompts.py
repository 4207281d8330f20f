"""Long prompts: read in passes that can be stopped, with a budget for keys and values, and never all logits at once."""

from itertools import pairwise

import pytest
import torch
from tokenizers.pre_tokenizers import WhitespaceSplit
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
from tests.support.counted_reads import CountedReads
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


def test_a_prompt_is_read_in_passes_with_a_stop_between_two_and_for_the_target_alone_after_the_first_round() -> None:
    words, prompt = " ".join(f"w{token}" for token in LONG), len(LONG) - 1  # the last is read with the first guesses
    passes: list[int] = []
    pair = (CountedReads(each, passes.append).loaded for each in (TARGET, DRAFT))
    steps = run_steps(Run(1, RunRequest(words, settings=SETTINGS)), workshop_with(*pair))
    read = []
    while (event := next(steps)) is None:
        read.append(sum(passes))
    assert isinstance(event, RunStarted)
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


def test_keys_and_values_that_do_not_fit_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    each = 2 * TARGET.cache_bytes_per_token + DRAFT.cache_bytes_per_token  # both decoders read with the target
    needed, target = int(1.1 * (len(LONG) + SETTINGS.max_new_tokens) * each), CountedReads(TARGET)
    monkeypatch.setattr(devices, "available_bytes", lambda: needed - 1)
    said = refusal(lambda: speculative_decode(target.loaded, ModelDrafter(DRAFT), LONG, SETTINGS))
    assert f"for {len(LONG)} tokens and 24 new ones would take " in said
    assert said.endswith("use a shorter prompt or fewer tokens.")
    assert target.lengths == []
    monkeypatch.setattr(devices, "available_bytes", lambda: needed)
    speculative_decode(TARGET, ModelDrafter(DRAFT), LONG, SETTINGS)


def test_quality_needs_only_a_few_rows_of_logits(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, real = list[int](), CachedModel.read
    monkeypatch.setattr(CachedModel, "read", lambda *given: rows.append(len(made := real(*given))) or made)
    compare.mean_log_probability(TARGET, LONG, [(3 * place + place // 2) % 7 for place in range(100)])
    assert max(rows) == compare.ROWS
    rows.clear()
    logits = compare.next_logits(TARGET, LONG)
    torch.testing.assert_close(logits, TARGET.model(torch.tensor([LONG])).logits[0, -1], rtol=0, atol=1e-5)
    assert rows == [1]
