"""Who reads tokens for a model: our own light forward pass, or transformers'. Both give the same logits.

`SPECVIZ_FORWARD=transformers` uses transformers' for every model.
"""

import os
from typing import Protocol

import torch
from torch import Tensor

from specviz.models.llama import Llama

LIGHT, TRANSFORMERS = "light", "transformers"


class Reader(Protocol):
    """One model reading one text, with its cache."""

    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        """Read (n,) tokens; returns the logits after each, (n, rows), or after the last one alone, (1, rows)."""

    def crop(self, excess: int) -> None:
        """Remove the last tokens from the cache. Called after every round, also with 0."""

    def end_prompt(self) -> None:
        """The prompt has been read: from now on `crop` may be called."""


class Forward(Protocol):
    """A model's forward pass."""

    name: str  # LIGHT or TRANSFORMERS

    def reader(self, *, whole: bool = False) -> Reader:
        """A reader of a new text.

        Args:
            whole: `crop` may go back further than to the crop before it, also past a sliding window.

        Raises:
            InputError: the model's cache cannot be shortened.
        """


class LightForward:
    """The forward pass of `llama.py`."""

    name = LIGHT

    def __init__(self, llama: Llama) -> None:
        self.llama = llama

    def reader(self, *, whole: bool = False) -> Reader:
        """A reader of a new text."""
        return LightReader(self.llama)


class LightReader:
    """Reads with `llama.py`."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama
        self.cache = llama.cache()

    @torch.inference_mode()
    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        """See `Reader`."""
        hidden = self._llama.hidden(ids, self.cache)
        return self._llama.logits(hidden[-1:] if last else hidden)

    def crop(self, excess: int) -> None:
        """See `Reader`."""
        self.cache.crop(self.cache.length - excess)

    def end_prompt(self) -> None:
        """Nothing to do."""


def forced() -> bool:
    """Whether SPECVIZ_FORWARD asks for transformers' forward pass."""
    return os.environ.get("SPECVIZ_FORWARD") == TRANSFORMERS
