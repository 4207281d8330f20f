"""From logits to a choice: the most probable token, or a draw after temperature, top-k and top-p, in that order.

A constraint allows only some tokens. Both models get the same mask, so the rule stays lossless.
"""

from collections.abc import Iterable, Sequence
from math import inf
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad

from specviz.core.settings import DecodeSettings

COLDEST = 1e-30  # of temperatures above 0: below it the quotients overflow, and the choice is the same


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
        return logits

    def choose(self, scores: Tensor) -> int:
        """The most probable token; of equal ones, the first."""
        return int(scores.argmax())

    def probabilities(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)


class Sampling:
    """Draws from the distribution left after temperature, then top-k, then top-p. Scores are its probabilities."""

    def __init__(self, settings: DecodeSettings, generator: torch.Generator) -> None:
        self._settings = settings
        self._generator = generator

    def scores(self, logits: Tensor) -> Tensor:
        """Probabilities after temperature, top-k and top-p, each row summing to 1."""
        warped = logits / max(self._settings.temperature, COLDEST)
        if self._settings.top_k is not None:
            warped = keep_top_k(warped, self._settings.top_k)
        if self._settings.top_p is not None and self._settings.top_p < 1:
            warped = keep_top_p(warped, self._settings.top_p)
        return warped.softmax(-1)

    def choose(self, scores: Tensor) -> int:
        return int(torch.multinomial(scores, 1, generator=self._generator))

    def probabilities(self, scores: Tensor) -> Tensor:
        return scores


def keep_top_k(logits: Tensor, count: int) -> Tensor:
    """Rows in which only the `count` largest logits are left (Fan et al. 2018); others are -inf."""
    least = logits.topk(min(count, logits.shape[-1])).values[..., -1:]
    return logits.masked_fill(logits < least, -inf)


def keep_top_p(logits: Tensor, share: float) -> Tensor:
    """Rows in which only the most probable tokens are left that together reach `share` (Holtzman et al. 2020)."""
    rising, order = logits.sort()
    unlikely = rising.softmax(-1).cumsum(-1) <= 1 - share
    unlikely[..., -1] = False  # one token is always left
    return logits.masked_fill(unlikely.scatter(-1, order, unlikely), -inf)


def make_sampler(settings: DecodeSettings, generator: torch.Generator) -> Sampler:
    return Greedy() if settings.greedy else Sampling(settings, generator)


class LogitsConstraint(Protocol):
    """Decides which tokens may follow a text."""

    def allowed(self, token_ids: Sequence[int]) -> Tensor:
        """Boolean mask (vocabulary,) after `token_ids` (prompt and output); at least one entry is True."""


def constrain(logits: Tensor, constraint: LogitsConstraint, texts: Iterable[Sequence[int]]) -> Tensor:
    """Mask each row of `logits`, (n, vocabulary), by what may follow the text of that row: prompt and output."""
    masks = torch.stack([constraint.allowed(text) for text in texts])
    # In plain decoding the target may have more tokens than a mask made for a pair; those are not allowed either.
    masks = pad(masks, (0, logits.shape[-1] - masks.shape[-1]))
    return logits.masked_fill(~masks.to(logits.device), float("-inf"))
