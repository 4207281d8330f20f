"""The files of a run: weights in bfloat16, the tokenizer, and training.json, which says how they were made."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import LlamaForCausalLM

from specviz.models.devices import describe_machine
from training.data import Domain
from training.loop import Plan, Progress
from training.losses import WORK

WORK_IN = "bfloat16 autocast" if torch.bfloat16 == WORK else "float32"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
JUDGED_TOKENS = 16_384  # of each domain's held-out text, at most
ROW = 512


def save_model(model: LlamaForCausalLM, tokenizer_folder: Path, folder: Path, log: Mapping[str, Any]) -> None:
    """Write a folder that `specviz.load_model` and plain transformers load, with its training.json."""
    folder.mkdir(parents=True, exist_ok=True)
    cast: Any = model  # `to` is untyped
    cast.to(torch.bfloat16).save_pretrained(folder)
    for name in TOKENIZER_FILES:
        if (tokenizer_folder / name).resolve() != (folder / name).resolve():
            shutil.copyfile(tokenizer_folder / name, folder / name)
    (folder / "training.json").write_text(json.dumps(log, indent=2) + "\n")


def read_log(folder: Path) -> dict[str, Any] | None:
    """The training.json of a model, if there is one."""
    path = folder / "training.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def describe_run(plan: Plan, progress: Progress, tokens_a_step: int, **more: Any) -> dict[str, Any]:
    """The part of training.json that every run has."""
    last = progress.losses[-50:]
    return more | {
        "plan": asdict(plan),
        "optimizer": f"Muon for the matrices, AdamW for embeddings and norms, {WORK_IN}",
        "steps": progress.step,
        "tokens_seen": progress.step * tokens_a_step,
        "minutes": round(progress.seconds / 60, 1),
        "machine": asdict(describe_machine()),
        "last_training_loss": round(sum(last) / len(last), 4) if last else None,
        "losses_every_10_steps": progress.losses[::10],
    }


@torch.no_grad()
def held_out_losses(model: LlamaForCausalLM, domains: Sequence[Domain]) -> dict[str, float]:
    """Nats a token on each domain's held-out text, in rows of 512 tokens, all in float32."""
    found = {}
    for domain in domains:
        rows, total = held_out_rows(domain.held_out), 0.0
        for part in torch.split(rows, 8):
            logits = model(input_ids=part[:, :-1], use_cache=False).logits
            total += F.cross_entropy(logits.flatten(0, 1), part[:, 1:].flatten(), reduction="sum").item()
        found[domain.name] = round(total / rows[:, 1:].numel(), 4)
    return found


def held_out_rows(text: Tensor) -> Tensor:
    """The judged part of a domain's held-out text, (rows, length + 1): the last token of a row is only a label."""
    row = min(ROW, len(text) - 1)
    return text[: min(len(text), JUDGED_TOKENS) // (row + 1) * (row + 1)].long().view(-1, row + 1)
