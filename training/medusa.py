"""Train Medusa heads: one residual block for each guess of a round, all on the same last state of the target."""

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from training.heads import Head

DEPTHS = 4
INNER = 512  # neurons of a block


class Medusa(Head):
    """The heads while they are trained; `MedusaHeads` is the same network when it drafts."""

    def __init__(self, width: int, depths: int = DEPTHS, inner: int = INNER) -> None:
        """Heads that change nothing yet: each guesses what the target guesses for the next token."""
        super().__init__()
        self.up = nn.ModuleList(nn.Linear(width, inner) for _ in range(depths))
        self.down = nn.ModuleList(nn.Linear(inner, width, bias=False) for _ in range(depths))
        for weight in self.down.parameters():
            nn.init.zeros_(weight)

    def guesses(self, states: Tensor, ids: Tensor, most: int) -> list[Tensor]:
        """See `Head`; the tokens are not used."""
        made: list[Tensor] = []
        for place, (up, down) in enumerate(list(zip(self.up, self.down, strict=True))[:most]):
            known = states[:, : -1 - place]
            made.append(known + down(F.silu(up(known))))
        return made

    def config(self) -> dict[str, Any]:
        """See `Head`."""
        return {"kind": "medusa", "depths": len(self.up)}

    def weights(self) -> dict[str, Tensor]:
        """See `Head`."""
        up: list[Tensor] = list(self.up.parameters())  # a matrix and a bias for each guess
        down: list[Tensor] = list(self.down.parameters())
        return {"up.weight": torch.cat(up[::2]), "up.bias": torch.cat(up[1::2]), "down.weight": torch.stack(down)}

    @torch.no_grad()
    def take(self, weights: Mapping[str, Tensor]) -> None:
        """See `Head`."""
        for name in ("weight", "bias"):
            for block, part in zip(self.up, weights[f"up.{name}"].chunk(len(self.up)), strict=True):
                block.get_parameter(name).copy_(part)
        for own, part in zip(self.down.parameters(), weights["down.weight"], strict=True):
            own.copy_(part)
