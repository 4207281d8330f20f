"""How long a forward pass over k tokens takes on this machine, and how anything is timed in turns of blocks."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from statistics import median
from time import perf_counter
from typing import TypeVar

import torch

from specviz.core.steps import Steps, result_of
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

CONTEXT_TOKENS = 64  # read before timing: about the length of a short run
BLOCK = 3  # passes of one kind, one after the other; the first is dropped
TURNS = 3

K = TypeVar("K")
T = TypeVar("T")


def interleave(works: Mapping[K, Iterator[T]], turns: int) -> Steps[dict[K, list[list[T]]]]:
    """A block of each work, then the next block of each, and so on; what each block yielded, but for its first.

    Decoding repeats one kind of pass. The first of a block comes after another kind, so it finds other things in the
    processor's caches: timed pass by pass, one token took 5.0 ms where plain decoding took 3.6 ms. Turns spread what
    else the machine does over all works.
    """
    found: dict[K, list[list[T]]] = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            block: list[T] = []
            for each in islice(work, BLOCK):
                block.append(each)
                yield
            found[name].append(block[1:])
    return found


def pass_seconds(loaded: LoadedModel, lengths: Iterable[int], turns: int = TURNS) -> dict[int, float]:
    """Median seconds of one forward pass over k new tokens, for each k, after up to `CONTEXT_TOKENS` in the cache."""
    lengths = list(lengths)
    generator = torch.Generator().manual_seed(0)
    read = min(CONTEXT_TOKENS, loaded.context - max(lengths))
    tokens: list[int] = torch.randint(loaded.rows, (read + max(lengths),), generator=generator).tolist()
    model = CachedModel(loaded, min(loaded.rows, len(loaded.tokens)))
    model.prefill(tokens[:read])
    found = result_of(interleave({k: _passes(model, tokens[read : read + k]) for k in lengths}, turns))
    return {k: median(chain.from_iterable(blocks)) for k, blocks in found.items()}


def _passes(model: CachedModel, tokens: list[int]) -> Iterator[float]:
    """The seconds of a pass over these tokens, again and again."""
    read = model.length
    while True:
        began = perf_counter()
        model.read(tokens)
        seconds = perf_counter() - began
        model.crop(read)
        yield seconds
