"""transformers' own forward pass, for every architecture that the light one does not know."""

import torch
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from specviz.core.errors import InputError
from specviz.models.forward import NO_EARLY_EXIT, NO_TREES, TRANSFORMERS, Reader
from specviz.models.hidden_states import HiddenStates


class TransformersForward:
    """Calls a model of transformers."""

    name = TRANSFORMERS
    reads_trees = False

    def __init__(self, model: PreTrainedModel, model_name: str) -> None:
        self._model = model
        self._model_name = model_name

    def reader(self, *, whole: bool = False) -> Reader:
        """See `Forward`."""
        return TransformersReader(self._model, self._model_name, whole)


class TransformersReader:
    """Reads with a model of transformers and its `DynamicCache`.

    Raises:
        InputError: the cache cannot be shortened (a recurrent model), so rejected tokens could not be removed; or, at
            the first pass, the model does not use the cache at all.
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
        """See `Reader`."""
        result = self._model(
            input_ids=ids[None], past_key_values=self._cache, use_cache=True, logits_to_keep=1 if last else 0
        )
        self._length += len(ids)
        if self._cache.get_seq_length() != self._length:  # it ignores the cache: every pass would start from nothing
            raise InputError(f"{self._name} does not use a key-value cache, which decoding needs here.")
        logits: Tensor = result.logits[0]
        return logits

    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        """Not here: how a mask of one's own is taken differs from architecture to architecture."""
        raise InputError(NO_TREES.format(name=self._name))

    def select(self, start: int, rows: list[int]) -> None:
        """Not here either: a tree is never read."""
        raise InputError(NO_TREES.format(name=self._name))

    def crop(self, excess: int) -> None:
        """See `Reader`."""
        if excess or self._sliding:  # a sliding window needs a crop each round, even of 0 tokens
            self._cache.crop(-excess)
            self._length -= excess

    def end_prompt(self) -> None:
        """See `Reader`."""
        for layer in self._sliding:  # not earlier: for the prompt it would waste memory
            layer.activate_past_recording()

    def first_layers(self, count: int) -> Reader:
        """Not here: how a pass is stopped differs from architecture to architecture."""
        raise InputError(NO_EARLY_EXIT.format(name=self._name))

    def store_states(self) -> HiddenStates:
        """Not here: only heads on a bundled target ask for them, and those are read by the light forward pass."""
        raise InputError(
            f"{self._name} is read by transformers' forward pass, which does not hand over its hidden states here."
        )
