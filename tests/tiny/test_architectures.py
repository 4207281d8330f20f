"""Models of all shapes: the light forward pass against transformers' own, and what is refused."""

from dataclasses import replace

import pytest
import torch

from specviz import DecodeSettings, ModelDrafter
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models import transformers_models
from specviz.models.cached_model import CHUNK, CachedModel
from specviz.models.key_values import FIRST_ROOM
from specviz.models.llama import Llama
from specviz.models.llama_weights import explain_unsupported
from tests.support.architectures import random_model, random_weights, ready
from tests.support.known import known
from tests.support.strategies import refusal
from tests.support.tiny_models import tiny_model


def test_a_model_that_takes_the_cache_and_ignores_it_is_refused() -> None:
    model, settings = random_model("openai-gpt"), DecodeSettings(max_new_tokens=4)
    target = replace(tiny_model(seed=1, vocabulary=11), tokens=model.tokens)
    for decode in (
        lambda: autoregressive_decode(model, [1, 2, 3], settings),
        lambda: speculative_decode(target, ModelDrafter(model), [1, 2, 3], settings),
    ):
        assert "or no cache" in refusal(decode)


TEXT = torch.randint(23, (60,), generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize(
    ("kind", "changes", "reason"),
    [
        ("gemma", {}, "model_type"),
        ("mistral", {"sliding_window": 6}, "sliding_window"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1}, "sliding_window"),
        ("llama", {"hidden_act": "gelu"}, "hidden_act"),
    ],
)
def test_other_architectures_stay_with_transformers(kind: str, changes: dict[str, object], reason: str) -> None:
    model = random_weights(kind, changes)
    assert known(explain_unsupported(model.config.to_dict()))[0] == reason
    assert ready(model).info.forward == "transformers"


def test_a_pass_that_disagrees_is_not_used_and_the_old_one_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    build = transformers_models.build

    def wrong(*arguments: object) -> Llama:
        made = build(*arguments)  # type: ignore[arg-type]
        made.rotary.frequencies.mul_(1.01)
        return made

    monkeypatch.setattr(transformers_models, "build", wrong)
    model = random_weights("llama", {})
    before = model(TEXT[None]).logits
    loaded = ready(model)
    assert loaded.info.forward == "transformers"
    torch.testing.assert_close(loaded.model(TEXT[None]).logits, before)  # its weights are what they were
    monkeypatch.undo()
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")
    assert ready(random_weights("llama", {})).info.forward == "transformers"


def test_the_model_of_transformers_shares_every_matrix() -> None:
    loaded = ready(random_weights("llama", {}))
    llama = loaded.llama
    joined = {llama.embedding, llama.output.weight, *(layer.queries_keys_values.weight for layer in llama.layers)}
    joined |= {layer.gate_up.weight for layer in llama.layers}
    joined |= {each.weight for layer in llama.layers for each in (layer.attention_out, layer.down)}
    storages = {matrix.untyped_storage().data_ptr() for matrix in joined}
    assert {w.data.untyped_storage().data_ptr() for w in loaded.model.parameters() if w.dim() == 2} == storages


def test_the_cache_grows_by_doubling_and_a_crop_copies_nothing() -> None:
    llama = ready(random_weights("llama", {})).llama
    cache, rooms, long = llama.cache(), [], [*range(20)] * 30
    for start in range(0, 600, 20):
        llama.hidden(torch.tensor(long[start : start + 20]), cache)
        rooms.append(cache.store.shape[3])
    assert sorted({*rooms}) == [FIRST_ROOM * 2**times for times in range(5)]
    store = cache.store
    cache.crop(100)
    after = llama.hidden(torch.tensor([1, 2]), cache)
    assert cache.store is store
    assert cache.length == 102
    alone = llama.cache()
    llama.hidden(torch.tensor(long[:100]), alone)
    torch.testing.assert_close(after, llama.hidden(torch.tensor([1, 2]), alone), rtol=1e-4, atol=1e-5)


LONG = [(5 * i) % 7 for i in range(2 * CHUNK + 9)]


def test_hidden_states_are_those_of_transformers_and_follow_the_cache() -> None:
    loaded = tiny_model(seed=1, context=1024)
    expected = loaded.model.model(torch.tensor([LONG])).last_hidden_state[0]
    model = CachedModel(loaded, 7)
    states = model.store_states()
    model.prefill(LONG[:-6])
    model.read([*LONG[-6:-3], 1, 1])
    model.crop(len(LONG) - 3)
    assert states.length == model.length == len(LONG) - 3
    model.read(LONG[-3:])
    assert torch.allclose(states.since(0), expected, atol=1e-5)
    assert torch.allclose(states.since(len(LONG) - 2), expected[-2:], atol=1e-5)
