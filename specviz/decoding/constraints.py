"""Constrained output: only some tokens may come next. Both models get the same mask, so the rule stays lossless."""

from collections.abc import Iterable, Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad


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
