"""A causal language model that reads several texts in one pass, as a server does."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Self

import torch
from torch import Tensor

from benchmarks.batching.key_values import BatchKeyValues
from specviz.core.errors import InputError
from specviz.models.cached_model import CHUNK
from specviz.models.llama import Llama
from specviz.models.loaded_model import LoadedModel

NO_BATCHES = "{name} is read by transformers' forward pass, which reads one text at a time here."
PADDING = 0  # a token id: what a text reads where it has nothing to read and others do


@dataclass(frozen=True, slots=True)
class BatchLlama(Llama):
    """The light forward pass over several texts. They share the matrices: no token looks at another text."""

    batch: BatchKeyValues = field(kw_only=True)

    @classmethod
    def of(cls, llama: Llama, texts: int) -> Self:
        """The same weights, to read so many texts."""
        own = {each.name: getattr(llama, each.name) for each in fields(llama)}
        return cls(**own, batch=BatchKeyValues(len(llama.layers), texts, llama.kv_heads, llama.size, llama.norm))

    def hidden_of_batch(self, ids: Tensor) -> Tensor:
        """Read tokens, (texts, n), each text after its own part of the cache.

        The cache's `lengths` stay, because not every text may have n tokens to read.

        Returns:
            The last hidden states, (texts, n, hidden).
        """
        places, mask = self.batch.reserve(ids.shape[1])
        rotation = self.rotary.at(places, self.batch.end)
        x = self._run_layers(self.embed(ids.flatten()), self.batch.write, rotation, mask, self.batch.texts)
        return x.view(*ids.shape, -1)


class BatchModel:
    """One model reading several texts, each with a cache of its own length.

    A pass takes as many tokens of every text as the text with the most has to read. So all wait for that text.

    Raises:
        InputError: the model is read by transformers' forward pass.
    """

    def __init__(self, loaded: LoadedModel, vocabulary: int, texts: int) -> None:
        if loaded.llama is None:
            raise InputError(NO_BATCHES.format(name=loaded.name))
        self._llama = BatchLlama.of(loaded.llama, texts)
        self._cache = self._llama.batch
        self._vocabulary = vocabulary  # logits beyond it are padding of the embedding, not tokens
        self._device = loaded.device

    @property
    def lengths(self) -> list[int]:
        """The tokens of each text in the cache."""
        return self._cache.lengths

    @torch.inference_mode()
    def prefill(self, texts: Sequence[Sequence[int]]) -> None:
        """Read the beginning of every text, in chunks, without asking for a distribution."""
        for start in range(0, max(map(len, texts)), CHUNK):
            self._read([text[start : start + CHUNK] for text in texts])

    @torch.inference_mode()
    def read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Read the next tokens of every text in one pass; a text may have fewer than others, also none.

        Returns:
            The next-token logits after each token, (texts, most tokens, vocabulary), float32 on the CPU. Those after
            more tokens than a text has mean nothing.
        """
        return self._logits(self._read(texts))

    @torch.inference_mode()
    def read_last(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """The same; returns the logits after the last token of each text alone, (texts, vocabulary)."""
        hidden = self._read(texts)
        last = torch.tensor([max(0, len(text) - 1) for text in texts], device=self._device)
        return self._logits(hidden[torch.arange(len(texts), device=self._device), last])

    def crop(self, lengths: Sequence[int]) -> None:
        """Remove from each text what follows its first so many tokens."""
        self._cache.lengths = [min(pair) for pair in zip(self._cache.lengths, lengths, strict=True)]

    @torch.inference_mode()
    def remove(self, text: int) -> None:
        """Forget a text. The last one takes its number."""
        self._cache.remove(text)

    def _read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """The last hidden states, (texts, most tokens, hidden)."""
        most = max(map(len, texts))
        ids = torch.tensor([[*text, *[PADDING] * (most - len(text))] for text in texts], device=self._device)
        hidden = self._llama.hidden_of_batch(ids)
        self._cache.lengths = [old + len(text) for old, text in zip(self._cache.lengths, texts, strict=True)]
        return hidden

    def _logits(self, hidden: Tensor) -> Tensor:
        logits = self._llama.logits(hidden.flatten(0, -2))[:, : self._vocabulary]
        return logits.to("cpu", torch.float32).view(*hidden.shape[:-1], -1)
