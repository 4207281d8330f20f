"""What the files of a model say before its weights are loaded: transformers reads them.

The configuration, the tokenizer and the headers of the weight files are enough for that.
"""

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from math import prod
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import HfApi
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    DynamicCache,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from specviz.core.errors import InputError
from specviz.models.catalogue import find_folder
from specviz.models.hub import HubModel, check_folder, find_cached, hub_errors, hub_id, look_up, weights_in
from specviz.models.loaded_model import Inspection
from specviz.models.transformers_models import one_sentence, quiet

Shapes = dict[str, tuple[int, ...]]  # by tensor name
MOST_LAYERS = 1000  # the deepest models have a tenth of that; a false number could be millions
FEW_FILES = 8  # with more weight files, their headers are read only after the download
LOCAL: Any = {"local_files_only": True, "trust_remote_code": False}


def inspect_configuration(name: str) -> Inspection:
    """Check a model that does not ship with specviz."""
    folder, shapes = _open(name)
    with quiet():
        with one_sentence(name):
            config: PreTrainedConfig = AutoConfig.from_pretrained(folder, **LOCAL)
        made = _build_without_weights(name, config)
        if stored := shapes():
            expected = {key: weight.shape for key, weight in made.named_parameters()}
            if problem := disagreement(stored, expected, made.base_model_prefix):
                raise InputError(f"{name} is inconsistent: {problem}; download it again.")
        with one_sentence(name):
            tokenizer = AutoTokenizer.from_pretrained(folder, **LOCAL)
    text = config.get_text_config()
    limit = getattr(text, "max_position_embeddings", None)
    kinds = getattr(text, "layer_types", None)
    slides = kinds is None or "sliding_attention" in kinds  # a size may be named although no layer uses it
    return Inspection(
        name=name,
        tokens=tokenizer,
        parameters=made.num_parameters(),
        context=int(limit) if limit and limit > 0 else None,
        rows=int(text.vocab_size),
        sliding_window=getattr(text, "sliding_window", None) if slides else None,
    )


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
    model = look_up(name)
    few = len(model.weights) <= FEW_FILES
    return model.folder, lambda: _shapes_on_hub(model) if few else {}


def shapes_in_folder(folder: Path, name: str) -> Shapes:
    shapes: Shapes = {}
    for file in weights_in(folder, name):
        try:
            with safe_open(folder / file, framework="pt") as opened:
                shapes |= {key: tuple(opened.get_slice(key).get_shape()) for key in opened.keys()}  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            raise InputError(f"{name} is broken: {file} is not a safetensors file.") from error
    return shapes


def _shapes_on_hub(model: HubModel) -> Shapes:
    """From the first bytes of the weight files."""
    shapes: Shapes = {}
    with hub_errors(model.name):
        for file in model.weights:
            header = HfApi().parse_safetensors_file_metadata(model.name, file.name, revision=model.commit, timeout=30)
            shapes |= {key: tuple(tensor.shape) for key, tensor in header.tensors.items()}
    return shapes


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


def _build_without_weights(name: str, config: PreTrainedConfig) -> PreTrainedModel:
    """The model a configuration describes, on the meta device: shapes without numbers."""
    _check_architecture(name, config)
    layers = getattr(config.get_text_config(), "num_hidden_layers", 0)
    if not isinstance(layers, int) or layers > MOST_LAYERS:
        raise InputError(f"{name} cannot be used: its config.json asks for {layers!r:.40} layers.")
    with torch.device("meta"), one_sentence(name):
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)  # type: ignore[no-untyped-call]
    croppable = "past_key_values" in signature(made.forward).parameters
    if croppable:
        with one_sentence(name):
            croppable = DynamicCache(config=config).is_croppable
    if not croppable:
        raise InputError(
            f"{name} ({config.model_type}) cannot be rolled back after a rejection: it has a recurrent state or "
            f"no cache. Use a model with plain or sliding-window attention."
        )
    return made


def _check_architecture(name: str, config: PreTrainedConfig) -> None:
    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type)
    is_encoder = getattr(config, "is_decoder", True) is False and "bert" in config.model_type  # reads both directions
    assumed = config.model_type if is_encoder else causal
    named: list[str | None] = [*config.architectures] if config.architectures else [assumed]
    if causal is None or config.is_encoder_decoder or causal not in named:
        raise InputError(
            f"{name} is not a causal language model ({', '.join(map(str, named))[:80]}): use one that writes text from "
            f"left to right, such as GPT-2, Llama, Qwen or Pythia."
        )
    if getattr(config, "quantization_config", None):
        raise InputError(f"{name} is quantized: use the original model with floating-point weights.")
