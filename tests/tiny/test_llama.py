"""The light forward pass against transformers' own, on small random models of every family it knows."""

from collections.abc import Iterator, Mapping

import pytest
import torch
import transformers
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaConfig, PreTrainedModel
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from specviz import DecodeSettings, ModelDrafter, speculative_decode
from specviz.core.trace import ModelInfo
from specviz.models import transformers_models
from specviz.models.batch_model import BatchModel
from specviz.models.cached_model import CachedModel
from specviz.models.forward import LightForward
from specviz.models.key_values import FIRST_ROOM
from specviz.models.llama import Llama
from specviz.models.llama_weights import frequencies, unknown_because
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_forward import TransformersForward
from specviz.models.transformers_models import from_transformers
from tests.support.tiny_models import tiny_model, word_tokenizer

SMALL = {
    "vocab_size": 23,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 640,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
    "initializer_range": 0.3,
}
STRETCHED = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
KNOWN: dict[str, tuple[str, dict[str, object]]] = {
    "llama": ("llama", {}),
    "grouped heads": ("llama", {"num_key_value_heads": 2}),
    "one head of keys": ("llama", {"num_key_value_heads": 1, "head_dim": 16}),
    "tied": ("llama", {"tie_word_embeddings": True}),
    "biases": ("llama", {"attention_bias": True, "mlp_bias": True}),
    "llama 3 rotary": ("llama", {"rope_parameters": STRETCHED}),
    "mistral": ("mistral", {"sliding_window": None, "num_key_value_heads": 2}),
    "qwen2": ("qwen2", {"num_key_value_heads": 2, "tie_word_embeddings": True}),
    "qwen3": ("qwen3", {"num_key_value_heads": 2, "head_dim": 12}),
}
UNKNOWN: dict[str, tuple[dict[str, object], str]] = {
    "gemma": ({}, "the architecture is gemma"),
    "mistral": ({"sliding_window": 6}, "some layers have a sliding window"),
    "qwen2": ({"use_sliding_window": True, "sliding_window": 6, "max_window_layers": 1}, "a sliding window"),
    "llama": ({"hidden_act": "gelu"}, "the activation is gelu"),
}
TEXT = torch.randint(23, (60,), generator=torch.Generator().manual_seed(5))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def random_weights(kind: str, changes: Mapping[str, object]) -> PreTrainedModel:
    config = transformers.AutoConfig.for_model(kind, **(SMALL | changes))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config).eval()
        for name, weight in model.named_parameters():
            weight.requires_grad_(False)
            if name.endswith(("bias", "norm.weight")):  # transformers begins with zeros and ones, which hide mistakes
                weight.add_(torch.randn_like(weight), alpha=0.3)
    return model


def ready(model: PreTrainedModel) -> LoadedModel:
    return from_transformers(model, word_tokenizer(23), "small", ModelInfo("small", 1, "float32", ""))


def light(loaded: LoadedModel) -> Llama:
    assert isinstance(loaded.forward, LightForward)
    return loaded.forward.llama


@pytest.mark.parametrize("case", KNOWN)
def test_logits_are_those_of_transformers_in_passes_of_every_width(case: str) -> None:
    loaded = ready(random_weights(*KNOWN[case]))
    assert loaded.info.forward == "light"
    ours, theirs = loaded.forward.reader(), TransformersForward(loaded.model, "").reader()
    for part in TEXT.split([17, 1, 5, 1, 2, 34]):
        one, other = ours.read(part), theirs.read(part)
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("case", KNOWN)
def test_greedy_speculation_writes_what_generate_writes(case: str) -> None:
    target, draft = ready(random_weights(*KNOWN[case])), tiny_model(seed=1, vocabulary=23)
    prompt = TEXT[:7].tolist()
    settings = DecodeSettings(max_new_tokens=40, draft_length=3)
    written = target.model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=40, use_cache=True)  # type: ignore[operator]
    trace = speculative_decode(target, ModelDrafter(draft), prompt, settings)
    assert trace.output.token_ids == written[0, 7:].tolist()
    assert trace.target.forward == trace.drafter.forward == "light" if trace.drafter else False


@pytest.mark.parametrize("kind", UNKNOWN)
def test_other_architectures_stay_with_transformers(kind: str) -> None:
    changes, reason = UNKNOWN[kind]
    model = random_weights(kind, changes)
    assert reason in str(unknown_because(model.config.to_dict()))
    assert ready(model).info.forward == "transformers"


def test_a_forward_pass_that_disagrees_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_the_old_forward_pass_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECVIZ_FORWARD", "transformers")
    assert ready(random_weights("llama", {})).info.forward == "transformers"


def test_the_model_of_transformers_shares_every_matrix() -> None:
    loaded = ready(random_weights("llama", {}))
    llama = light(loaded)
    joined = {llama.embedding, llama.output.weight, *(layer.queries_keys_values.weight for layer in llama.layers)}
    joined |= {layer.gate_up.weight for layer in llama.layers}
    joined |= {each.weight for layer in llama.layers for each in (layer.attention_out, layer.down)}
    storages = {matrix.untyped_storage().data_ptr() for matrix in joined}
    assert {w.data.untyped_storage().data_ptr() for w in loaded.model.parameters() if w.dim() == 2} == storages


def test_llama_3_stretches_the_rotary_frequencies_as_transformers_does() -> None:
    config = LlamaConfig(**(SMALL | {"head_dim": 64, "rope_parameters": STRETCHED}))
    theirs, scale = ROPE_INIT_FUNCTIONS["llama3"](config)
    ours = frequencies(STRETCHED, 64)
    torch.testing.assert_close(ours, theirs)
    assert scale == 1
    plain = frequencies(STRETCHED | {"rope_type": "default"}, 64)
    assert torch.equal(ours[0], plain[0])  # the highest stays
    assert ours[-1] == plain[-1] / 8  # the lowest is divided
    assert int(((ours < plain) & (ours > plain / 8)).sum()) > 0  # and some lie between


# ---- the cache


def read(llama: Llama, parts: list[list[int]]) -> Tensor:
    """The hidden states of the last part, each part read in a pass of its own."""
    cache = llama.cache()
    return [llama.hidden(torch.tensor(part), cache) for part in parts][-1]


def test_the_cache_grows_by_doubling_and_a_crop_copies_nothing() -> None:
    llama = light(ready(random_weights("llama", {})))
    cache, rooms, long = llama.cache(), [], [*range(20)] * 30
    for start in range(0, 600, 20):
        llama.hidden(torch.tensor(long[start : start + 20]), cache)
        rooms.append(cache.store.shape[3])
    assert sorted({*rooms}) == [FIRST_ROOM, 2 * FIRST_ROOM, 4 * FIRST_ROOM]
    store = cache.store
    cache.crop(100)
    after = llama.hidden(torch.tensor([1, 2]), cache)
    assert cache.store is store
    assert cache.length == 102
    torch.testing.assert_close(after, read(llama, [long[:100], [1, 2]]), rtol=1e-4, atol=1e-5)


def test_a_cache_never_grows_when_it_is_cropped_to_more_than_it_has() -> None:
    llama = light(tiny_model(seed=1))
    cache = llama.cache()
    llama.hidden(torch.tensor([1, 2]), cache)
    cache.crop(5)
    assert cache.length == 2


def test_selected_rows_are_what_reading_them_alone_gives() -> None:
    """A tree's nodes 0, 1, 2, 3 with 2 a child of 0: the path 0, 2 stays, as if it had been read alone."""
    llama = light(ready(random_weights("qwen3", {"num_key_value_heads": 2})))
    text, path = TEXT[:9].tolist(), [4, 6]
    cache = llama.cache()
    llama.hidden(torch.tensor(text), cache)
    nodes = torch.tensor([path[0], 5, path[1], 7])
    mask = torch.zeros(4, 13, dtype=torch.bool)
    mask[:, :9] = True
    for node, ancestors in enumerate(([0], [1], [0, 2], [1, 3])):
        mask[node, [9 + each for each in ancestors]] = True
    in_tree = llama.hidden(nodes, cache, torch.tensor([9, 9, 10, 10]), mask)
    alone = read(llama, [text, path])
    torch.testing.assert_close(in_tree[[0, 2]], alone, rtol=1e-4, atol=1e-5)
    cache.select(9, [0, 2])
    after = llama.hidden(torch.tensor([8]), cache)
    torch.testing.assert_close(after, read(llama, [text, path, [8]]), rtol=1e-4, atol=1e-5)


# ---- several texts at once


@pytest.mark.parametrize("case", KNOWN)
def test_texts_that_are_read_together_give_the_logits_of_each_alone(case: str) -> None:
    loaded = ready(random_weights(*KNOWN[case]))
    batch, alone = BatchModel(loaded, 23, 3), [CachedModel(loaded, 23) for _ in range(3)]
    passes = [[TEXT[:9].tolist(), [4], TEXT[30:47].tolist()], [[3], [4, 5, 6], []], [[1, 2], [3], [4, 5]]]
    for parts, keep in zip(passes, ([9, 1, 17], [8, 3, 17], [10, 3, 18]), strict=True):
        logits = batch.read(parts)
        for place, part in enumerate(parts):
            if part:
                expected = alone[place].read(part)
                torch.testing.assert_close(logits[place, : len(part)], expected, rtol=1e-4, atol=1e-5)
            alone[place].crop(keep[place])
        batch.crop(keep)
        assert batch.lengths == [model.length for model in alone] == keep


def test_a_text_that_leaves_a_batch_changes_nothing_for_the_others() -> None:
    loaded = ready(random_weights("qwen3", {"num_key_value_heads": 2}))
    texts = [TEXT[:300].tolist() * 5, TEXT[3:9].tolist(), TEXT[20:50].tolist()]  # the first one needs more room
    batch = BatchModel(loaded, 23, 3)
    batch.prefill(texts)
    assert batch.lengths == [300, 6, 30]
    batch.remove(0)  # the third one takes its number
    last = batch.read_last([[5], [6, 7]])
    for place, text in enumerate(([*texts[2], 5], [*texts[1], 6, 7])):
        model = CachedModel(loaded, 23)
        torch.testing.assert_close(last[place], model.read(text)[-1], rtol=1e-4, atol=1e-5)
    batch.remove(1)
    assert batch.lengths == [31]
