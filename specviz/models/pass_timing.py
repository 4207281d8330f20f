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
    chains, _ = yield from chain_and_tree_steps(loaded, lengths, (), repeats)
    return chains


def chain_and_tree_steps(
    loaded: LoadedModel, lengths: Iterable[int], nodes: Iterable[int], repeats: int
) -> Steps[tuple[dict[int, float], dict[int, float]]]:
    """Median seconds of a pass over k tokens, for each k, and of one that checks a tree of n nodes, for each n.

    The repeats of all passes are interleaved. Such a tree has two children a place, and the text's last token is read
    with it. Another shape of as many nodes takes as long: the same numbers are computed, only the mask differs.
    """
    passes: list[tuple[int, list[int] | None]] = [(k, None) for k in lengths]
    passes += [(n + 1, [(node - 1) // 2 for node in range(n + 1)]) for n in nodes]
    longest = max(count for count, _ in passes)
    vocabulary = loaded.facts.rows
    generator = torch.Generator().manual_seed(0)
    read = min(CONTEXT_TOKENS, loaded.context - longest)
    tokens: list[int] = torch.randint(vocabulary, (read + longest,), generator=generator).tolist()
    model = CachedModel(loaded, vocabulary)
    model.prefill(tokens[:read])
    taken: list[list[float]] = [[] for _ in passes]
    for _ in range(repeats + 2):  # the first two warm up
        for seconds, (count, parents) in zip(taken, passes, strict=True):
            yield
            began = perf_counter()
            model.read(tokens[read : read + count], parents)
            seconds.append(perf_counter() - began)
            model.crop(read, None if parents is None else [])
    medians = [(count, parents, median(seconds[2:])) for (count, parents), seconds in zip(passes, taken, strict=True)]
    chains = {count: seconds for count, parents, seconds in medians if parents is None}
    return chains, {count - 1: seconds for count, parents, seconds in medians if parents is not None}
