"""Muon for the matrices, AdamW for embeddings and norms, one schedule over both."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True, slots=True)
class Rates:
    """Peak learning rates, and how they change over the run."""

    muon: float = 0.02
    adam: float = 3e-3
    weight_decay: float = 0.05
    warmup: int = 50  # steps
    hold: float = 0.4  # share of the run at the peak; then a linear decrease
    floor: float = 0.03  # of the peak, at the end

    def scale(self, step: int, progress: float) -> float:
        """Multiplier of both rates; `progress` is the share of the run that is done, 0 to 1."""
        rising = min(1.0, (step + 1) / max(1, self.warmup))
        falling = 1 - (1 - self.floor) * max(0.0, progress - self.hold) / max(1e-9, 1 - self.hold)
        return rising * min(1.0, max(self.floor, falling))


class Optimizers:
    """Both optimizers as one."""

    def __init__(self, model: nn.Module, rates: Rates) -> None:
        self._rates = rates
        named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
        matrices = [weight for name, weight in named if weight.ndim == 2 and "embed" not in name]
        rest = [weight for name, weight in named if weight.ndim != 2 or "embed" in name]
        self._muon = torch.optim.Muon(matrices, lr=rates.muon, weight_decay=rates.weight_decay)
        self._adam = torch.optim.AdamW(rest, lr=rates.adam, betas=(0.9, 0.95), weight_decay=0.0, fused=True)

    def step(self, step: int, progress: float) -> None:
        """Make a step along the gradients, and reset them."""
        scale = self._rates.scale(step, progress)
        for optimizer, peak in ((self._muon, self._rates.muon), (self._adam, self._rates.adam)):
            for group in optimizer.param_groups:
                group["lr"] = peak * scale
            optimizer.step()  # type: ignore[no-untyped-call]
            optimizer.zero_grad(set_to_none=True)

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return {"muon": self._muon.state_dict(), "adam": self._adam.state_dict()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue where a run stopped."""
        self._muon.load_state_dict(state["muon"])
        self._adam.load_state_dict(state["adam"])
