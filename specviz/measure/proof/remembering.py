"""A model whose passes are remembered: many draws begin with the same prompt, and most ask for the same passes."""

from collections.abc import Iterator, Sequence
from functools import cached_property

import torch
from torch import Tensor

from specviz.decoding.drafters.translated import common_length
from specviz.models.cached_model import CachedModel
from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import LoadedModel

MOST_BYTES = 32 * 10**6  # of remembered logits, for each model


class Passes:
    def __init__(self, loaded: LoadedModel, vocabulary: int, prompt: Sequence[int]) -> None:
        self.prompt = list(prompt)
        self.made = 0  # forward passes
        self._loaded, self._vocabulary = loaded, vocabulary
        self._model = CachedModel(loaded, vocabulary, whole=True)
        self._model.prefill(prompt[:-1])
        self._read = self.prompt[:-1]  # what the model's own cache contains
        self._rows: dict[tuple[int, ...], Tensor] = {}  # by the text after the prompt
        self._most_rows = MOST_BYTES // (4 * vocabulary)

    def rows(self, token_ids: Sequence[int], count: int) -> Tensor:
        start = len(self.prompt)
        ends = range(len(token_ids) - count + 1, len(token_ids) + 1)
        keys = [tuple(token_ids[start:end]) for end in ends]
        known = next((place for place, key in enumerate(keys) if key not in self._rows), count)
        found = [self._rows[key] for key in keys[:known]]
        if known < count:
            fresh = list(self._pass(token_ids, count - known))
            self._remember(keys[known:], fresh)
            found += fresh
        return torch.stack(found)

    @cached_property
    def states(self) -> "StatePasses":
        """The last hidden states of the same model, for a head; InputError: its forward pass does not give them."""
        return StatePasses(self._loaded, self._vocabulary)

    def _pass(self, token_ids: Sequence[int], count: int) -> Tensor:
        """One forward pass over what the cache does not contain yet, at least the last `count` tokens."""
        same = min(common_length(self._read, token_ids), len(token_ids) - count)
        self._model.crop(same)
        logits = self._model.read(token_ids[same:])
        self._read = list(token_ids)
        self.made += 1
        return logits[-count:]

    def _remember(self, keys: list[tuple[int, ...]], rows: list[Tensor]) -> None:
        if len(self._rows) + len(rows) > self._most_rows:
            self._rows.clear()
        self._rows.update(zip(keys, (row.clone() for row in rows), strict=True))  # a view would hold all rows in memory


class RememberingModel(CachedModel):
    """Stands in for a model that has read the prompt except its last token; takes its logits from `Passes`."""

    def __init__(self, passes: Passes) -> None:  # without `super().__init__`: it has no cache of its own
        self._passes = passes
        self._token_ids = passes.prompt[:-1]
        self.length = len(self._token_ids)
        self._paths: list[list[int]] = []  # to each node of a tree, as tokens after the text

    def prefill_steps(self, tokens: Sequence[int]) -> Iterator[None]:
        yield from ()

    def read(self, tokens: Sequence[int], parents: Sequence[int] | None = None) -> Tensor:
        if parents is not None:
            return self._read_tree(tokens, parents)
        self._token_ids += tokens
        self.length = len(self._token_ids)
        return self._passes.rows(self._token_ids, len(tokens))

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        if path is not None:
            self._token_ids += [self._paths[node][-1] for node in path]
            self._paths = []
        del self._token_ids[length:]
        self.length = len(self._token_ids)

    def store_states(self) -> HiddenStates:
        return RememberedStates(self._token_ids, self._passes.states)

    def _read_tree(self, tokens: Sequence[int], parents: Sequence[int]) -> Tensor:
        for token_id, parent in zip(tokens, parents, strict=True):
            self._paths.append([*(self._paths[parent] if parent >= 0 else []), token_id])
        self.length = len(self._token_ids) + len(self._paths)
        new = self._paths[-len(tokens) :]
        return torch.cat([self._passes.rows([*self._token_ids, *path], 1) for path in new])


class RememberedStates(HiddenStates):
    def __init__(self, text: list[int], states: "StatePasses") -> None:
        super().__init__()
        self._text = text  # the model's own list: it grows and is cropped
        self._states = states

    def since(self, start: int) -> Tensor:
        return self._states.of(self._text)[start:]


class StatePasses:
    def __init__(self, loaded: LoadedModel, vocabulary: int) -> None:
        self._model = CachedModel(loaded, vocabulary)
        self._stored = self._model.store_states()
        self._read: list[int] = []  # what the model's cache contains
        self._known: dict[tuple[int, ...], Tensor] = {}

    def of(self, token_ids: Sequence[int]) -> Tensor:
        key = tuple(token_ids)
        if key not in self._known:
            if sum(4 * states.numel() for states in self._known.values()) > MOST_BYTES:
                self._known.clear()
            same = common_length(self._read, token_ids)
            self._model.crop(same)
            if same < len(token_ids):
                self._model.read(token_ids[same:])
            self._read = list(token_ids)
            self._known[key] = self._stored.since(0).clone()
        return self._known[key]


class NeverCropped(RememberingModel):
    """WRONG: does not remove rejected tokens, and continues after them."""

    def crop(self, length: int, path: Sequence[int] | None = None) -> None:
        """Forget nothing."""
