"""The KV cache of several texts that are read together, in one tensor: each text has a length of its own."""

import torch
from torch import Tensor

from specviz.models.key_values import FIRST_ROOM


class BatchKeyValues:
    """Keys and values of every layer, for several texts. Each text begins at place 0.

    A pass writes n places after each text's own end, also where the text reads fewer than n tokens. What lies beyond a
    text's length is masked, and overwritten by what the text reads next. It starts as zeros: a masked place has the
    weight 0, and 0 times what was never written could be no number.
    """

    def __init__(self, layers: int, texts: int, heads: int, size: int, like: Tensor) -> None:
        self.lengths = [0] * texts  # tokens of each text
        self.end = 0  # the first place that no text of the current pass reaches
        self._store = like.new_zeros(layers, 2, texts, heads, 0, size)

    @property
    def texts(self) -> int:
        """How many texts there are."""
        return len(self.lengths)

    def reserve(self, count: int) -> tuple[Tensor, Tensor]:
        """Make room for `count` more tokens of each text.

        Returns:
            Their places, (texts, count), and the mask, (texts, count, `end`): true where a token may look, which is at
            itself and at everything before it in its own text.
        """
        self.end = max(self.lengths) + count
        self._grow()
        device = self._store.device
        self._texts = torch.arange(self.texts, device=device)[:, None]
        self._places = torch.tensor(self.lengths, device=device)[:, None] + torch.arange(count, device=device)
        return self._places, torch.arange(self.end, device=device) <= self._places[..., None]

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store one layer's new keys and values, (texts, heads, count, size) each; returns those of all places."""
        all_keys, all_values = self._store[layer, :, : self.texts]
        all_keys[self._texts, :, self._places] = keys.transpose(1, 2)
        all_values[self._texts, :, self._places] = values.transpose(1, 2)
        return all_keys[:, :, : self.end], all_values[:, :, : self.end]

    def remove(self, text: int) -> None:
        """Forget a text. The last one takes its number."""
        last = self.lengths.pop()
        if text < self.texts:
            self._store[:, :, text, :, :last] = self._store[:, :, self.texts, :, :last]
            self.lengths[text] = last

    def _grow(self) -> None:
        layers, two, texts, heads, room, size = self._store.shape
        if self.end > room:
            grown = self._store.new_zeros(layers, two, texts, heads, max(self.end, 2 * room, FIRST_ROOM), size)
            grown[..., :room, :] = self._store
            self._store = grown
