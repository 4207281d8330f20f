"""Decode from one prompt thousands of times: each forward pass is made once, and later its logits are looked up.

The logits of a model after a text depend only on the text, so the loop does the same with remembered ones as with new
ones. Everything else (drafting, the rule, its draws, cropping) is done by the loop itself.
"""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

MOST_BYTES = 32 * 10**6  # of remembered logits, for each model


class Passes:
    """The logits of one model after texts that all begin with `prompt`."""

    def __init__(self, loaded: LoadedModel, vocabulary: int, prompt: Sequence[int]) -> None:
        self.prompt = list(prompt)
        self.made = 0  # forward passes
        self._model = CachedModel(loaded, vocabulary, whole=True)
        self._model.prefill(prompt[:-1])
        self._read = self.prompt[:-1]  # what the model's own cache contains
        self._rows: dict[tuple[int, ...], Tensor] = {}  # by the text after the prompt
        self._most_rows = MOST_BYTES // (4 * vocabulary)

    def rows(self, token_ids: Sequence[int], count: int) -> Tensor:
        """Next-token logits after each of the last `count` tokens of `token_ids`, (count, vocabulary)."""
        start = len(self.prompt)
        ends = range(len(token_ids) - count + 1, len(token_ids) + 1)
        keys = [tuple(token_ids[start:end]) for end in ends]
        known = 0
        while known < count and keys[known] in self._rows:
            known += 1
        found = [self._rows[key] for key in keys[:known]]
        if known < count:
            fresh = list(self._pass(token_ids, count - known))
            self._remember(keys[known:], fresh)
            found += fresh
        return torch.stack(found)

    def _pass(self, token_ids: Sequence[int], count: int) -> Tensor:
        """One forward pass over what the cache does not contain yet, at least the last `count` tokens."""
        same = 0
        most = min(len(self._read), len(token_ids) - count)
        while same < most and self._read[same] == token_ids[same]:
            same += 1
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

    def prefill_steps(self, tokens: Sequence[int]) -> Iterator[None]:
        """Nothing to do: the prompt has been read already."""
        yield from ()

    def read(self, tokens: Sequence[int]) -> Tensor:
        """Logits after each of `tokens`, as `CachedModel.read`."""
        self._token_ids += tokens
        self.length = len(self._token_ids)
        return self._passes.rows(self._token_ids, len(tokens))

    def crop(self, length: int) -> None:
        """Forget every token after the first `length`."""
        del self._token_ids[length:]
        self.length = len(self._token_ids)


class NeverCropped(RememberingModel):
    """WRONG: does not remove rejected tokens, and continues after them."""

    def crop(self, length: int) -> None:
        """Forget nothing."""
