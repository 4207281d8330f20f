"""What the files of a model say before its weights are loaded: transformers reads them.

The configuration, the tokenizer and the headers of the weight files are enough for that.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import HfApi
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    PreTrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from specviz.core.errors import InputError
from specviz.models.catalogue import find_folder
from specviz.models.hub import HubModel, check_folder, find_cached, hub_id, look_up, weights_in
from specviz.models.hub_errors import hub_errors
from specviz.models.transformers_models import in_short, quiet

Shapes = dict[str, tuple[int, ...]]  # by tensor name
LONGEST_HEADER = 25_000_000  # bytes, the limit of the Hub


def shapes_in_folder(folder: Path, name: str = "The model") -> Shapes:
    """Shapes of the tensors of a model on disk."""
    shapes: Shapes = {}
    for file in weights_in(folder, name):
        shapes |= _shapes(folder / file, name)
    return shapes


def shapes_on_hub(model: HubModel) -> Shapes:
    """Shapes of the tensors of a model on the Hub, from the first bytes of its weight files.

    Raises:
        InputError: the Hub cannot be reached, or a file is not a safetensors file.
    """
    shapes: Shapes = {}
    with hub_errors(model.name):
        for file in model.weights:
            header = HfApi().parse_safetensors_file_metadata(model.name, file.name, revision=model.commit, timeout=30)
            shapes |= {name: tuple(tensor.shape) for name, tensor in header.tensors.items()}
    return shapes


def read_header(file: Path, name: str = "The model") -> dict[str, Any]:
    """The header of a safetensors file: 8 bytes of length, then JSON.

    Raises:
        InputError: it is not a safetensors file.
    """
    try:
        with file.open("rb") as content:
            length = int.from_bytes(content.read(8), "little")
            header = json.loads(content.read(length)) if length <= LONGEST_HEADER else None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.") from error
    if not isinstance(header, dict):
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.")
    return header


def disagreement(stored: Shapes, expected: Mapping[str, Iterable[int]], prefix: str) -> str | None:
    """How the weights differ from what the configuration asks for, as the end of a sentence; None if they agree.

    `prefix` is the start of the tensor names, which some checkpoints leave out.
    """
    wanted = {name: tuple(shape) for name, shape in expected.items()}
    for name, shape in stored.items():
        spellings = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
        asked = next((wanted[spelling] for spelling in spellings if spelling in wanted), shape)
        if asked != shape:
            return f"its config.json makes {name} {_times(asked)}, but its weights have {_times(shape)}"
    total, held = sum(map(prod, wanted.values())), sum(map(prod, stored.values()))
    if total > held:
        return f"its config.json asks for {total:,} parameters, but its weights have {held:,}"
    return None


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"


def _shapes(file: Path, name: str) -> Shapes:
    header = read_header(file, name)
    try:
        return {name: tuple(map(int, entry["shape"])) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.") from error


MOST_LAYERS = 1000  # the deepest models have a tenth of that; a false number could be millions
FEW_FILES = 8  # with more weight files, their headers are read only after the download


class Configuration(NamedTuple):
    """What is known about a model without its weights; see `Inspection`."""

    tokenizer: PreTrainedTokenizerBase
    parameters: int
    context: int | None
    rows: int
    sliding_window: int | None


def check_configuration(name: str) -> Configuration:
    """Check a model that does not ship with specviz."""
    folder, shapes = _open(name)
    with quiet():
        config = _in_one_sentence(name, lambda: _config(folder))
        made = _build_without_weights(name, config)
        if stored := shapes():
            expected = {key: weight.shape for key, weight in made.named_parameters()}
            if problem := disagreement(stored, expected, made.base_model_prefix):
                raise InputError(f"{name} is inconsistent: {problem}; download it again.")
        tokenizer = _in_one_sentence(name, lambda: _tokenizer(folder))
    text = config.get_text_config()
    limit = getattr(text, "max_position_embeddings", None)
    return Configuration(
        tokenizer=tokenizer,
        parameters=made.num_parameters(),
        context=int(limit) if limit and limit > 0 else None,
        rows=int(text.vocab_size),
        sliding_window=_sliding_window(text),
    )


def _sliding_window(config: PreTrainedConfig) -> int | None:
    """How many tokens layers with a sliding window look back; None without such layers, even if a size is named."""
    kinds = getattr(config, "layer_types", None)
    unused = kinds is not None and "sliding_attention" not in kinds
    return None if unused else getattr(config, "sliding_window", None)


def _open(name: str) -> tuple[Path, Callable[[], Shapes]]:
    """The folder of configuration and tokenizer, and how to get the shapes of the weights (empty: not yet)."""
    folder = find_folder(name)
    if folder:
        check_folder(name, folder)
    else:
        folder = find_cached(hub_id(name))
    if folder:
        found = folder
        return found, lambda: shapes_in_folder(found, name)
    model: HubModel = look_up(name)
    few = len(model.weights) <= FEW_FILES
    return model.folder, lambda: shapes_on_hub(model) if few else {}


def _config(folder: Path) -> PreTrainedConfig:
    config: PreTrainedConfig = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    return config


def _tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False
    )
    return tokenizer


def _in_one_sentence(name: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except MemoryError:
        raise
    except Exception as error:  # a broken file can cause errors of every kind in three libraries
        raise InputError(f"{name} is not a causal language model that can be loaded: {in_short(error)}") from error


def _build_without_weights(name: str, config: PreTrainedConfig) -> PreTrainedModel:
    """The model a configuration describes, on the meta device: shapes without numbers."""
    _check_architecture(name, config)
    layers = getattr(config.get_text_config(), "num_hidden_layers", 0)
    if not isinstance(layers, int) or layers > MOST_LAYERS:
        raise InputError(f"{name} cannot be used: its config.json asks for {layers!r:.40} layers.")
    with torch.device("meta"):
        made: PreTrainedModel = _in_one_sentence(name, lambda: _from_config(config))
    if "past_key_values" not in signature(made.forward).parameters or not _croppable(name, config):
        raise InputError(
            f"{name} ({config.model_type}) cannot be rolled back after a rejection: it has a recurrent state or "
            f"no cache. Use a model with plain or sliding-window attention."
        )
    return made


def _from_config(config: PreTrainedConfig) -> PreTrainedModel:
    made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    return made


def _check_architecture(name: str, config: PreTrainedConfig) -> None:
    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type)
    assumed = config.model_type if _is_encoder(config) else causal
    named: list[str | None] = [*config.architectures] if config.architectures else [assumed]
    if causal is None or config.is_encoder_decoder or causal not in named:
        raise InputError(
            f"{name} is not a causal language model ({', '.join(map(str, named))[:80]}): use one that writes text from "
            f"left to right, such as GPT-2, Llama, Qwen or Pythia."
        )
    if getattr(config, "quantization_config", None):
        raise InputError(f"{name} is quantized: use the original model with floating-point weights.")


def _is_encoder(config: PreTrainedConfig) -> bool:
    return getattr(config, "is_decoder", True) is False and "bert" in config.model_type


def _croppable(name: str, config: PreTrainedConfig) -> bool:
    return bool(_in_one_sentence(name, lambda: DynamicCache(config=config).is_croppable))
