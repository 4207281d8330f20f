"""Who reads tokens for a model: our own light forward pass, or transformers'. Both give the same logits.

`SPECVIZ_FORWARD=transformers` uses transformers' for every model.
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor

from specviz.core.operator_settings import operator_setting
from specviz.models.key_values import HiddenStates
from specviz.models.llama import Llama

LIGHT, TRANSFORMERS = "light", "transformers"


class Reader(ABC):
    """Reads one text. What raises here is what the light forward pass alone can do; runs are checked for it first.

    One that is opened for the `whole` text may crop further back than to the crop before, past a window too.
    """

    @abstractmethod
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        """Read (n,) tokens; returns the logits after each, (n, rows), or after the last one alone, (1, rows)."""

    @abstractmethod
    def crop(self, excess: int) -> None:
        """Remove the last tokens from the cache. Called after every round, also with 0."""

    def end_prompt(self) -> None:
        """The prompt has been read: from now on `crop` may be called."""
        return

    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        """Read nodes of a tree, see `specviz.models.cached_model`; returns the logits after each, (n, rows)."""
        raise NotImplementedError

    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens of the cache keep only these rows, counted from `start`."""
        raise NotImplementedError

    def store_states(self) -> HiddenStates:
        """Store the last hidden states of all tokens from now on, in step with the cache; before the first pass."""
        raise NotImplementedError


class LightReader(Reader):
    def __init__(self, llama: Llama, *, whole: bool = False) -> None:
        self._llama = llama
        self.cache = llama.cache()
        self._states: HiddenStates | None = None

    @torch.inference_mode()
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        hidden = self._hidden(ids)
        return self._llama.logits(hidden[-1:] if last else hidden)

    @torch.inference_mode()
    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        return self._llama.logits(self._hidden(ids, positions, mask))

    @torch.inference_mode()
    def select(self, start: int, rows: list[int]) -> None:
        self.cache.select(start, rows)
        if self._states:
            self._states.select(start, rows)

    def crop(self, excess: int) -> None:
        self.cache.crop(self.cache.length - excess)
        if self._states:
            self._states.crop(self.cache.length)

    def store_states(self) -> HiddenStates:
        self._states = self._states or HiddenStates()
        return self._states

    def _hidden(self, ids: Tensor, positions: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        hidden = self._llama.hidden(ids, self.cache, positions, mask)
        if self._states:
            self._states.append(hidden)
        return hidden


def forced() -> bool:
    return operator_setting("SPECVIZ_FORWARD") == TRANSFORMERS
