"""Constrained output: only some tokens may come next. Both models are masked alike, so the rule stays lossless."""

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor


class LogitsConstraint(Protocol):
    """Says which tokens may follow a text."""

    def allowed(self, text: Sequence[int]) -> Tensor:
        """Boolean mask (vocabulary,) after `text` (prompt and output); at least one entry is True."""


def constrain(logits: Tensor, constraint: LogitsConstraint, text: Sequence[int], drafted: Sequence[int]) -> Tensor:
    """Mask row i of `logits`, (n, vocabulary), by what may follow `text` and the first i drafted tokens."""
    masks = [constraint.allowed([*text, *drafted[:i]]) for i in range(len(logits))]
    return logits.masked_fill(~torch.stack(masks).to(logits.device), float("-inf"))
