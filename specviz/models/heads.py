"""Heads on one page: small networks that draft from the target's own last hidden states.

The target has read a text and its last hidden states sum up what it thinks of each place. A draft model starts from the
words alone; a head starts from there. The target's output embedding turns what it computes into logits.

    EAGLE, one guess a step                                        Medusa, all guesses at once
    the target's state at place i ──────────┐                      the target's last state
    token i + 1 ── its own embedding ──── + ┘                          │
                                          │                            ├── block 1 ── output embedding ──> guess 1
                                      one layer                        ├── block 2 ── output embedding ──> guess 2
                                          │                            ├── ...
                        its own state at place i + 1                   └── block 4 ── output embedding ──> guess 4
                                          │
                                   output embedding ──> guess of token i + 2

EAGLE's next step takes its own state where the target's is not known yet, so a guess knows the guesses before it.
Medusa's guesses do not: each is made as if nothing had been guessed, so it needs one pass for all of them.

EAGLE: Li et al. 2024, arXiv 2401.15077; the way in is that of DeepSeek-V3's module for multi-token prediction
(arXiv 2412.19437, Section 2.2). Medusa: Cai et al. 2024, arXiv 2401.10774. `head_files.py` loads them.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from specviz.models.key_values import KeyValues
from specviz.models.llama import Linear, Llama


@dataclass(frozen=True, slots=True)
class EagleHead:
    """Reads pairs (the state at a place, the token that follows it) with a cache of its own."""

    from_state: Linear  # to hidden
    body: Llama  # of one layer, with an embedding of its own; its output embedding is the target's

    def cache(self) -> KeyValues:
        """An empty cache for one text."""
        return self.body.cache()

    def hidden(
        self,
        states: Tensor,
        ids: Tensor,
        cache: KeyValues,
        positions: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> Tensor:
        """Read n places after those in the cache, which grows by them; returns the head's own states, (n, hidden).

        Args:
            states: (n, hidden) the target's last hidden state at each place, or the head's own guess at it.
            ids: (n,) the token after each place.
            cache: of the places before.
            positions, mask: as in `Llama.hidden`, for the guesses of a tree.
        """
        return self.body.through_layers(self.body.embedding[ids] + self.from_state(states), cache, positions, mask)

    def logits(self, hidden: Tensor) -> Tensor:
        """What the head expects after the token that it read last at each place, (n, vocabulary)."""
        return self.body.logits(hidden)


@dataclass(frozen=True, slots=True)
class MedusaHeads:
    """One residual block for each depth of the draft, on the same state."""

    up: Linear  # into the blocks of all depths, one below the other: to depths × inner
    down: Tensor  # (depths, hidden, inner) out of each block
    output: Linear  # the target's output embedding

    @property
    def depths(self) -> int:
        """The most guesses of a round."""
        return len(self.down)

    def logits(self, state: Tensor) -> Tensor:
        """The guesses of all depths from one state, (hidden,); returns (depths, vocabulary).

        Row i is about the token i + 2 places after the one that gave the state: the next one is the target's own.
        """
        inner = F.silu(self.up(state)).view(self.depths, -1, 1)
        changes = torch.bmm(self.down, inner)[:, :, 0]
        return self.output(state + changes)
