"""Muon in float32, for processors that do not multiply bfloat16 themselves: torch's own takes 20 times as long there.

Momentum whose update is made orthogonal, so that all directions of a matrix move alike: Jordan et al. 2024,
kellerjordan.github.io/posts/muon. The numbers are those of `torch.optim.Muon`.
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

COEFFICIENTS, ROUNDS = (3.4445, -4.775, 2.0315), 5  # of Newton and Schulz's iteration
MOMENTUM = 0.95


class Muon(torch.optim.Optimizer):
    """For matrices alone."""

    def __init__(self, matrices: Iterable[Tensor], lr: float, weight_decay: float) -> None:
        super().__init__(matrices, {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for matrix in (each for each in group["params"] if each.grad is not None):
                mean = self.state[matrix].setdefault("momentum_buffer", torch.zeros_like(matrix))
                mean.lerp_(matrix.grad, 1 - MOMENTUM)
                rows, columns = matrix.shape
                matrix.mul_(1 - group["lr"] * group["weight_decay"])
                size = group["lr"] * max(1.0, rows / columns) ** 0.5
                matrix.sub_(orthogonal(matrix.grad.lerp(mean, MOMENTUM)), alpha=size)


def orthogonal(matrix: Tensor) -> Tensor:
    """Nearly the nearest matrix whose singular values are all 1."""
    a, b, c = COEFFICIENTS
    x: Tensor = matrix.T if len(matrix) > matrix.shape[1] else matrix
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(ROUNDS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if len(matrix) > matrix.shape[1] else x
