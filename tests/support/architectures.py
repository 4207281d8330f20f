"""Random models of the families that are known here: those of the light forward pass, and others."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, PreTrainedModel

from specviz.core.trace import ModelInfo
from specviz.models.loaded_model import LoadedModel
from specviz.models.transformers_models import from_transformers
from tests.support.tiny_models import word_tokenizer

NO_MARKS = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}

# ---- read by the light forward pass

SMALL_LIGHT = NO_MARKS | {
    "vocab_size": 23,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 640,
    "initializer_range": 0.3,
}
STRETCHED = {"rope_type": "llama3", "rope_theta": 500.0, "original_max_position_embeddings": 64}
STRETCHED |= {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
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


def random_weights(kind: str, changes: Mapping[str, object]) -> PreTrainedModel:
    """transformers' model of this family, with these entries in its configuration."""
    config = transformers.AutoConfig.for_model(kind, **(SMALL_LIGHT | changes))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config).eval()
        for name, weight in model.named_parameters():
            weight.requires_grad_(False)
            if name.endswith(("bias", "norm.weight")):  # transformers begins with zeros and ones, which hide mistakes
                weight.add_(torch.randn_like(weight), alpha=0.3)
    return model


def ready(model: PreTrainedModel, name: str = "small") -> LoadedModel:
    info = ModelInfo(name, model.num_parameters(), "float32", "")
    return from_transformers(model, word_tokenizer(model.config.vocab_size), name, info)


@cache
def family_model(case: str, vocabulary: int = 7) -> LoadedModel:
    """A target of one of the families in `KNOWN`; read only."""
    kind, changes = KNOWN[case]
    loaded = ready(random_weights(kind, {**changes, "vocab_size": vocabulary}), case)
    assert loaded.info.forward == "light"
    return loaded


# ---- read by transformers

SMALL: dict[str, object] = NO_MARKS | {"vocab_size": 11, "tie_word_embeddings": False}
WIDE = SMALL | {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 64}
LLAMA = WIDE | {"intermediate_size": 32, "num_key_value_heads": 1, "head_dim": 8}
WINDOW = LLAMA | {"sliding_window": 6}  # shorter than the texts: what has left it must come back after a rejection
GEMMA = WINDOW | {"query_pre_attn_scalar": 8}
GPT2 = SMALL | {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64}
DECODABLE: dict[str, dict[str, Any]] = {
    "gpt2": GPT2,
    "llama": LLAMA,
    "gpt_neox": WIDE | {"intermediate_size": 32},
    "qwen2": LLAMA,
    "opt": WIDE | {"ffn_dim": 32, "word_embed_proj_dim": 16},
    "mistral": WINDOW,
    "gemma2": GEMMA,
    "gemma3_text": GEMMA | {"layer_types": ["sliding_attention", "full_attention"]},
    "bloom": SMALL | {"hidden_size": 16, "n_layer": 2, "n_head": 2},
}
REFUSED: dict[str, dict[str, Any]] = {
    "mamba": SMALL | {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2},
    "lfm2": LLAMA | {"layer_types": ["conv", "full_attention"]},
    "openai-gpt": GPT2,  # takes the cache and ignores it
    "rwkv": SMALL | {"hidden_size": 16, "num_hidden_layers": 2, "attention_hidden_size": 16, "context_length": 64},
}


@cache
def random_model(kind: str, noise: float = 0.0) -> LoadedModel:
    """Random weights that let the text wander; `noise` makes a draft that only sometimes agrees. Read only."""
    config = (DECODABLE | REFUSED)[kind]
    generator = torch.Generator().manual_seed(3)
    with torch.random.fork_rng():
        model = AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(kind, **config)).eval()
    for weight in model.parameters():
        weight.requires_grad_(False)
        if weight.dim() > 1:
            weight.normal_(0, 0.5, generator=generator)
    for weight in model.parameters() if noise else ():
        weight.add_(noise * torch.randn(weight.shape, generator=generator))
    return ready(model, kind)
