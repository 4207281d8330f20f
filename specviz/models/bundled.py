"""Load a bundled model from its own files, without transformers: importing it takes seconds and 150 MB."""

import json
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import load_file

from specviz.core.free_memory import give_back
from specviz.core.trace import ModelInfo
from specviz.models.catalogue import MODELS_FOLDER, count_parameters, weights_hash
from specviz.models.devices import choose_device, device_name
from specviz.models.forward import LIGHT, LightForward
from specviz.models.llama_weights import Weights, build
from specviz.models.loaded_model import DTYPES, LoadedModel, cache_bytes
from specviz.models.memory import needed_bytes
from specviz.models.tokens import LightTokens

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def read_bundled(name: str, dtype: str) -> LoadedModel:
    """A bundled model with the light forward pass; tests show that it gives transformers' own logits."""
    folder = MODELS_FOLDER / name
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    parameters = count_parameters(folder / "model.safetensors")
    device = torch.device(choose_device(name, needed_bytes(parameters, dtype)))
    llama = build(config, _weights(folder, dtype, device))
    give_back()
    return LoadedModel(
        tokens=read_tokens(name),
        name=name,
        info=ModelInfo(name, parameters, dtype, weights_hash(folder), LIGHT, device_name(device)),
        forward=LightForward(llama),
        make_model=partial(_transformers, name, dtype),
        make_tokenizer=partial(_tokenizer, name),
        context=config["max_position_embeddings"],
        rows=config["vocab_size"],
        ends=frozenset([config["eos_token_id"]]),
        bytes=parameters * DTYPES[dtype].itemsize,
        cache_bytes_per_token=cache_bytes(len(llama.layers), llama.kv_heads, llama.size, DTYPES[dtype].itemsize),
        device=device,
    )


@cache
def read_tokens(name: str) -> LightTokens:
    config = json.loads((MODELS_FOLDER / name / "config.json").read_text(encoding="utf-8"))
    return LightTokens(MODELS_FOLDER / name / "tokenizer.json", config["eos_token_id"])


def _weights(folder: Path, dtype: str, device: torch.device) -> Weights:
    stored = load_file(folder / "model.safetensors")
    return {name: weight.to(device, DTYPES[dtype]) for name, weight in stored.items()}


@cache
def _transformers(name: str, dtype: str) -> "PreTrainedModel":
    """The same weights in transformers' class, for who asks for it: the decoders here do not."""
    from specviz.models.llama_weights import store_fast
    from specviz.models.transformers_models import read_folder

    model = read_folder(name, MODELS_FOLDER / name, dtype)[0]
    store_fast(model)
    return model


@cache
def _tokenizer(name: str) -> "PreTrainedTokenizerBase":
    from transformers import PreTrainedTokenizerFast

    made: PreTrainedTokenizerBase = PreTrainedTokenizerFast.from_pretrained(MODELS_FOLDER / name, local_files_only=True)
    return made
