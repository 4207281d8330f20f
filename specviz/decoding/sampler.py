"""From logits to a choice: the most probable token, or a draw after temperature, top-k and top-p, in that order."""

from typing import Protocol

import torch
from torch import Tensor
from transformers import LogitsProcessorList, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper

from specviz.core.settings import DecodeSettings


class Sampler(Protocol):
    """How tokens are chosen. The draft and the target of a run share it."""

    def scores(self, logits: Tensor) -> Tensor:
        """What the choice is made from, one row a position: (n, vocabulary) in, the same shape out."""

    def choose(self, scores: Tensor) -> int:
        """A token id from one row of scores, (vocabulary,)."""

    def probabilities(self, scores: Tensor) -> Tensor:
        """The distributions a trace records for these scores, (n, vocabulary)."""


class Greedy:
    """Takes the most probable token. Scores are the logits; a trace records their softmax at temperature 1."""

    def scores(self, logits: Tensor) -> Tensor:
        """The logits as they are."""
        return logits

    def choose(self, scores: Tensor) -> int:
        """The most probable token; of equal ones, the first."""
        return int(scores.argmax())

    def probabilities(self, scores: Tensor) -> Tensor:
        """Softmax at temperature 1."""
        return scores.softmax(-1)


class Sampling:
    """Draws from the distribution left after temperature, then top-k, then top-p. Scores are its probabilities."""

    def __init__(self, settings: DecodeSettings, generator: torch.Generator) -> None:
        self._warpers = LogitsProcessorList([TemperatureLogitsWarper(float(settings.temperature))])
        if settings.top_k is not None:
            self._warpers.append(TopKLogitsWarper(settings.top_k))
        if settings.top_p is not None and settings.top_p < 1:
            self._warpers.append(TopPLogitsWarper(settings.top_p))
        self._generator = generator
        self._unused = torch.LongTensor()  # the warpers require input ids but do not read them

    def scores(self, logits: Tensor) -> Tensor:
        """Probabilities after warping, each row summing to 1."""
        warped: Tensor = self._warpers(self._unused, logits)
        return warped.softmax(-1)

    def choose(self, scores: Tensor) -> int:
        """One draw, with the run's own generator."""
        return int(torch.multinomial(scores, 1, generator=self._generator))

    def probabilities(self, scores: Tensor) -> Tensor:
        """The scores themselves: they are probabilities."""
        return scores


def make_sampler(settings: DecodeSettings, generator: torch.Generator) -> Sampler:
    """The sampler for these settings."""
    return Greedy() if settings.greedy else Sampling(settings, generator)
