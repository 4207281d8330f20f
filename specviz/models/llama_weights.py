"""From a checkpoint to the light forward pass: which models it knows, and how their matrices are joined."""

import math
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import fields
from itertools import chain
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from specviz.core.texts import join_choices
from specviz.models.devices import processor
from specviz.models.llama import Layer, Linear, Llama, Rotary
from specviz.models.packing import PackedLinear, fits, packed

if TYPE_CHECKING:  # importing transformers' model classes takes seconds and 120 MB
    from transformers import PreTrainedModel


def stored_fast(matrix: Tensor) -> Tensor:
    """The matrix in the order that makes a pass over a few tokens fast.

    A forward pass over 1 to 17 tokens multiplies a very flat matrix by each float32 weight. On an AMD EPYC the order by
    columns is faster: on the bundled target by 8 % for one token and by 16 % for five, measured with transformers'
    forward pass. On an Intel Xeon the order by rows takes 1.15 times as long for one token, but 0.70, 0.75 and 0.88
    times as long for two, three and five, measured with the light forward pass. A matrix that is packed needs none of
    this: see `specviz.models.packing`.
    """
    on_cpu = matrix.dtype == torch.float32 and matrix.device.type == "cpu"
    return matrix.t().contiguous().t() if on_cpu and "AMD" in processor() else matrix.contiguous()


def store_fast(model: "PreTrainedModel") -> None:
    """Store each matrix of a model as `stored_fast` does; one that is stored so already is not copied."""
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            module.weight.data = stored_fast(module.weight.data)


FAMILIES = ("llama", "mistral", "qwen2", "qwen3")
Config = Mapping[str, Any]  # config.json as transformers 5 writes it
Weights = MutableMapping[str, Tensor]  # by the checkpoint's names
MakeLinear = Callable[[Tensor, Tensor | None], Linear]  # of a matrix and a bias


def explain_unsupported(config: Config) -> tuple[str, object, str] | None:
    """The first field that the light forward pass does not read, its value, and what is read there."""
    rope = config.get("rope_parameters") or {}
    wanted = (
        ("model_type", config.get("model_type"), FAMILIES),
        ("hidden_act", config.get("hidden_act"), ("silu",)),
        ("quantization_config", bool(config.get("quantization_config")), (False,)),
        ("sliding_window", _slides(config), (False,)),
        ("rope_type", rope.get("rope_type"), ("default", "llama3")),
        ("partial_rotary_factor", rope.get("partial_rotary_factor", 1.0), (1.0,)),
    )
    unread = ((field, value, join_choices([*read], "and")) for field, value, read in wanted if value not in read)
    return next(unread, None)


def linear(matrix: Tensor, bias: Tensor | None = None) -> Linear:
    """Packed where that is possible, else in the order that is fast here."""
    made = packed(Linear(matrix, bias))
    return made if isinstance(made, PackedLinear) else plain_linear(matrix, bias)


def plain_linear(matrix: Tensor, bias: Tensor | None = None) -> Linear:
    return Linear(stored_fast(matrix), bias)


def build(config: Config, weights: Weights, make: MakeLinear = linear) -> Llama:
    """Join the matrices that read the same input, of an architecture that `explain_unsupported` has no objection to.

    A joined matrix is packed, or its entries in the mapping are replaced by views of it. So whoever holds the mapping
    holds nothing twice, unless matrices are packed: those are copies. `make` is `linear`, or `plain_linear` where
    there is no memory for copies.
    """
    heads, hidden = int(config["num_attention_heads"]), int(config["hidden_size"])
    size = int(config.get("head_dim") or hidden // heads)
    tied = bool(config.get("tie_word_embeddings")) or "lm_head.weight" not in weights
    output = _linear(make, weights, "model.embed_tokens" if tied else "lm_head")
    embedding, norm = weights["model.embed_tokens.weight"], weights["model.norm.weight"]
    if isinstance(output, PackedLinear) and fits(embedding):
        embedding = embedding.half()
    layers = [_layer(make, weights, f"model.layers.{index}") for index in range(int(config["num_hidden_layers"]))]
    matrices = [output, *(each for layer in layers for each in matrices_of(layer))]
    return Llama(
        embedding=embedding,
        layers=layers,
        norm=norm,
        output=output,
        heads=heads,
        kv_heads=int(config.get("num_key_value_heads") or heads),
        size=size,
        eps=torch.tensor(float(config["rms_norm_eps"]), device=norm.device),
        rotary=Rotary(frequencies(config["rope_parameters"], size).to(norm.device), norm.dtype),
        rows_are_independent=all(each.rows_are_independent for each in matrices),
    )


def matrices_of(layer: Layer) -> list[Linear]:
    return [part for each in fields(layer) if isinstance(part := getattr(layer, each.name), Linear)]


def tensors_of(layer: Layer) -> list[Tensor]:
    parts: list[Tensor | Linear | None] = [getattr(layer, each.name) for each in fields(layer)]
    pairs = [(part.weight, part.bias) if isinstance(part, Linear) else (part, None) for part in parts]
    return [tensor for pair in pairs for tensor in pair if tensor is not None]


def memory_of(llama: Llama) -> int:
    """Bytes of all weights, each counted once: the embedding may be a view of the output's matrix."""
    matrices = [llama.output, *(each for layer in llama.layers for each in matrices_of(layer))]
    tensors = [llama.embedding, llama.norm, llama.output.weight, *chain.from_iterable(map(tensors_of, llama.layers))]
    plain = {each.data_ptr(): each.nbytes for each in tensors if each.device.type != "meta"}
    return sum(plain.values()) + sum(each.bytes for each in matrices if each.weight.device.type == "meta")


def frequencies(rope: Mapping[str, Any], size: int) -> Tensor:
    """Radians a token for each pair of a head's numbers, (size / 2,): θ^(-2i / size) (Su et al. 2021).

    Llama 3.1 divides low frequencies by `factor`, keeps high ones, and goes over smoothly between the two.
    """
    plain = 1.0 / (float(rope["rope_theta"]) ** (torch.arange(0, size, 2, dtype=torch.float) / size))
    if rope["rope_type"] == "default":
        return plain
    factor, context = float(rope["factor"]), float(rope["original_max_position_embeddings"])
    low, high = float(rope["low_freq_factor"]), float(rope["high_freq_factor"])
    turns = context * plain / (2 * math.pi)  # of this pair within the context that the model was first trained for
    share = ((turns - low) / (high - low)).clamp(0, 1)
    return torch.where(turns < low, plain / factor, (1 - share) * plain / factor + share * plain)


def _slides(config: Config) -> bool:
    kinds = config.get("layer_types")
    if kinds is not None:
        return any(kind != "full_attention" for kind in kinds)
    return bool(config.get("sliding_window")) and config.get("use_sliding_window", True) is not False


def _layer(make: MakeLinear, weights: Weights, at: str) -> Layer:
    return Layer(
        attention_norm=weights[f"{at}.input_layernorm.weight"],
        queries_keys_values=_linear(make, weights, *(f"{at}.self_attn.{each}_proj" for each in "qkv")),
        query_norm=weights.get(f"{at}.self_attn.q_norm.weight"),
        key_norm=weights.get(f"{at}.self_attn.k_norm.weight"),
        attention_out=_linear(make, weights, f"{at}.self_attn.o_proj"),
        mlp_norm=weights[f"{at}.post_attention_layernorm.weight"],
        gate_up=_linear(make, weights, f"{at}.mlp.gate_proj", f"{at}.mlp.up_proj"),
        down=_linear(make, weights, f"{at}.mlp.down_proj"),
    )


def _linear(make: MakeLinear, weights: Weights, *names: str) -> Linear:
    """Their matrices, one below the other; each entry becomes a view of the result, unless that is packed."""
    biases = [weights[f"{name}.bias"] for name in names if f"{name}.bias" in weights]
    parts = [weights[f"{name}.weight"] for name in names]
    rows = [len(part) for part in parts]
    joined = make(torch.cat(parts), torch.cat(biases) if biases else None)
    if not isinstance(joined, PackedLinear):
        for name, view in zip(names, torch.split(joined.weight, rows), strict=True):
            weights[f"{name}.weight"] = view
    return joined
