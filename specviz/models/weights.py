"""Names and shapes of the tensors in safetensors files, read from the headers alone."""

import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi

from specviz.core.errors import InputError
from specviz.models.hub import HubModel, weights_in
from specviz.models.hub_errors import hub_errors

Shapes = dict[str, tuple[int, ...]]  # by tensor name
LONGEST_HEADER = 25_000_000  # bytes, the limit of the Hub


def shapes_in_folder(folder: Path, name: str = "The model") -> Shapes:
    """Shapes of the tensors of a model on disk.

    Raises:
        InputError: there are no weights, or a file is not a safetensors file.
    """
    shapes: Shapes = {}
    for file in weights_in(folder, name):
        shapes |= _shapes(folder / file, name)
    return shapes


def shapes_on_hub(model: HubModel) -> Shapes:
    """Shapes of the tensors of a model on the Hub, from the first bytes of its weight files.

    Raises:
        InputError: the Hub cannot be reached, or a file is not a safetensors file.
    """
    shapes: Shapes = {}
    with hub_errors(model.name):
        for file in model.weights:
            header = HfApi().parse_safetensors_file_metadata(model.name, file.name, revision=model.commit, timeout=30)
            shapes |= {name: tuple(tensor.shape) for name, tensor in header.tensors.items()}
    return shapes


def read_header(file: Path, name: str = "The model") -> dict[str, Any]:
    """The header of a safetensors file: 8 bytes of length, then JSON.

    Raises:
        InputError: it is not a safetensors file.
    """
    try:
        with file.open("rb") as content:
            length = int.from_bytes(content.read(8), "little")
            header = json.loads(content.read(length)) if length <= LONGEST_HEADER else None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.") from error
    if not isinstance(header, dict):
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.")
    return header


def disagreement(stored: Shapes, expected: Mapping[str, Iterable[int]], prefix: str) -> str | None:
    """How the weights differ from what the configuration asks for, as the end of a sentence; None if they agree.

    Args:
        stored: the shapes in the files.
        expected: the shapes of the model the configuration describes.
        prefix: the start of the tensor names, which some checkpoints leave out.
    """
    wanted = {name: tuple(shape) for name, shape in expected.items()}
    for name, shape in stored.items():
        spellings = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
        asked = next((wanted[spelling] for spelling in spellings if spelling in wanted), shape)
        if asked != shape:
            return f"its config.json makes {name} {_times(asked)}, but its weights have {_times(shape)}"
    total, held = sum(map(prod, wanted.values())), sum(map(prod, stored.values()))
    if total > held:
        return f"its config.json asks for {total:,} parameters, but its weights have {held:,}"
    return None


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"


def _shapes(file: Path, name: str) -> Shapes:
    header = read_header(file, name)
    try:
        return {name: tuple(map(int, entry["shape"])) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{name} is broken: {file.name} is not a safetensors file.") from error
