"""Make a model from the layers of another: a deeper target, or a smaller draft."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from specviz.core.errors import InputError

_LAYER = "model.layers."
_OUTPUTS = ("self_attn.o_proj.weight", "mlp.down_proj.weight")  # what a layer adds to the residual stream


def new_model(
    layers: int, width: int, vocabulary: int, heads: int = 4, context: int = 512, seed: int = 0
) -> LlamaForCausalLM:
    """A Llama with random weights; the feed-forward part is 2.75 times as wide as the model."""
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=width,
        intermediate_size=width * 11 // 4,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        max_position_embeddings=context,
        tie_word_embeddings=True,
        bos_token_id=0,
        eos_token_id=0,
        pad_token_id=0,
    )
    return LlamaForCausalLM(config)


def load_llama(folder: Path) -> LlamaForCausalLM:
    """A Llama from a folder, in float32. InputError: the folder has no model."""
    if not (folder / "config.json").is_file():
        raise InputError(f"{folder} is not a model: it has no config.json.")
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
    assert isinstance(model, LlamaForCausalLM)  # `from_pretrained` returns it in eval mode
    return model


def with_layers(source: LlamaForCausalLM, order: Sequence[int]) -> LlamaForCausalLM:
    """A model of the source's layers in this order, with its embedding and last norm.

    A layer that is named again right after itself adds nothing at first (its two output matrices are zero). So a model
    grown with 0 0 1 1 2 2 ... writes exactly what its source writes until it is trained.
    """
    weights = source.state_dict()
    taken = {name: value for name, value in weights.items() if not name.startswith(_LAYER)}
    for place, layer in enumerate(order):
        again = place > 0 and order[place - 1] == layer
        prefix = f"{_LAYER}{layer}."
        for name in (name.removeprefix(prefix) for name in weights if name.startswith(prefix)):
            silent = again and name in _OUTPUTS
            weight = weights[prefix + name]
            taken[f"{_LAYER}{place}.{name}"] = torch.zeros_like(weight) if silent else weight.clone()
    config = LlamaConfig.from_dict(source.config.to_dict() | {"num_hidden_layers": len(order)})
    model = LlamaForCausalLM(config)
    model.load_state_dict(taken)
    return model


def averaged(models: Sequence[LlamaForCausalLM], shares: Sequence[float]) -> LlamaForCausalLM:
    """The weighted mean of models with one shape and one origin; it is often better than each of them."""
    weights = [model.state_dict() for model in models]
    mean = {
        name: torch.stack([one[name] * share / sum(shares) for one, share in zip(weights, shares, strict=True)]).sum(0)
        for name in weights[0]
    }
    model = LlamaForCausalLM(models[0].config)
    model.load_state_dict(mean)
    model.eval()
    return model
