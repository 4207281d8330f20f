"""A model that notes what it reads."""

from collections.abc import Callable
from dataclasses import replace

from torch import Tensor

from specviz.models.key_values import HiddenStates
from specviz.models.loaded_model import LoadedModel, Reader


class CountedReads:
    """`loaded` reads as the model does; here stands what, and whether a token was read again for nothing."""

    def __init__(self, loaded: LoadedModel, on_pass: Callable[[int], None] = lambda tokens: None) -> None:
        self.on_pass = on_pass  # hears how many tokens each pass reads
        self._open_reader = loaded.open_reader
        self.loaded = replace(loaded, open_reader=self.reader)
        self.lengths: list[int] = []  # tokens in each pass
        self.longest = 0  # tokens in the cache after a pass
        self.again = 0  # tokens that were read, removed, and read at once again
        self.text: list[int] = []  # what the cache holds, as of the last pass

    def reader(self, *, whole: bool = False) -> Reader:
        self.text = []
        return _Reader(self._open_reader(whole=whole), self)


class _Reader(Reader):
    def __init__(self, inner: Reader, counts: CountedReads) -> None:
        self._inner = inner
        self._counts = counts
        self._length = 0

    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        new, counts = ids.tolist(), self._counts
        counts.again += self._length < len(counts.text) and counts.text[self._length] == new[0]
        counts.text = counts.text[: self._length] + new
        counts.lengths.append(len(new))
        counts.on_pass(len(new))
        self._length += len(new)
        counts.longest = max(counts.longest, self._length)
        return self._inner.read(ids, last=last)

    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        self._counts.lengths.append(len(ids))
        self._counts.on_pass(len(ids))
        self._length += len(ids)
        self._counts.longest = max(self._counts.longest, self._length)
        return self._inner.read_tree(ids, positions, mask)

    def select(self, start: int, rows: list[int]) -> None:
        self._length = start + len(rows)
        self._inner.select(start, rows)

    def crop(self, excess: int) -> None:
        self._length -= excess
        self._inner.crop(excess)

    def end_prompt(self) -> None:
        self._inner.end_prompt()

    def store_states(self) -> HiddenStates:
        return self._inner.store_states()
