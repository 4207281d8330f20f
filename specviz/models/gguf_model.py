"""A model in a GGUF file: Llama, Mistral, Qwen2 and Qwen3, read by the light forward pass.

The names of fields and tensors: github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from collections import UserDict
from collections.abc import Mapping
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import ModelInfo
from specviz.models.catalogue import weights_hash
from specviz.models.devices import check_memory, choose_device, needed_bytes
from specviz.models.gguf_file import EMBEDDING, GgufFile, read_gguf
from specviz.models.gguf_tokens import chat_template, end_ids, read_tokens
from specviz.models.llama_weights import build, explain_unsupported, frequencies
from specviz.models.loaded_model import DTYPES, Inspection, LoadedModel, light_model
from specviz.models.refusals import broken, explain_unknown

say = Sentences("models")

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ARCHITECTURES = ("llama", "qwen2", "qwen3")  # Mistral's files say llama
WITH_BIAS = ("attn_q", "attn_k", "attn_v", "attn_output")
FACTORS = "rope_freqs.weight"  # of Llama 3.1 and later: by what the angles are divided
LLAMA_3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA_3 |= {"original_max_position_embeddings": 8192}
MOST_LAYERS = 1000  # the deepest models have a tenth of that


def inspect_gguf(name: str, path: Path) -> Inspection:
    """Raises InputError: it cannot be loaded here; one sentence."""
    file = read_gguf(path)
    config = configuration(file)
    parameters = sum(prod(stored.shape) for tensor, stored in file.tensors.items() if tensor != FACTORS)
    return Inspection(name, read_tokens(file), parameters, config["max_position_embeddings"])


def load_gguf(name: str, path: Path, dtype: str) -> LoadedModel:
    """Its weights are unpacked to "float32" or "bfloat16", and take that much memory."""
    seen = inspect_gguf(name, path)
    needed = needed_bytes(seen.parameters, dtype)
    check_memory([(name, needed)])
    file, device = read_gguf(path), torch.device(choose_device(name, needed))
    config, info = configuration(file), ModelInfo(name, seen.parameters, dtype, weights_hash(path))
    llama = build(config, _Weights(file, config, DTYPES[dtype], device))
    make_model = cache(partial(_transformers, file, config, dtype))
    return light_model(llama, seen.tokens, info, config, end_ids(file), make_model, cache(partial(_tokenizer, file)))


def configuration(file: GgufFile) -> dict[str, Any]:
    """What config.json would say. Raises InputError: its numbers and its tensors do not make a model that is read."""
    kind, name = file.fields.get("general.architecture"), file.path.name
    if file.fields.get("general.type") == "adapter":
        raise InputError(say("adapter", name=name))
    if file.fields.get("split.count", 1) not in (0, 1):
        raise InputError(say("split_file", name=name, count=file.fields["split.count"]))
    if kind not in ARCHITECTURES:
        raise explain_unknown(name, "general.architecture", kind, join_choices([*ARCHITECTURES], "and"))
    count, heads = partial(_number, file, int), _number(file, int, "attention.head_count")
    if experts := file.fields.get(f"{kind}.expert_count"):
        raise explain_unknown(name, f"{kind}.expert_count", experts, "0")
    if EMBEDDING not in file.tensors:
        raise broken(name, EMBEDDING)
    config = {
        "model_type": kind,
        "hidden_act": "silu",
        "hidden_size": count("embedding_length"),
        "intermediate_size": count("feed_forward_length"),
        "num_hidden_layers": count("block_count", most=MOST_LAYERS),
        "num_attention_heads": heads,
        "num_key_value_heads": count("attention.head_count_kv", heads),
        "head_dim": count("attention.key_length", count("embedding_length") // heads),
        "max_position_embeddings": count("context_length"),
        "rms_norm_eps": _number(file, float, "attention.layer_norm_rms_epsilon"),
        "vocab_size": file.tensors[EMBEDDING].shape[0],
        "tie_word_embeddings": "output.weight" not in file.tensors,
        "attention_bias": "blk.0.attn_q.bias" in file.tensors,
        "sliding_window": file.fields.get(f"{kind}.attention.sliding_window"),
        "rope_parameters": _rotation(file, _number(file, float, "rope.freq_base", 10_000.0)),
        "eos_token_id": file.fields.get("tokenizer.ggml.eos_token_id"),
    }
    if unsupported := explain_unsupported(config):
        raise explain_unknown(name, *unsupported)
    turned = file.fields.get(f"{kind}.rope.dimension_count", config["head_dim"])
    if turned != config["head_dim"] or turned % 2:
        raise explain_unknown(name, f"{kind}.rope.dimension_count", turned, str(config["head_dim"]))
    if heads % config["num_key_value_heads"]:
        raise broken(name, f"{kind}.attention.head_count_kv")
    _check_tensors(file, config)
    return config


def _number(file: GgufFile, kind: type, key: str, default: Any = None, most: int = 2**31) -> Any:
    key = f"{file.fields['general.architecture']}.{key}"
    value = file.fields.get(key, default)
    if not (type(value) is kind and isinstance(value, int | float) and 0 < value <= most):
        raise broken(file.path.name, f"{key}: {value!r:.40}")
    return value


def _rotation(file: GgufFile, theta: float) -> dict[str, Any]:
    """How queries and keys are turned, as config.json says it. Llama 3.1 and 3.2 differ by a factor."""
    rope = f"{file.fields['general.architecture']}.rope"
    kind = file.fields.get(f"{rope}.scaling.type", "linear")  # as llama.cpp takes older files, which name only a factor
    factor = file.fields.get(f"{rope}.scaling.factor", file.fields.get(f"{rope}.scale_linear", 1.0))
    if kind != "none" and factor not in (0.0, 1.0):
        return {"rope_type": str(kind)[:40]}
    plain = {"rope_type": "default", "rope_theta": theta}
    if FACTORS not in file.tensors:
        return plain
    divided = file.read_tensor(FACTORS, torch.float32).flatten()
    for factor in (8.0, 32.0):
        scaled = plain | LLAMA_3 | {"factor": factor}
        ours = frequencies(plain, 2 * len(divided)) / frequencies(scaled, 2 * len(divided))
        if torch.allclose(ours, divided, rtol=1e-3):
            return scaled
    return {"rope_type": FACTORS}


def _check_tensors(file: GgufFile, config: Mapping[str, Any]) -> None:
    wanted = {tensor: shape for tensor, (_, shape) in _tensors(config).items()}
    wanted |= {FACTORS: (config["head_dim"] // 2,)} if FACTORS in file.tensors else {}
    for tensor, stored in file.tensors.items():
        shape = wanted.pop(tensor, None)
        if shape != stored.shape:
            raise broken(file.path.name, tensor)
    if missing := [tensor for tensor in wanted if not tensor.endswith(".bias")]:
        raise broken(file.path.name, missing[0])


def _tensors(config: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """By llama.cpp's name: that of a checkpoint, and the shape. Biases may be missing."""
    hidden, inner, size = (config[key] for key in ("hidden_size", "intermediate_size", "head_dim"))
    queries, keys = config["num_attention_heads"] * size, config["num_key_value_heads"] * size
    layer: dict[str, tuple[str, tuple[int, ...]]] = {
        "attn_norm": ("input_layernorm", (hidden,)),
        "attn_q": ("self_attn.q_proj", (queries, hidden)),
        "attn_k": ("self_attn.k_proj", (keys, hidden)),
        "attn_v": ("self_attn.v_proj", (keys, hidden)),
        "attn_output": ("self_attn.o_proj", (hidden, queries)),
        "ffn_norm": ("post_attention_layernorm", (hidden,)),
        "ffn_gate": ("mlp.gate_proj", (inner, hidden)),
        "ffn_up": ("mlp.up_proj", (inner, hidden)),
        "ffn_down": ("mlp.down_proj", (hidden, inner)),
    }
    if config["model_type"] == "qwen3":
        layer |= {"attn_q_norm": ("self_attn.q_norm", (size,)), "attn_k_norm": ("self_attn.k_norm", (size,))}
    rows = config["vocab_size"]
    every = {
        EMBEDDING: ("model.embed_tokens.weight", (rows, hidden)),
        "output_norm.weight": ("model.norm.weight", (hidden,)),
    }
    if not config["tie_word_embeddings"]:
        every["output.weight"] = ("lm_head.weight", (rows, hidden))
    for index in range(config["num_hidden_layers"]):
        for tensor, (name, shape) in layer.items():
            every[f"blk.{index}.{tensor}.weight"] = (f"model.layers.{index}.{name}.weight", shape)
            if tensor in WITH_BIAS:
                every[f"blk.{index}.{tensor}.bias"] = (f"model.layers.{index}.{name}.bias", shape[:1])
    return every


class _Weights(UserDict[str, Tensor]):
    """By a checkpoint's names. Each is unpacked when it is asked for, so that no weight is in memory twice."""

    def __init__(self, file: GgufFile, config: Mapping[str, Any], dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self._file, self._config, self._dtype, self._device = file, config, dtype, device
        self.tensors = {name: each for each, (name, _) in _tensors(config).items() if each in file.tensors}

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __missing__(self, name: str) -> Tensor:
        tensor = self.tensors[name]
        weight = self._file.read_tensor(tensor, self._dtype)
        if tensor.split(".")[-2] in ("attn_q", "attn_k") and self._config["model_type"] == "llama":
            weight = _halves(weight, self._config["head_dim"])
        return weight.to(self._device)


def _halves(weight: Tensor, size: int) -> Tensor:
    """llama.cpp turns a Llama head's numbers in neighbouring pairs, and stores its rows so; we turn its two halves."""
    rows = weight.view(-1, size // 2, 2, *weight.shape[1:])
    return rows.transpose(1, 2).reshape(weight.shape)


def _transformers(file: GgufFile, config: Mapping[str, Any], dtype: str) -> "PreTrainedModel":
    """The same weights in transformers' class, for who asks for it: the decoders here do not."""
    from transformers import AutoConfig, AutoModelForCausalLM  # seconds and 120 MB

    made: PreTrainedModel = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config), dtype=DTYPES[dtype])
    weights = _Weights(file, config, DTYPES[dtype], torch.device("cpu"))
    made.load_state_dict({name: weights[name] for name in weights.tensors}, strict=False)
    made.tie_weights()
    return made.eval().requires_grad_(False)


def _tokenizer(file: GgufFile) -> "PreTrainedTokenizerBase":
    from transformers import PreTrainedTokenizerFast

    light, (template, begin) = read_tokens(file), chat_template(file)
    end = light.eos_token_id
    return PreTrainedTokenizerFast(
        tokenizer_object=light.backend_tokenizer,
        eos_token=None if end is None else light.convert_ids_to_tokens(end),
        bos_token=begin,
        chat_template=template,
    )
