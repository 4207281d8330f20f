"""A model in memory, ready to decode, what reads a text with it, and the number formats it may have."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.free_memory import give_back
from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences
from specviz.core.trace import ModelInfo
from specviz.models.devices import device_name
from specviz.models.key_values import HiddenStates
from specviz.models.llama import Llama
from specviz.models.llama_weights import memory_of
from specviz.models.packing import PackedLinear
from specviz.models.tokens import Tokens

say = Sentences("models")

if TYPE_CHECKING:  # importing transformers takes seconds, and bundled models need none of it
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

Dtype = Literal["float32", "bfloat16", "auto"]
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
NO_LIMIT = 2**31
LIGHT, TRANSFORMERS = "light", "transformers"  # who reads: our own forward pass, or transformers'; with the same logits


def forced() -> bool:
    """Whether transformers' forward pass reads for every model."""
    return operator_setting("SPECVIZ_FORWARD") == TRANSFORMERS


class Reader:
    """Reads one text with the light forward pass.

    transformers' reader inherits from it and has no trees and no states: runs are checked for it first. One that is
    opened for the `whole` text may crop further back than to the crop before, past a window too.
    """

    def __init__(self, llama: Llama, *, whole: bool = False) -> None:
        self._llama = llama
        self.cache = llama.cache()
        self._states: HiddenStates | None = None

    @torch.inference_mode()
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        """Read (n,) tokens; returns the logits after each, (n, rows), or after the last one alone, (1, rows)."""
        hidden = self._hidden(ids)
        return self._llama.logits(hidden[-1:] if last else hidden)

    @torch.inference_mode()
    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        """Read nodes of a tree, see `specviz.models.cached_model`; returns the logits after each, (n, rows)."""
        return self._llama.logits(self._hidden(ids, positions, mask))

    @torch.inference_mode()
    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens of the cache keep only these rows, counted from `start`."""
        self.cache.select(start, rows)
        if self._states:
            self._states.select(start, rows)

    def crop(self, excess: int) -> None:
        """Remove the last tokens from the cache. Called after every round, also with 0."""
        self.cache.crop(self.cache.length - excess)
        if self._states:
            self._states.crop(self.cache.length)

    def end_prompt(self) -> None:
        """The prompt has been read: from now on `crop` may be called."""

    def store_states(self) -> HiddenStates:
        """Store the last hidden states of all tokens from now on, in step with the cache; before the first pass."""
        self._states = self._states or HiddenStates()
        return self._states

    def _hidden(self, ids: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        hidden = self._llama.hidden(ids, self.cache, positions, mask)
        if self._states:
            self._states.append(hidden)
        return hidden


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedModel:
    """A causal language model ready to decode, with its tokenizer."""

    tokens: Tokens
    name: str
    info: ModelInfo
    llama: Llama | None  # what the light forward pass reads with; None: transformers reads, and no trees
    open_reader: Callable[..., Reader]  # of a new text; `whole`: see `Reader`. InputError: it cannot remove tokens
    make_model: Callable[[], "PreTrainedModel"]  # makes it once
    make_tokenizer: Callable[[], "PreTrainedTokenizerBase"]  # the same
    context: int  # most tokens it can read, prompt and output together
    rows: int  # of its embedding, padding included
    ends: frozenset[int] | None  # token ids that end the text; None: the tokenizer's
    bytes: int  # memory that its weights take
    cache_bytes_per_token: int  # memory that the keys and values of one token take
    device: torch.device
    kind: str = "model"  # of drafter, as in traces: the first layers of a model are "early-exit"

    @property
    def model(self) -> "PreTrainedModel":
        """The model as transformers has it; for a bundled model, loaded when first asked for."""
        return self.make_model()

    @property
    def is_packed(self) -> bool:
        """Whether its matrices are packed: see `specviz.models.packing`."""
        return self.llama is not None and isinstance(self.llama.output, PackedLinear)

    @property
    def tokenizer(self) -> "PreTrainedTokenizerBase":
        return self.make_tokenizer()

    @property
    def end_ids(self) -> frozenset[int]:
        if self.ends is not None:
            return self.ends
        end: int | None = self.tokens.eos_token_id
        return frozenset() if end is None else frozenset([end])


def light_model(
    llama: Llama,
    tokens: Tokens,
    info: ModelInfo,
    config: Mapping[str, Any],
    ends: frozenset[int],
    make_model: Callable[[], "PreTrainedModel"],
    make_tokenizer: Callable[[], "PreTrainedTokenizerBase"],
) -> LoadedModel:
    """A model that the light forward pass reads without transformers; `config` as in config.json."""
    give_back()
    device = llama.norm.device
    return LoadedModel(
        tokens=tokens,
        name=info.name,
        info=replace(info, forward=LIGHT, device=device_name(device)),
        llama=llama,
        open_reader=partial(Reader, llama),
        make_model=make_model,
        make_tokenizer=make_tokenizer,
        context=config["max_position_embeddings"],
        rows=config["vocab_size"],
        ends=ends,
        bytes=memory_of(llama),
        cache_bytes_per_token=2 * len(llama.layers) * llama.kv_heads * llama.size * llama.norm.itemsize,
        device=device,
    )


def chat_ids(model: LoadedModel, messages: Sequence[tuple[str, str]]) -> list[int]:
    """The token ids of roles and texts, such as ("user", "Hello"), up to the place where the model's answer begins.

    A special token that is spelled out in a message is text like any other.
    """
    tokenizer = model.tokenizer
    if not tokenizer.chat_template:
        raise InputError(say("no_template", model=model.name))
    if not messages:
        return []
    conversation = [{"role": role, "content": text} for role, text in messages]
    try:
        written: Any = tokenizer.apply_chat_template(
            conversation, add_generation_prompt=True, sanitize_control_tokens=True, return_dict=True
        )
    except Exception as error:  # a template is a program that its author wrote: it may raise anything
        raise InputError(say("template_fails", model=model.name, error=error)) from error
    return list(written["input_ids"])
