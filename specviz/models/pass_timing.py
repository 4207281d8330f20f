"""How long a forward pass over k tokens takes on this machine."""

from collections.abc import Iterable
from statistics import median
from time import perf_counter

import torch

from specviz.core.steps import Steps, result_of
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel

CONTEXT_TOKENS = 64  # read before timing: about the length of a short run


def pass_seconds(loaded: LoadedModel, lengths: Iterable[int], repeats: int) -> dict[int, float]:
    """Median seconds of one forward pass over k new tokens, for each k, after up to `CONTEXT_TOKENS` in the cache."""
    return result_of(pass_steps(loaded, lengths, repeats))


def pass_steps(loaded: LoadedModel, lengths: Iterable[int], repeats: int) -> Steps[dict[int, float]]:
    """The same in steps: it may be paused between two passes, each of which is timed by itself."""
    lengths = list(lengths)
    vocabulary = loaded.facts.rows
    generator = torch.Generator().manual_seed(0)
    read = min(CONTEXT_TOKENS, loaded.context - max(lengths))
    tokens: list[int] = torch.randint(vocabulary, (read + max(lengths),), generator=generator).tolist()
    model = CachedModel(loaded, vocabulary)
    model.prefill(tokens[:read])
    taken: dict[int, list[float]] = {k: [] for k in lengths}
    for repeat in range(repeats + 2):
        for k in lengths:
            yield
            began = perf_counter()
            model.read(tokens[read : read + k])
            seconds = perf_counter() - began
            model.crop(read)
            if repeat >= 2:  # the first two warm up
                taken[k].append(seconds)
    return {k: median(seconds) for k, seconds in taken.items()}
