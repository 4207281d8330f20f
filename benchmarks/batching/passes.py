"""v(k) in batches: how long a pass of the target takes over k tokens of each of several texts."""

from collections.abc import Iterator, Sequence
from statistics import median

import torch

from benchmarks.batching.model import BatchModel
from benchmarks.batching.rounds import CLOCKS
from specviz.core.steps import result_of
from specviz.data.measured.batches import BatchPass, Check, Clock, Ratio
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import CONTEXT_TOKENS, interleave

WARM_UP = 2  # turns that do not count


class TimedBatch:
    """Several texts that have been read, and how long it takes to read k further tokens of each."""

    def __init__(self, loaded: LoadedModel, texts: int, longest: int, clock: Clock = "wall") -> None:
        self._now = CLOCKS[clock]
        read = min(CONTEXT_TOKENS, loaded.context - longest)
        generator = torch.Generator().manual_seed(0)
        ids: list[list[int]] = torch.randint(loaded.rows, (texts, read + longest), generator=generator).tolist()
        self._read = [read] * texts
        self._next = [each[read:] for each in ids]
        self._model = BatchModel(loaded, loaded.rows, texts)
        self._model.prefill([each[:read] for each in ids])

    def passes(self, tokens: int) -> Iterator[float]:
        """The seconds of a pass over so many tokens of each text, again and again."""
        unread = [each[:tokens] for each in self._next]
        while True:
            began = self._now()
            self._model.read(unread)
            taken = self._now() - began
            self._model.crop(self._read)
            yield taken


def measure_passes(
    target: LoadedModel, batches: Sequence[int], lengths: Sequence[int], repeats: int, clock: Clock = "wall"
) -> list[BatchPass]:
    """Time passes over 1 and over each of `lengths` tokens in batches of each size, in blocks that take turns.

    Raises:
        InputError: the model cannot be read in batches.
    """
    timed = {texts: TimedBatch(target, texts, max(lengths), clock) for texts in batches}
    wanted = sorted({1, *lengths})
    works = {(texts, tokens): timed[texts].passes(tokens) for texts in batches for tokens in wanted}
    blocks = result_of(interleave(works, repeats + WARM_UP))
    counted = {key: [median(block) for block in taken[WARM_UP:]] for key, taken in blocks.items()}
    return [
        BatchPass(
            batch=texts,
            step_seconds=median(counted[texts, 1]),
            growth=_ratio(counted[texts, 1], counted[min(batches), 1]),
            checks=[Check(tokens, _ratio(counted[texts, tokens], counted[texts, 1])) for tokens in wanted],
        )
        for texts in batches
    ]


def _ratio(taken: Sequence[float], step: Sequence[float]) -> Ratio:
    return Ratio.from_ratios([one / other for one, other in zip(taken, step, strict=True)])
