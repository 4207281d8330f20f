"""Models of other shapes: padded vocabularies, other architectures, and those that cannot be rolled back."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
import transformers
from transformers import AutoModelForCausalLM, PreTrainedConfig

from specviz import DecodeSettings, InputError, ModelDrafter, PromptLookupDrafter
from specviz.core.metrics import count
from specviz.core.trace import ModelInfo
from specviz.decoding import autoregressive_decode, speculative_decode
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers
from tests.support.tiny_models import tiny_model, with_tokenizer, word_tokenizer


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# Padded vocabularies


def padded(seed: int, vocabulary: int, likely: bool, layers: int = 2) -> LoadedModel:
    """A model with more rows in its embedding than tokens; `likely` makes the padding most probable."""
    loaded = tiny_model(seed=seed, vocabulary=vocabulary, layers=layers)
    with torch.no_grad():
        if likely:
            loaded.model.lm_head.weight[7:] = 50 * loaded.model.lm_head.weight[:1].abs()
            loaded.model.lm_head.weight[8:] *= -1  # with either sign of a hidden state, some padding wins
    return with_tokenizer(loaded, word_tokenizer(7))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(("target_size", "draft_size"), [(7, 12), (12, 7), (12, 9)])
def test_padding_of_an_embedding_is_never_drafted_or_written(
    target_size: int, draft_size: int, temperature: float
) -> None:
    target, draft = (padded(seed, size, likely=size > 7) for seed, size in ((1, target_size), (2, draft_size)))
    settings = DecodeSettings(max_new_tokens=40, temperature=temperature, seed=1)
    trace = speculative_decode(target, ModelDrafter(draft), [1, 2, 3], settings)
    ids = [token.id for round in trace.rounds for token in round.drafted] + trace.output.token_ids
    assert max(ids) < 7
    assert all(c.id < 7 for round in trace.rounds for token in round.drafted for c in token.candidates)
    if temperature == 0:
        assert trace.output.token_ids == autoregressive_decode(target, [1, 2, 3], settings).output.token_ids


def test_without_the_mask_padding_is_written() -> None:
    target = padded(1, 12, likely=True)
    text = torch.tensor([[1, 2, 3]])
    assert int(target.model(text).logits[0, -1].argmax()) >= 7


# Other architectures

SMALL = {
    "vocab_size": 11,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
    "tie_word_embeddings": False,
}
WIDE = SMALL | {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64}
LLAMA = WIDE | {"intermediate_size": 32, "num_key_value_heads": 1, "head_dim": 8}
GPT2 = SMALL | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
WINDOW = 6  # shorter than the texts below, so that what has left it must stay left, and come back after a rejection
DECODABLE: dict[str, dict[str, object]] = {
    "gpt2": GPT2,
    "llama": LLAMA,
    "gpt_neox": WIDE | {"intermediate_size": 32},
    "qwen2": LLAMA,
    "opt": WIDE | {"ffn_dim": 32, "word_embed_proj_dim": 16},
    "mistral": LLAMA | {"sliding_window": WINDOW},
    "gemma2": LLAMA | {"sliding_window": WINDOW, "query_pre_attn_scalar": 8},
    "gemma3_text": LLAMA
    | {"sliding_window": WINDOW, "query_pre_attn_scalar": 8, "layer_types": ["sliding_attention", "full_attention"]},
    "bloom": SMALL | {"hidden_size": 16, "n_layer": 2, "n_head": 2},
}
REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "mamba": (SMALL | {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2}, "recurrent state"),
    "lfm2": (LLAMA | {"layer_types": ["conv", "full_attention"]}, "recurrent state"),
    "openai-gpt": (GPT2, "does not use a key-value cache"),  # takes the cache and ignores it
}
PROMPTS = ([1, 2, 3], [4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7], [3])


def random_model(kind: str, config: dict[str, object], noise: float = 0.0) -> LoadedModel:
    """Random weights large enough that the text wanders; `noise` makes a draft that only sometimes agrees."""
    made: PreTrainedConfig = transformers.AutoConfig.for_model(kind, **config)
    generator = torch.Generator().manual_seed(3)
    with torch.random.fork_rng():
        model = AutoModelForCausalLM.from_config(made).eval()
    for weight in model.parameters():
        weight.requires_grad_(False)
        if weight.dim() > 1:
            weight.normal_(0, 0.5, generator=generator)
    for weight in model.parameters() if noise else ():
        weight.add_(noise * torch.randn(weight.shape, generator=generator))
    return from_transformers(model, word_tokenizer(11), kind, ModelInfo(kind, model.num_parameters(), "float32", ""))


@pytest.mark.parametrize("kind", DECODABLE)
def test_other_architectures_decode_as_transformers_does(kind: str) -> None:
    target, draft = random_model(kind, DECODABLE[kind]), random_model(kind, DECODABLE[kind], noise=0.15)
    seen: set[int] = set()
    fates = [0, 0]
    for prompt in PROMPTS:
        ids = torch.tensor([prompt])
        written = target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=40, do_sample=False, pad_token_id=0
        )
        expected = written[0, len(prompt) :].tolist()
        seen |= set(expected)
        for length in (1, 5):
            settings = DecodeSettings(max_new_tokens=40, draft_length=length)
            for drafter in (ModelDrafter(draft), PromptLookupDrafter()):
                trace = speculative_decode(target, drafter, prompt, settings)
                assert trace.output.token_ids == expected
                fates = [fates[0] + count(trace.rounds).accepted, fates[1] + count(trace.rounds).rejected]
        assert autoregressive_decode(target, prompt, settings).output.token_ids == expected
    assert len(seen) >= 3, "a text of one token proves little"
    assert min(fates) >= 10, "so does a draft that is always right, or always wrong"


@pytest.mark.parametrize("kind", REFUSED)
def test_a_model_whose_state_cannot_be_rolled_back_is_refused(kind: str) -> None:
    config, why = REFUSED[kind]
    model = random_model(kind, config)
    with pytest.raises(InputError, match=f"^{kind} .*{why}"):
        autoregressive_decode(model, [1, 2, 3], DecodeSettings(max_new_tokens=4))
    target = replace(tiny_model(seed=1, vocabulary=11), tokens=model.tokens)
    with pytest.raises(InputError, match=f"^{kind} .*{why}"):
        speculative_decode(target, ModelDrafter(model), [1, 2, 3], DecodeSettings(max_new_tokens=4))
