"""The training loop: one model, one objective, a schedule by steps or until a time of day. It can be resumed."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from training.data import Mixture, say
from training.lessons import Lessons, states
from training.losses import distribution, divergence, next_token_loss

Model = TypeVar("Model", bound=nn.Module)
Objective = Callable[[Model, int], Tensor]  # (model, step) -> loss


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

    def __init__(self, model: nn.Module, rates: Rates, average: int = 0) -> None:
        self._rates = rates
        self._weights = list(model.parameters())
        self._mean = [weight.detach().clone() for weight in self._weights] if average else []
        self._average = average
        named = [(name, weight) for name, weight in model.named_parameters() if weight.requires_grad]
        matrices = [weight for name, weight in named if weight.ndim == 2 and "embed" not in name]
        rest = [weight for name, weight in named if weight.ndim != 2 or "embed" in name]
        self._muon: torch.optim.Optimizer = torch.optim.Muon(matrices, lr=rates.muon, weight_decay=rates.weight_decay)
        self._adam = torch.optim.AdamW(rest, lr=rates.adam, betas=(0.9, 0.95), weight_decay=0.0, fused=True)

    def step(self, step: int, progress: float) -> None:
        """Make a step along the gradients, and reset them."""
        scale = self._rates.scale(step, progress)
        for optimizer, peak in ((self._muon, self._rates.muon), (self._adam, self._rates.adam)):
            for group in optimizer.param_groups:
                group["lr"] = peak * scale
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        for place, mean in enumerate(self._mean):
            mean.lerp_(self._weights[place].detach(), max(1 / self._average, 1 / (step + 1)))

    def swap(self) -> None:
        """The model gets the mean of its weights, where there is one; or, the second time, its own again."""
        for place, weight in enumerate(self._weights[: len(self._mean)]):
            weight.data, self._mean[place] = self._mean[place], weight.data

    def state_dict(self) -> dict[str, Any]:
        """What a resumed run needs."""
        return {"muon": self._muon.state_dict(), "adam": self._adam.state_dict(), "mean": self._mean}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue where a run stopped."""
        self._muon.load_state_dict(state["muon"])
        self._adam.load_state_dict(state["adam"])
        self._mean = state.get("mean", [])


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to train, and at which rates."""

    steps: int
    rates: Rates = field(default_factory=Rates)
    clip: float = 1.0
    until: float | None = None  # seconds since the epoch: the latest end of the run and its schedule
    save_every: int = 100  # steps between checkpoints
    average: int = 0  # the result is a running mean of the weights over about so many steps; 0: the last weights


@dataclass(slots=True)
class Progress:
    """The state of a run."""

    step: int = 0
    seconds: float = 0.0  # of wall clock, over all parts of the run
    began: float = field(default_factory=time.time)  # since the epoch
    losses: list[float] = field(default_factory=list)

    def share(self, plan: Plan) -> float:
        """Share of the run that is done, 0 to 1: by steps or by the clock, whichever is larger."""
        if self.step >= plan.steps:
            return 1.0
        by_clock = (time.time() - self.began) / max(1.0, plan.until - self.began) if plan.until else 0.0
        return min(1.0, max(self.step / plan.steps, by_clock))


def next_token(mixture: Mixture, rows: int, length: int) -> Objective[LlamaForCausalLM]:
    """The objective of a target: cross-entropy with the text, on `rows` rows of `length` tokens a step."""

    def objective(model: LlamaForCausalLM, step: int) -> Tensor:
        batch = mixture.batch(step, rows, length)
        return next_token_loss(states(model, batch[:, :-1]), model.lm_head.weight, batch[:, 1:].flatten())

    return objective


def distil(lessons: Lessons, rows: int, seed: int) -> Objective[LlamaForCausalLM]:
    """The objective of a draft: KL from the target's distribution after every token, on `rows` rows a step."""

    def objective(model: LlamaForCausalLM, step: int) -> Tensor:
        ids, taught = lessons.batch(step, rows, seed)
        wanted = distribution(taught.flatten(0, 1), lessons.weight)
        return divergence(states(model, ids), model.lm_head.weight, wanted)

    return objective


def train(
    model: Model,
    objective: Objective[Model],
    plan: Plan,
    checkpoint: Path,
    after: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Train in place, from the checkpoint if there is one. Without `until` the result is the same every time.

    `after` is called after each step; the model then has the weights that it would have if the run ended here.
    """
    model.train()
    optimizers = Optimizers(model, plan.rates, plan.average)
    progress = Progress()
    if checkpoint.is_file():
        state: dict[str, Any] = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"])
        optimizers.load_state_dict(state["optimizers"])
        progress = Progress(**state["progress"])
    while (share := progress.share(plan)) < 1.0:
        began = time.perf_counter()
        loss = objective(model, progress.step)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), plan.clip)
        optimizers.step(progress.step, share)
        progress.step += 1
        progress.losses.append(round(loss.item(), 4))
        progress.seconds += time.perf_counter() - began
        if progress.step % 10 == 0:
            recent, minutes = fmean(progress.losses[-10:]), progress.seconds / 60
            say(f"step {progress.step} {progress.share(plan):.1%} loss {recent:.3f} {minutes:.1f} min")
        if progress.step % plan.save_every == 0:
            _save(model, optimizers, progress, checkpoint)
        optimizers.swap()
        after(progress)
        optimizers.swap()
    _save(model, optimizers, progress, checkpoint)
    optimizers.swap()
    model.eval()
    return progress


def _save(model: nn.Module, optimizers: Optimizers, progress: Progress, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    state = {"model": model.state_dict(), "optimizers": optimizers.state_dict(), "progress": asdict(progress)}
    unfinished = path.with_suffix(".new")  # a run that is killed while writing still has the last checkpoint
    torch.save(state, unfinished)
    unfinished.replace(path)
