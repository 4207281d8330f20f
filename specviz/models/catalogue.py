"""What ships with specviz. Reads names, sizes and shapes from files; never imports torch."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path

from specviz.core.assets import ASSETS
from specviz.core.trace import Trace

MODELS_FOLDER = ASSETS / "models"


@dataclass(frozen=True, slots=True)
class BundledModel:
    """One model that ships with the app."""

    name: str
    parameters: int
    layers: int
    width: int
    context: int  # most tokens it can read, prompt and output together
    vocabulary: int  # rows of its embedding

    @property
    def folder(self) -> Path:
        """The folder with its files."""
        return MODELS_FOLDER / self.name


def bundled_names() -> list[str]:
    """Names of the bundled models, largest first."""
    return [model.name for model in bundled_models()]


@cache
def bundled_models() -> tuple[BundledModel, ...]:
    """The bundled models, largest first."""
    found = [_describe(config.parent) for config in MODELS_FOLDER.glob("*/config.json")]
    return tuple(sorted(found, key=lambda model: -model.parameters))


def _describe(folder: Path) -> BundledModel:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return BundledModel(
        name=folder.name,
        parameters=count_parameters(folder / "model.safetensors"),
        layers=config["num_hidden_layers"],
        width=config["hidden_size"],
        context=config["max_position_embeddings"],
        vocabulary=config["vocab_size"],
    )


def count_parameters(weights: Path) -> int:
    """Parameters stored in a safetensors file, from its header alone (8 bytes of length, then JSON)."""
    with weights.open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return sum(prod(entry["shape"]) for name, entry in header.items() if name != "__metadata__")


@cache
def weights_hash(folder: Path) -> str:
    """First 16 hex digits of the SHA-256 of a folder's safetensors files, in the order of their names."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as content:
            while block := content.read(2**20):
                digest.update(block)
    return digest.hexdigest()[:16]


def changed_weights(trace: Trace) -> list[str]:
    """A sentence for each model of the trace whose weights here differ from those it was recorded with."""
    recorded = [(trace.target.name, trace.target.weights_hash)]
    if trace.drafter and trace.drafter.kind == "model":
        recorded.append((trace.drafter.name, trace.drafter.weights_hash or ""))
    return [
        f"The weights of {name} on this machine differ from those in this trace."
        for name, digest in recorded
        if name in bundled_names() and weights_hash(MODELS_FOLDER / name) != digest
    ]
