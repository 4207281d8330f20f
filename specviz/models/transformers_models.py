"""Models that transformers reads: what their files say before the weights are loaded, and which forward pass is used.

The configuration, the tokenizer and the headers of the weight files are enough to check a model.
"""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from inspect import signature
from math import prod
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from huggingface_hub import HfApi
from safetensors import SafetensorError, safe_open
from torch import Tensor
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
from transformers.utils import logging as transformers_logging

from specviz.core.errors import InputError, hide_folders, is_out_of_memory
from specviz.core.texts import Sentences, join_choices
from specviz.core.trace import ModelInfo
from specviz.models.catalogue import ModelEntry, bundled_heads, bundled_models, find_folder, head_folder
from specviz.models.devices import available_bytes, device_name
from specviz.models.downloads import broken
from specviz.models.hub import check_no_file, find_cached, hub_errors, hub_id, look_up, weights_in
from specviz.models.llama import Llama
from specviz.models.llama_weights import build, explain_unsupported, linear, memory_of, plain_linear, store_fast
from specviz.models.loaded_model import DTYPES, LIGHT, NO_LIMIT, TRANSFORMERS, LoadedModel, Reader, forced
from specviz.models.packing import packed_bytes

say = Sentences("models")

Stored = dict[str, tuple[tuple[int, ...], str]]  # by tensor name: its shape and its number format
MOST_LAYERS = 1000  # the deepest models have a tenth of that; a false number could be millions
FEW_FILES = 8  # with more weight files, their headers are read only after the download
LOCAL: Any = {"local_files_only": True, "trust_remote_code": False}


@contextmanager
def explain_errors(name: str) -> Iterator[None]:
    """One sentence for any error; and no progress bars, and no output of transformers on standard error."""
    bars, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()
    transformers_logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a broken file can cause errors of every kind in four libraries
        if is_out_of_memory(error):
            raise MemoryError from error
        if "ignore_mismatched_sizes" in str(error):
            raise broken(name, "config.json") from error
        # Some messages of libraries are several paragraphs long, and name folders of this machine.
        why = shorten(hide_folders(str(error)) or type(error).__name__, 200, placeholder=" …")
        raise InputError(say("not_causal", name=name, why=why)) from error
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


def inspect_configuration(name: str) -> tuple[ModelEntry, PreTrainedTokenizerBase]:
    """Check a model that does not ship with specviz."""
    with explain_errors(name):
        folder, stored = _open(name)
        config: PreTrainedConfig = AutoConfig.from_pretrained(folder, **LOCAL)
        made = _build_without_weights(name, config, stored)
        if stored:
            _check_weights(name, stored, made)
        tokenizer = _read_tokenizer(name, folder)
    return ModelEntry(name, made.num_parameters(), "its files", context=_context(config)), tokenizer


def _context(config: PreTrainedConfig) -> int:
    # transformers maps other names for it (n_positions, ...) to this one; some models write "no limit" as -1
    return max(0, int(getattr(config.get_text_config(), "max_position_embeddings", None) or 0))


def _open(name: str) -> tuple[Path, Stored]:
    """The folder of configuration and tokenizer, and the headers of the weights; none: see `FEW_FILES`."""
    folder = find_folder(name)
    if folder:
        if not any(folder.glob("*.safetensors")):
            for file in folder.glob("*.gguf"):
                check_no_file(name, file.name)
        if not (folder / "config.json").is_file():
            raise InputError(say("no_config", name=name))
    else:
        folder = find_cached(hub_id(name))
    if folder:
        return folder, headers_in_folder(folder, name)
    folder, weights = look_up(name)
    stored: Stored = {}
    with hub_errors(name):
        for each in weights if len(weights) <= FEW_FILES else []:  # from its first bytes
            header = HfApi().parse_safetensors_file_metadata(name, each.rfilename, revision=folder.name, timeout=30)
            stored |= {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in header.tensors.items()}
    return folder, stored


def _read_tokenizer(name: str, folder: Path) -> PreTrainedTokenizerBase:
    """Raises InputError, which says that the fault is the tokenizer's: missing, broken, or newer than this program."""
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(folder, **LOCAL)
    except Exception as error:  # three libraries read it
        file = next((each for each in TOKENIZERS if (folder / each).is_file()), None)
        if file is None:
            raise InputError(say("tokenizer_missing", name=name)) from error
        if problem := _foreign_content(name, folder / file):
            raise InputError(problem) from error
        why = shorten(hide_folders(str(error)) or type(error).__name__, 120, placeholder=" …")
        raise InputError(say("tokenizer_unreadable", name=name, file=file, why=why)) from error
    return tokenizer


def _foreign_content(name: str, file: Path) -> str | None:
    """What stands there in place of a file that a download should have brought."""
    with file.open("rb") as opened:
        start = opened.read(200).lstrip()
    if start.startswith(b"version https://git-lfs"):
        return say("lfs_pointer", name=name, file=file.name)
    return say("web_page", name=name, file=file.name) if start.startswith(b"<") else None


def headers_in_folder(folder: Path, name: str) -> Stored:
    stored: Stored = {}
    for file in weights_in(folder, name):
        if not (folder / file).is_file():
            raise broken(name, file)
        try:
            with safe_open(folder / file, framework="pt") as opened:
                slices = {key: opened.get_slice(key) for key in opened.keys()}  # noqa: SIM118
                stored |= {key: (tuple(each.get_shape()), each.get_dtype()) for key, each in slices.items()}
        except (OSError, SafetensorError) as error:
            if problem := _foreign_content(name, folder / file):
                raise InputError(problem) from error
            raise broken(name, file) from error
    return stored


TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
FLOATS = ("F64", "F32", "F16", "BF16")
PREFIXES = ("_orig_mod.", "module.", "base_model.model.")  # of torch.compile, of DDP, of PEFT
HEAD = re.compile(r"(?:^|\.)(?:fc|midlayer|d2t|t2d|hidden_norm|eagle_module|medusa_head)(?:\.|$)|^\d+\.\d+\.linear\.")
HEAD_NAMES = re.compile("eagle|medusa|hydra|dflash", re.IGNORECASE)
QUANTIZED = ("scales", "qweight", "qzeros", "weight_scale", "weight_scale_inv", "quant_map", "absmax")  # ends of names


def _check_weights(name: str, stored: Stored, made: PreTrainedModel) -> None:
    """Refuse weights of another kind or shape than the configuration asks for, with a tensor that shows it."""
    if wrapped := next((each for each in PREFIXES if all(tensor.startswith(each) for tensor in stored)), None):
        raise InputError(say("prefixed", name=name, prefix=wrapped))
    prefix = f"{made.base_model_prefix}."  # of the names; some checkpoints leave it out
    wanted = {each.removeprefix(prefix): tuple(weight.shape) for each, weight in made.named_parameters()}
    found = {each.removeprefix(prefix): each for each in stored}
    for tensor in sorted(found[bare] for bare in found.keys() - wanted.keys()):
        if HEAD.search(tensor):
            raise _head(name, tensor)
        if tensor.rpartition(".")[2] in QUANTIZED:
            raise InputError(say("quantized", name=name, what=tensor))
    for bare, tensor in found.items():
        if wanted.get(bare, stored[tensor][0]) != stored[tensor][0]:
            raise broken(name, tensor)
    if sum(map(prod, wanted.values())) > sum(prod(shape) for shape, _ in stored.values()):
        missing = (each for each, _ in made.named_parameters() if each.removeprefix(prefix) not in found)
        raise broken(name, next(missing, "config.json"))


def _head(name: str, what: str) -> InputError:
    target = bundled_models()[0].name
    own = [head for head, each in bundled_heads().items() if each.target == target and head == head_folder(head).name]
    return InputError(say("head", name=name, what=what[:80], own=join_choices(own, "and"), target=target))


def _build_without_weights(name: str, config: PreTrainedConfig, stored: Stored) -> PreTrainedModel:
    """The model a configuration describes, on the meta device: shapes without numbers.

    Refuses what this program does not load, also whole numbers and float8 without scales: it may make no model at all.
    """
    packed = next((key for key, (_, kind) in stored.items() if key.endswith(".weight") and kind not in FLOATS), None)
    if packed and not any(key.rpartition(".")[2] in QUANTIZED for key in stored):  # else its scales are named
        raise InputError(say("no_floats", name=name, tensor=packed, kind=stored[packed][1]))
    causal = MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.get(config.model_type)
    is_encoder = getattr(config, "is_decoder", True) is False and "bert" in config.model_type  # reads both directions
    assumed = config.model_type if is_encoder else causal
    named: list[str | None] = [*config.architectures] if config.architectures else [assumed]
    if head := next((each for each in named if each and HEAD_NAMES.search(each)), None):
        raise _head(name, head)
    if causal is None or config.is_encoder_decoder or causal not in named:
        raise InputError(say("wrong_kind", name=name, kinds=join_choices(named, "and")[:80]))
    for key in ("quantization_config", "quantization"):  # the second is MLX's
        if getattr(config, key, None):
            raise InputError(say("quantized", name=name, what=key))
    layers = getattr(config.get_text_config(), "num_hidden_layers", 0)
    if not isinstance(layers, int) or layers > MOST_LAYERS:
        raise broken(name, "num_hidden_layers")
    with torch.device("meta"):
        made: PreTrainedModel = AutoModelForCausalLM.from_config(config)
    if "past_key_values" not in signature(made.forward).parameters or not DynamicCache(config=config).is_croppable:
        raise InputError(say("no_rollback", name=name))
    return made


class TransformersReader(Reader):
    """Reads with a model of transformers and its `DynamicCache`. Raises InputError: see `CachedModel`."""

    def __init__(self, model: PreTrainedModel, name: str, *, whole: bool = False) -> None:
        self._model = model
        self._name = name
        self._length = 0
        # Without a configuration it stores also what has left a sliding window, so that a crop may go back further.
        self._cache = DynamicCache() if whole else DynamicCache(config=model.config)
        self._sliding = [layer for layer in self._cache.layers if hasattr(layer, "activate_past_recording")]

    @torch.inference_mode()
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        result = self._model(input_ids=ids[None], past_key_values=self._cache, use_cache=True, logits_to_keep=int(last))
        self._length += len(ids)
        if self._cache.get_seq_length() != self._length:  # it ignores the cache: every pass would start from nothing
            raise InputError(say("no_rollback", name=self._name))
        logits: Tensor = result.logits[0]
        return logits

    def crop(self, excess: int) -> None:
        if excess or self._sliding:  # a sliding window needs a crop each round, even of 0 tokens
            self._cache.crop(-excess)
            self._length -= excess

    def end_prompt(self) -> None:
        for layer in self._sliding:  # not earlier: for the prompt it would waste memory
            layer.activate_past_recording()


MOST_APART = {torch.float32: 1e-3, torch.bfloat16: 0.05}
"""Differences of logits that rounding explains, as a share of the largest logit. In float32 the bundled models differ
by nothing at all."""


def from_transformers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str, info: ModelInfo
) -> LoadedModel:
    """A model of transformers, ready to decode: on its device, in evaluation mode.

    The light forward pass reads for it where it knows the architecture and agrees with the model.
    """
    llama = None if forced() else _light(model)
    if llama is None:
        store_fast(model)
    config = model.config.get_text_config()
    queries = getattr(config, "num_attention_heads", 1)
    heads = getattr(config, "num_key_value_heads", None) or queries
    size = getattr(config, "head_dim", None) or config.hidden_size // queries
    ends = model.generation_config.eos_token_id if model.generation_config else None
    return LoadedModel(
        tokens=tokenizer,
        name=name,
        info=replace(info, forward=LIGHT if llama else TRANSFORMERS, device=device_name(model.device)),
        llama=llama,
        open_reader=partial(Reader, llama) if llama else partial(TransformersReader, model, name),
        make_model=lambda: model,
        make_tokenizer=lambda: tokenizer,
        context=_context(config) or NO_LIMIT,
        rows=int(config.vocab_size),
        ends=None if ends is None else frozenset([ends] if isinstance(ends, int) else ends),
        bytes=memory_of(llama) if llama else sum(each.nbytes for each in model.parameters()),
        cache_bytes_per_token=2 * int(config.num_hidden_layers * heads * size) * model.dtype.itemsize,
        device=model.device,
    )


def read_folder(
    name: str, folder: Path, dtype: str, device: str = "cpu"
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model and its tokenizer from a folder."""
    options: Any = LOCAL | {"dtype": DTYPES[dtype], "use_safetensors": True, "output_loading_info": True}
    with explain_errors(name):
        tokenizer = _read_tokenizer(name, folder)
        both: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
        model, report = both
        if missing := sorted(report["missing_keys"]):  # transformers would fill them with random numbers
            raise broken(name, missing[0])
        model.to(device)
    model.eval()
    model.requires_grad_(False)
    return model, tokenizer


def _light(model: PreTrainedModel) -> Llama | None:
    """The light forward pass for this model, which then shares its matrices; None if there is none that agrees.

    Both passes read eight tokens at once, then three more: they must expect the same tokens next, and give the same
    logits up to rounding.
    """
    config = model.config.to_dict()
    if explain_unsupported(config) or model.dtype not in MOST_APART:
        return None
    copies = sum(packed_bytes(each) for each in model.parameters() if each.dim() == 2)
    llama = build(config, _Shared(model), linear if copies < available_bytes() else plain_linear)
    tokens = torch.randint(config["vocab_size"], (11,), generator=torch.Generator().manual_seed(0)).to(model.device)
    light, other = Reader(llama), TransformersReader(model, "")
    for part in (tokens[:8], tokens[8:]):
        ours, theirs = light.read(part), other.read(part)
        apart = MOST_APART[ours.dtype] * float(theirs.abs().max())
        close = torch.allclose(ours.float(), theirs.float(), rtol=0, atol=apart)
        if not (close and torch.equal(ours.argmax(-1), theirs.argmax(-1))):
            return None
    return llama


class _Shared(dict[str, Tensor]):
    """The weights of a model by name. Setting one replaces the model's own, so that nothing is in memory twice."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._parameters = dict(model.named_parameters())
        super().__init__({name: parameter.data for name, parameter in self._parameters.items()})

    def __setitem__(self, name: str, weight: Tensor) -> None:
        self._parameters[name].data = weight
        super().__setitem__(name, weight)
