"""The keys and values that a model has computed for the tokens it has read: its KV cache, in one tensor."""

from torch import Tensor

FIRST_ROOM = 256  # tokens


class KeyValues:
    """Keys and values of every layer, for one text. Grows by doubling; removing the last tokens costs nothing.

    `store` is (layers, 2, heads, room, size of a head); the first `length` of the `room` tokens are in use.
    """

    def __init__(self, layers: int, heads: int, size: int, like: Tensor) -> None:
        self.length = 0
        self._use(like.new_empty(layers, 2, heads, 0, size))

    def _use(self, store: Tensor) -> None:
        self.store = store
        # What a pass writes to and reads from, (1, heads, room, size) each: made once, not in every pass.
        self._layers = [(layer[0][None], layer[1][None]) for layer in store]

    def reserve(self, count: int) -> None:
        needed, room = self.length + count, self.store.shape[3]
        if needed > room:
            layers, two, heads, _, size = self.store.shape
            grown = self.store.new_empty(layers, two, heads, max(needed, 2 * room, FIRST_ROOM), size)
            grown[:, :, :, : self.length] = self.store[:, :, :, : self.length]
            self._use(grown)

    def write(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Store one layer's new keys and values, (1, heads, n, size) each; returns all of that layer, old and new.

        `length` stays: every layer writes to the same place, and the pass that ends moves it on.
        """
        stop = self.length + keys.shape[2]
        all_keys, all_values = self._layers[layer]
        all_keys[:, :, self.length : stop] = keys
        all_values[:, :, self.length : stop] = values
        return all_keys[:, :, :stop], all_values[:, :, :stop]

    def crop(self, length: int) -> None:
        self.length = min(self.length, length)

    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens keep only these, counted from `start`: the accepted path of a tree."""
        taken = self.store[:, :, :, [start + row for row in rows]]
        self.store[:, :, :, start : start + len(rows)] = taken
        self.length = start + len(rows)


class HiddenStates:
    """One row for each token that was read, in step with the cache. Grows by doubling, as `KeyValues` does."""

    def __init__(self) -> None:
        self.length = 0
        self._rows: Tensor | None = None  # (room, hidden)

    def append(self, hidden: Tensor) -> None:
        """Store the states of the tokens that were just read, (n, hidden)."""
        stop = self.length + len(hidden)
        rows = self._rows
        if rows is None or stop > len(rows):
            grown = hidden.new_empty(max(stop, 2 * self.length, FIRST_ROOM), hidden.shape[1])
            if rows is not None:
                grown[: self.length] = rows[: self.length]
            self._rows = rows = grown
        rows[self.length : stop] = hidden
        self.length = stop

    def since(self, start: int) -> Tensor:
        """The states of all tokens after the first `start`, (n, hidden)."""
        if self._rows is None:
            raise ValueError("No token has been read yet.")
        return self._rows[start : self.length]

    def crop(self, length: int) -> None:
        self.length = min(self.length, length)

    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens keep only these, counted from `start`: the accepted path of a tree."""
        kept = self.since(start)[rows]
        self.length = start
        self.append(kept)
