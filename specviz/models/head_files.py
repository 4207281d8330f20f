"""Load a head from its own files and join it to its target: it fits the weights that it was trained on, no others."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.trace import ModelInfo
from specviz.models.catalogue import (
    HEAD_FILE,
    MODELS_FOLDER,
    count_parameters,
    head_names,
    weights_hash,
    wrong_target,
)
from specviz.models.forward import LIGHT, LightForward
from specviz.models.heads import EagleHead, MedusaHeads
from specviz.models.layout import stored_fast
from specviz.models.llama import Linear, Llama
from specviz.models.llama_weights import build
from specviz.models.loaded_model import DTYPES, Dtype, LoadedModel

Weights = dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class LoadedHead:
    """A head ready to draft for its target."""

    name: str
    kind: str  # one of HEAD_KINDS
    info: ModelInfo  # its own parameters alone: the output embedding is the target's
    target: str  # the model that it was trained on
    target_hash: str  # of that model's weights
    network: EagleHead | MedusaHeads
    context: int  # most tokens it can read: the target's
    bytes: int  # memory that its own weights take

    def check(self, target: LoadedModel) -> None:
        """Refuse another target than the head's own.

        Raises:
            InputError: it is another one.
        """
        _check(self.name, self.target, self.target_hash, target)


def load_head(name: str, target: LoadedModel, dtype: Dtype = "float32", folder: Path | None = None) -> LoadedHead:
    """A head for this target, by bundled name or from a folder.

    Args:
        name: of a bundled head; with `folder`, what to call it.
        target: the model that it drafts for. Its output embedding is shared where both have the same number format.
        dtype: "auto" is float32: reading one token with a small network is slower in bfloat16.
        folder: where its files are; None: the bundled ones.

    Raises:
        InputError: there is no such head, or it belongs to other weights than the target's.
    """
    if folder is None:
        if name not in head_names():
            raise InputError(f"There is no head named {name[:100]!r} here.")
        folder = MODELS_FOLDER / name
    config = json.loads((folder / HEAD_FILE).read_text(encoding="utf-8"))
    of, digest = config["target"], config["target_weights_hash"]
    _check(name, of, digest, target)
    if not isinstance(target.forward, LightForward):
        raise InputError(f"{name} needs the light forward pass of {target.name}, which hands over its hidden states.")
    dtype = "float32" if dtype == "auto" else dtype
    parameters = count_parameters(folder / "model.safetensors")
    info = ModelInfo(name, parameters, dtype, weights_hash(folder), LIGHT, target.info.device)
    stored = load_file(folder / "model.safetensors")
    weights = {key: weight.to(target.facts.device, DTYPES[dtype]) for key, weight in stored.items()}
    network = _NETWORKS[config["kind"]](config, weights, target.forward.llama)
    memory = parameters * DTYPES[dtype].itemsize
    return LoadedHead(name, config["kind"], info, of, digest, network, target.context, memory)


def _check(name: str, of: str, digest: str, target: LoadedModel) -> None:
    """Refuse a target with other weights than those (`digest`) that the head was trained on."""
    if target.info.weights_hash != digest:
        raise InputError(wrong_target(name, of, target.name))


def eagle(config: Mapping[str, Any], weights: Weights, target: Llama) -> EagleHead:
    """The head of `training/eagle.py`."""
    from_state = Linear(stored_fast(weights["from_state.weight"]), None)
    body = build(config, weights)
    return EagleHead(from_state, replace(body, output=_output(target, body.embedding.dtype)))


def medusa(config: Mapping[str, Any], weights: Weights, target: Llama) -> MedusaHeads:
    """The heads of `training/medusa.py`."""
    up = Linear(stored_fast(weights["up.weight"]), weights["up.bias"])
    return MedusaHeads(up, weights["down.weight"], _output(target, up.weight.dtype))


_NETWORKS: dict[str, Callable[[Mapping[str, Any], Weights, Llama], EagleHead | MedusaHeads]] = {
    "eagle": eagle,
    "medusa": medusa,
}


def _output(target: Llama, dtype: torch.dtype) -> Linear:
    """The target's output embedding: its own matrix, or a copy where the head has another number format."""
    matrix = target.output.weight
    return target.output if matrix.dtype == dtype else Linear(stored_fast(matrix.to(dtype)), None)
