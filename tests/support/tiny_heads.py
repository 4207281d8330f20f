"""Heads with random weights for tiny targets, made by way of their files."""

from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from specviz.models.heads import LoadedHead, load_head
from specviz.models.loaded_model import LoadedModel
from training.eagle import Eagle
from training.heads import Head, Medusa, save_head

KINDS = ("eagle", "medusa")
FEW_WORDS = "eagle of few words"  # it reads the target's embedding, and guesses some words alone
WORDS = torch.tensor([1, 2, 4, 6])


def random_head(kind: str, target: LoadedModel) -> Head:
    """A head as training has it. Random changes leave no part of it without effect."""
    words = WORDS if kind == FEW_WORDS else None
    medusa = Medusa(target.model.config.hidden_size, depths=3)
    head = medusa if kind == "medusa" else Eagle(target.model, width=24, vocabulary=words)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in head.parameters():
            noise = 0.2 * torch.randn(weight.shape, generator=generator)
            weight.copy_((weight + noise).bfloat16())  # as the file stores it
    return head


def loaded_head(head: Head, target: LoadedModel, folder: Path) -> LoadedHead:
    kind = str(head.config()["kind"])
    save_head(head, target.model, target.name, target.info.weights_hash, folder, {})
    return load_head(f"tiny-{kind}", target, folder=folder)


def tiny_head(kind: str, target: LoadedModel) -> LoadedHead:
    """A random head of this kind, ready to draft."""
    with TemporaryDirectory() as folder:
        return loaded_head(random_head(kind, target), target, Path(folder))
