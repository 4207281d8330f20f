"""Constrained output: only some tokens may come next. Both models are masked alike, so the rule stays lossless."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad


class LogitsConstraint(Protocol):
    """Says which tokens may follow a text."""

    def allowed(self, text: Sequence[int]) -> Tensor:
        """Boolean mask (vocabulary,) after `text` (prompt and output); at least one entry is True."""


def constrain(logits: Tensor, constraint: LogitsConstraint, text: Sequence[int], drafted: Sequence[int]) -> Tensor:
    """Mask row i of `logits`, (n, vocabulary), by what may follow `text` and the first i drafted tokens."""
    masks = torch.stack([constraint.allowed([*text, *drafted[:i]]) for i in range(len(logits))])
    # The target alone may know more tokens than a pair's mask has entries for: those are not allowed either.
    masks = pad(masks, (0, logits.shape[-1] - masks.shape[-1]))
    return logits.masked_fill(~masks.to(logits.device), float("-inf"))
