"""What a model has computed for the tokens it has read: its KV cache in one tensor, and its last hidden states."""

import torch
from torch import Tensor

FIRST_ROOM = 64  # tokens; a class has many runs that are paused after their first rounds
BLOCK = 32
"""Places that attention sums up together. Places after a token's own have the weight 0: as long as they fill up the
block, the order of the sum, and so its rounding, is the same however many there are."""


class Rows:
    """Something for each token of a text. Grows by doubling; removing the last tokens costs nothing.

    The last axis but one of `store` is the room for tokens, of which the first `length` are in use.
    """

    def __init__(self, empty: Tensor) -> None:
        self.length = 0
        self.store = empty

    def reserve(self, count: int) -> None:
        needed, room = self.length + count, self.store.shape[-2]
        if needed > room:
            shape = [*self.store.shape]
            shape[-2] = max(needed, 2 * room, FIRST_ROOM)
            grown = self.store.new_zeros(shape)  # zeros: a masked place is multiplied by its weight, 0
            grown[..., : self.length, :] = self.store[..., : self.length, :]
            self.store = grown

    def crop(self, length: int) -> None:
        self.length = min(self.length, length)

    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens keep only these, counted from `start`: the accepted path of a tree."""
        self.length = start + len(rows)
        self.store[..., start : self.length, :] = self.store[..., [start + row for row in rows], :]


class KeyValues(Rows):
    """Keys and values of every layer, for one text: (layers, 2, heads, room, size of a head)."""

    def __init__(self, layers: int, heads: int, size: int, like: Tensor) -> None:
        super().__init__(like.new_empty(layers, 2, heads, 0, size))

    def open(self, count: int, alone: bool) -> int:
        """Make room for a pass over `count` tokens, in one text or, `alone`, each as a text of its own.

        Returns:
            How many places the pass looks at: up to its last token, or up to the end of the block that has it.
        """
        stop, texts = self.length + count, count if alone else 1
        seen = -(-stop // BLOCK) * BLOCK if alone else stop
        self.reserve(seen - self.length)
        layers, _, heads, room, size = self.store.shape
        flat = self.store.view(2 * layers, heads, room, size)  # keys, then values, of one layer after the other
        new = flat[:, :, self.length : stop]
        new = new.transpose(1, 2).unsqueeze(3) if alone else new.unsqueeze(1)
        every = flat[:, None, :, :seen].expand(2 * layers, texts, heads, seen, size)
        # What each layer writes to, and reads from: made once a pass, as each of these views takes a microsecond.
        self._new, self._every = new.unbind(), every.unbind()
        return seen

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store one layer's new keys and values, (texts, heads, n, size) each; returns all of that layer, old and new.

        `length` stays: every layer writes to the same place, and the pass that ends moves it on.
        """
        own = 2 * layer
        self._new[own].copy_(keys)
        self._new[own + 1].copy_(values)
        return self._every[own], self._every[own + 1]


class HiddenStates(Rows):
    """The last hidden states, (room, hidden), in step with the cache."""

    def __init__(self) -> None:
        super().__init__(torch.empty(0, 0))

    def append(self, hidden: Tensor) -> None:
        """Store the states of the tokens that were just read, (n, hidden)."""
        if not len(self.store):
            self.store = hidden.new_empty(0, hidden.shape[1])
        self.reserve(len(hidden))
        self.store[self.length : self.length + len(hidden)] = hidden
        self.length += len(hidden)

    def since(self, start: int) -> Tensor:
        """The states of all tokens after the first `start`, (n, hidden)."""
        return self.store[start : self.length]
