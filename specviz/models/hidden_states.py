"""A model's last hidden states for the tokens in its cache: what a head on the model drafts from."""

from torch import Tensor

FIRST_ROOM = 256  # tokens


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
        """Forget every token after the first `length`."""
        self.length = min(self.length, length)

    def select(self, start: int, rows: list[int]) -> None:
        """After the first `start` tokens keep only these, counted from `start`: the accepted path of a tree."""
        kept = self.since(start)[rows]
        self.length = start
        self.append(kept)
