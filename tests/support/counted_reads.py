"""A model that notes what it reads."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

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

    def reader(self, *, whole: bool = False) -> Any:
        self.text = []
        return _Reader(self._open_reader(whole=whole), self)


class _Reader:
    def __init__(self, inner: Reader, counts: CountedReads) -> None:
        self._inner, self._counts, self._length = inner, counts, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def read(self, ids: Tensor, *, last: bool = False) -> Tensor:
        new, counts = ids.tolist(), self._counts
        counts.again += self._length < len(counts.text) and counts.text[self._length] == new[0]
        counts.text = counts.text[: self._length] + new
        self._note(len(new))
        return self._inner.read(ids, last=last)

    def read_tree(self, ids: Tensor, positions: Tensor, mask: Tensor) -> Tensor:
        self._note(len(ids))
        return self._inner.read_tree(ids, positions, mask)

    def select(self, start: int, rows: list[int]) -> None:
        self._length = start + len(rows)
        self._inner.select(start, rows)

    def crop(self, excess: int) -> None:
        self._length -= excess
        self._inner.crop(excess)

    def _note(self, tokens: int) -> None:
        self._counts.lengths.append(tokens)
        self._counts.on_pass(tokens)
        self._length += tokens
        self._counts.longest = max(self._counts.longest, self._length)
