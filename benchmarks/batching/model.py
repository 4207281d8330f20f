"""A causal language model that reads several texts in one pass, as a server does."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.models.cached_model import CHUNK
from specviz.models.key_values import FIRST_ROOM
from specviz.models.loaded_model import LoadedModel

PADDING = 0  # a token id: what a text reads where it has nothing to read and others do


class BatchModel:
    """One model reading several texts, each with a KV cache of its own length, which begins at place 0.

    They share the matrices: no token looks at another text. A pass takes as many tokens of every text as the text with
    the most has to read, so all wait for that text. It writes so many places after each text's own end; what lies
    beyond a text's length is masked, and overwritten by what the text reads next. The cache starts as zeros: a masked
    place has the weight 0, and 0 times what was never written could be no number.

    Raises InputError: the model is read by transformers' forward pass.
    """

    def __init__(self, loaded: LoadedModel, vocabulary: int, texts: int) -> None:
        if loaded.llama is None:
            raise InputError(f"{loaded.name} is read by transformers' forward pass, which reads one text at a time.")
        self._llama = llama = loaded.llama
        self._vocabulary = vocabulary  # logits beyond it are padding of the embedding, not tokens
        self._device = loaded.device
        self.lengths = [0] * texts  # tokens of each text in the cache
        self._store = llama.norm.new_zeros(len(llama.layers), 2, texts, llama.kv_heads, FIRST_ROOM, llama.size)

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
        self.lengths = [min(pair) for pair in zip(self.lengths, lengths, strict=True)]

    @torch.inference_mode()
    def remove(self, text: int) -> None:
        """Forget a text. The last one takes its number."""
        last = self.lengths.pop()
        if text < len(self.lengths):
            self._store[:, :, text, :, :last] = self._store[:, :, len(self.lengths), :, :last]
            self.lengths[text] = last

    def _read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """The last hidden states, (texts, most tokens, hidden)."""
        llama, count, most = self._llama, len(texts), max(map(len, texts))
        ids = torch.tensor([[*text, *[PADDING] * (most - len(text))] for text in texts], device=self._device)
        end = max(self.lengths) + most
        room = self._store.shape[4]
        if end > room:
            more = self._store.new_zeros(*self._store.shape[:4], max(end, 2 * room) - room, llama.size)
            self._store = torch.cat([self._store, more], 4)
        numbers = torch.arange(count, device=self._device)[:, None]
        places = torch.tensor(self.lengths, device=self._device)[:, None] + torch.arange(most, device=self._device)
        # A token looks at itself and at everything before it in its own text: (texts, most, end).
        mask = torch.arange(end, device=self._device) <= places[..., None]

        def write(layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
            """Store one layer's new keys and values, (texts, heads, most, size) each; returns those of all places."""
            all_keys, all_values = self._store[layer, :, :count]
            all_keys[numbers, :, places] = keys.transpose(1, 2)
            all_values[numbers, :, places] = values.transpose(1, 2)
            return all_keys[:, :, :end], all_values[:, :, :end]

        hidden = llama.run_texts(llama.embed(ids.flatten()), write, llama.rotary.at(places, end), mask, count)
        self.lengths = [old + len(text) for old, text in zip(self.lengths, texts, strict=True)]
        return hidden.view(count, most, -1)

    def _logits(self, hidden: Tensor) -> Tensor:
        logits = self._llama.logits(hidden.flatten(0, -2))[:, : self._vocabulary]
        return logits.to("cpu", torch.float32).view(*hidden.shape[:-1], -1)
