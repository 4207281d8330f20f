"""Load a model with transformers, and decide which forward pass reads its tokens."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, DynamicCache, PreTrainedModel, PreTrainedTokenizerBase

from specviz.core.errors import InputError, without_folders
from specviz.core.trace import ModelInfo
from specviz.models.devices import device_name
from specviz.models.forward import TRANSFORMERS, Forward, LightForward, Reader, forced
from specviz.models.llama_weights import build, store_fast, unknown_because
from specviz.models.loaded_model import DTYPES, NO_LIMIT, LoadedModel, cache_bytes
from specviz.models.memory import is_out_of_memory


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars, and no output of transformers on standard error."""
    from transformers.utils import logging as transformers_logging  # here: `in_short` needs no transformers

    bars, verbosity = transformers_logging.is_progress_bar_enabled(), transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    transformers_logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()  # type: ignore[no-untyped-call]


def in_short(error: Exception) -> str:
    """The message of a library, shortened: some are several paragraphs long, and name folders of this machine."""
    return shorten(without_folders(str(error)) or type(error).__name__, 200, placeholder=" …")


class TransformersForward:
    name = TRANSFORMERS
    reads_trees = False

    def __init__(self, model: PreTrainedModel, model_name: str) -> None:
        self._model = model
        self._model_name = model_name

    def reader(self, *, whole: bool = False) -> Reader:
        return TransformersReader(self._model, self._model_name, whole)


class TransformersReader(Reader):
    """Reads with a model of transformers and its `DynamicCache`.

    Raises:
        InputError: the cache cannot be shortened (a recurrent model), so rejected tokens could not be removed;
            or, at the first pass, the model does not use the cache at all.
    """

    def __init__(self, model: PreTrainedModel, name: str, whole: bool) -> None:
        self._model = model
        self._name = name
        self._length = 0
        self._cache = DynamicCache(config=model.config)
        if not self._cache.is_croppable:
            raise InputError(f"{name} has a recurrent state that cannot be rolled back after a rejection.")
        if whole:  # store also what has left a sliding window, so that a crop may go back further than the last one
            self._cache = DynamicCache()
        self._sliding = [layer for layer in self._cache.layers if hasattr(layer, "activate_past_recording")]

    @torch.inference_mode()
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        result = self._model(
            input_ids=ids[None], past_key_values=self._cache, use_cache=True, logits_to_keep=1 if last else 0
        )
        self._length += len(ids)
        if self._cache.get_seq_length() != self._length:  # it ignores the cache: every pass would start from nothing
            raise InputError(f"{self._name} does not use a key-value cache, which decoding needs here.")
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
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, name: str, info: ModelInfo, *, light: bool = True
) -> LoadedModel:
    """A model of transformers, ready to decode: on its device, in evaluation mode.

    With `light`, the light forward pass reads for it where it knows the architecture and agrees with the model.
    """
    forward = _light(model) if light and not forced() else None
    if forward is None:
        store_fast(model)
    chosen: Forward = forward or TransformersForward(model, name)
    config = model.config.get_text_config()
    # transformers maps other names for it (n_positions, ...) to this one
    limit = getattr(config, "max_position_embeddings", None)
    queries = getattr(config, "num_attention_heads", 1)
    heads = getattr(config, "num_key_value_heads", None) or queries
    size = getattr(config, "head_dim", None) or config.hidden_size // queries
    ends = model.generation_config.eos_token_id if model.generation_config else None
    return LoadedModel(
        tokens=tokenizer,
        name=name,
        info=replace(info, forward=chosen.name, device=device_name(model.device)),
        forward=chosen,
        make_model=lambda: model,
        make_tokenizer=lambda: tokenizer,
        context=int(limit) if limit and limit > 0 else NO_LIMIT,  # some models have no limit, written as -1
        rows=int(config.vocab_size),
        ends=None if ends is None else frozenset([ends] if isinstance(ends, int) else ends),
        bytes=sum(weight.numel() * weight.element_size() for weight in model.parameters()),
        cache_bytes_per_token=cache_bytes(int(config.num_hidden_layers), int(heads), int(size), model.dtype.itemsize),
        device=model.device,
    )


def read_folder(
    name: str, folder: Path, dtype: str, device: str = "cpu"
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """A model and its tokenizer from a folder."""
    options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with one_sentence(name), quiet():
        tokenizer = AutoTokenizer.from_pretrained(folder, **options)
        options |= {"dtype": DTYPES[dtype], "use_safetensors": True, "output_loading_info": True}
        both: Any = AutoModelForCausalLM.from_pretrained(folder, **options)
        model, report = both
        if missing := sorted(report["missing_keys"]):  # transformers would fill them with random numbers
            raise InputError(
                f"{name} is incomplete: its config.json asks for {missing[0]}, which is not in its weights."
            )
        model.to(device)
    model.eval()
    model.requires_grad_(False)
    return model, tokenizer


def agree(light: Reader, other: Reader, rows: int, device: torch.device) -> bool:
    """Whether two forward passes expect the same tokens next and give the same logits, up to rounding.

    They read eight tokens at once, then three more.
    """
    tokens = torch.randint(rows, (11,), generator=torch.Generator().manual_seed(0)).to(device)
    for part in (tokens[:8], tokens[8:]):
        ours, theirs = light.read(part), other.read(part)
        apart = MOST_APART[ours.dtype] * float(theirs.abs().max())
        close = torch.allclose(ours.float(), theirs.float(), rtol=0, atol=apart)
        if not (close and torch.equal(ours.argmax(-1), theirs.argmax(-1))):
            return False
    return True


def _light(model: PreTrainedModel) -> LightForward | None:
    """The light forward pass for this model, which then shares its matrices; None if there is none that agrees."""
    config = model.config.to_dict()
    if unknown_because(config) or model.dtype not in MOST_APART:
        return None
    forward = LightForward(build(config, _Shared(model)))
    same = agree(forward.reader(), TransformersForward(model, "").reader(), config["vocab_size"], model.device)
    return forward if same else None


class _Shared(dict[str, Tensor]):
    """The weights of a model by name. Setting one replaces the model's own, so that nothing is in memory twice."""

    def __init__(self, model: PreTrainedModel) -> None:
        self._parameters = dict(model.named_parameters())
        super().__init__({name: parameter.data for name, parameter in self._parameters.items()})

    def __setitem__(self, name: str, weight: Tensor) -> None:
        self._parameters[name].data = weight
        super().__setitem__(name, weight)


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a broken file can cause errors of every kind in four libraries
        if is_out_of_memory(error):
            raise MemoryError from error
        if "ignore_mismatched_sizes" in str(error):
            raise InputError(f"{name} cannot be loaded: its config.json and its weights differ in size.") from error
        raise InputError(f"{name} is not a causal language model that can be loaded: {in_short(error)}") from error
