"""Decoding from the same prompt thousands of times: each forward pass is made once, and its logits are looked up after.

A model's logits after a text are a function of the text alone, so a loop that is given remembered ones does what it
would have done with fresh ones. Everything else (drafting, the rule, its draws, forgetting) is the loop's own.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

MOST_BYTES = 32 * 10**6  # of remembered logits, for each model


class Passes:
    """One model's logits after texts that all begin with `prompt`."""

    def __init__(self, loaded: LoadedModel, vocabulary: int, prompt: Sequence[int]) -> None:
        self.prompt = list(prompt)
        self.made = 0  # forward passes
        self._model = CachedModel(loaded, vocabulary, whole=True)
        self._model.prefill(prompt[:-1])
        self._read = self.prompt[:-1]  # what the model's own cache holds
        self._rows: dict[tuple[int, ...], Tensor] = {}  # by the text after the prompt
        self._most_rows = MOST_BYTES // (4 * vocabulary)

    def rows(self, text: Sequence[int], count: int) -> Tensor:
        """Next-token logits after each of the last `count` tokens of `text`, (count, vocabulary)."""
        start = len(self.prompt)
        keys = [tuple(text[start:end]) for end in range(len(text) - count + 1, len(text) + 1)]
        known = 0
        while known < count and keys[known] in self._rows:
            known += 1
        found = [self._rows[key] for key in keys[:known]]
        if known < count:
            fresh = list(self._pass(text, count - known))
            self._remember(keys[known:], fresh)
            found += fresh
        return torch.stack(found)

    def _pass(self, text: Sequence[int], count: int) -> Tensor:
        """One forward pass over what the cache does not hold yet, at least the last `count` tokens."""
        same = 0
        most = min(len(self._read), len(text) - count)
        while same < most and self._read[same] == text[same]:
            same += 1
        self._model.crop(same)
        logits = self._model.read(text[same:])
        self._read = list(text)
        self.made += 1
        return logits[-count:]

    def _remember(self, keys: list[tuple[int, ...]], rows: list[Tensor]) -> None:
        if len(self._rows) + len(rows) > self._most_rows:
            self._rows.clear()
        self._rows.update(zip(keys, (row.clone() for row in rows), strict=True))  # a view would keep its whole pass


class RememberingModel(CachedModel):
    """Stands in for a model that has read the prompt, but for its last token, and asks `Passes` for its logits."""

    def __init__(self, passes: Passes) -> None:  # in place of the model's own: there is no cache of its own to make
        self._passes = passes
        self._text = passes.prompt[:-1]
        self.length = len(self._text)

    def prefill(self, tokens: Sequence[int]) -> None:
        """The prompt is read already."""

    def read(self, tokens: Sequence[int]) -> Tensor:
        """Logits after each of `tokens`, as `CachedModel.read`."""
        self._text += tokens
        self.length = len(self._text)
        return self._passes.rows(self._text, len(tokens))

    def crop(self, length: int) -> None:
        """Forget every token after the first `length`."""
        del self._text[length:]
        self.length = len(self._text)


class NeverCropped(RememberingModel):
    """WRONG: keeps rejected tokens, and reads on after them."""

    def crop(self, length: int) -> None:
        """Forget nothing."""
