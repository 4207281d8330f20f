"""What the training of both kinds of heads shares: the objective, the losses on held-out text, and the files."""

import json
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LlamaForCausalLM

from specviz.models.catalogue import HEAD_FILE
from training.data import Domain
from training.loop import Objective
from training.losses import WORK, distribution, divergence
from training.report import held_out_rows

TAKEN = ("hidden_size", "num_attention_heads", "num_key_value_heads", "rms_norm_eps", "rope_parameters")
DEPTHS = 4  # of Medusa heads
INNER = 512  # neurons of a block
WEIGHTS = (1.0, 0.8, 0.6, 0.5)  # of the loss of each guess: a later one counts only if those before it were accepted

# Ids (rows, n), the target's states (rows, n, hidden), and how often each place is judged (rows, n).
Batch = tuple[Tensor, Tensor, Tensor]


class Head(nn.Module):
    """A head while it is trained. It has no copy of the target's output embedding."""

    @abstractmethod
    def guesses(self, states: Tensor, ids: Tensor, most: int) -> list[Tensor]:
        """The first `most` guesses of a round that begins at each place of each text.

        Args:
            states: (rows, n, hidden) the target's last states.
            ids: (rows, n) the tokens.
            most: number of guesses.

        Returns:
            For guess d (from 0): (rows, n - 1 - d, hidden). Entry j is of the round that knows the text up to
            ids[:, j + 1], and of the token d + 1 places further; times the output embedding it gives the logits.
        """

    @abstractmethod
    def config(self) -> dict[str, Any]:
        """What its head.json says besides its target."""

    @abstractmethod
    def weights(self) -> dict[str, Tensor]:
        """Its parameters by the names of the file."""

    @abstractmethod
    def take(self, weights: Mapping[str, Tensor]) -> None:
        """Go on from the weights of an earlier run."""


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
        return {"kind": "medusa", "depths": len(self.up)}

    def weights(self) -> dict[str, Tensor]:
        up: list[Tensor] = list(self.up.parameters())  # a matrix and a bias for each guess
        down: list[Tensor] = list(self.down.parameters())
        return {"up.weight": torch.cat(up[::2]), "up.bias": torch.cat(up[1::2]), "down.weight": torch.stack(down)}

    @torch.no_grad()
    def take(self, weights: Mapping[str, Tensor]) -> None:
        for name in ("weight", "bias"):
            for block, part in zip(self.up, weights[f"up.{name}"].chunk(len(self.up)), strict=True):
                block.get_parameter(name).copy_(part)
        for own, part in zip(self.down.parameters(), weights["down.weight"], strict=True):
            own.copy_(part)


def head_objective(
    batches: Callable[[int], Batch], weight: Tensor, share: float, weights: Sequence[float]
) -> Objective[Head]:
    """KL from the target's distribution, the weighted mean over the guesses of a round.

    Args:
        batches: what is read at a step.
        weight: the target's output embedding, or its rows for the words that the head guesses.
        share: of the places that are judged, drawn again for each step: the output embedding takes most of the time.
            All guesses of a round are judged at the same places.
        weights: of each guess's loss; their number is the number of guesses.
    """
    most = len(weights)

    def objective(model: Head, step: int) -> Tensor:
        ids, states, often = batches(step)
        drawn = torch.rand(often[:, most:].shape, generator=torch.Generator().manual_seed(step))
        judged = (drawn < share * often[:, most:]).flatten().nonzero()[:, 0]
        with torch.autocast("cpu", torch.bfloat16, enabled=torch.bfloat16 == WORK):
            made = model.guesses(states.float(), ids, most)
        wanted = distribution(states[:, most:].flatten(0, 1)[judged], weight)
        loss = torch.zeros(())
        for place, (guess, own) in enumerate(zip(made, weights, strict=True)):
            hidden = guess[:, most - 1 - place :].flatten(0, 1)[judged]
            loss = loss + own / sum(weights) * divergence(hidden, weight, wanted)
        return loss

    return objective


@torch.no_grad()
def held_out_head_losses(
    model: Head, target: LlamaForCausalLM, domains: Sequence[Domain], most: int = len(WEIGHTS)
) -> dict[str, list[float]]:
    """Nats a token on each domain's held-out text, for each guess of a round whose earlier guesses were accepted."""
    found = {}
    for domain in domains:
        totals, counts = [0.0] * most, [0] * most
        for part in torch.split(held_out_rows(domain.held_out), 8):
            known = target.model(input_ids=part, use_cache=False).last_hidden_state
            for place, guess in enumerate(model.guesses(known, part, most)):
                logits = F.linear(guess[:, :-1].float(), target.lm_head.weight)
                labels = part[:, place + 2 :]
                totals[place] += F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum").item()
                counts[place] += labels.numel()
        found[domain.name] = [round(total / count, 4) for total, count in zip(totals, counts, strict=True)]
    return found


def save_head(
    model: Head, target: LlamaForCausalLM, name: str, digest: str, folder: Path, log: Mapping[str, Any]
) -> None:
    """Write a folder that `load_head` reads: head.json, model.safetensors in bfloat16, training.json.

    `name` and `digest` are those of the target, the hash as `weights_hash` gives it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stored = {}
    for part, weight in model.weights().items():
        stored[part] = (weight.detach().bfloat16() if weight.is_floating_point() else weight.int()).contiguous()
    save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
    about: dict[str, Any] = {"target": name, "target_weights_hash": digest}
    about |= {name: getattr(target.config, name) for name in TAKEN} | {"tie_word_embeddings": True}
    (folder / HEAD_FILE).write_text(json.dumps(about | model.config(), indent=2) + "\n", encoding="utf-8")
    (folder / "training.json").write_text(json.dumps(log, indent=2) + "\n", encoding="utf-8")


def go_on_from(model: Head, folder: Path) -> None:
    """Give a head that is about to be trained the weights of an earlier run."""
    model.take(load_file(folder / "model.safetensors"))
