"""What safetensors files say of themselves: names, shapes and dtypes of the tensors in them, from the headers alone."""

import json
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi

from specviz.core.errors import InputError
from specviz.models.hub import HubModel, hub_errors, weights_in

Shapes = dict[str, tuple[int, ...]]  # by tensor name
LONGEST_HEADER = 25_000_000  # bytes, as the Hub has it


def shapes_in_folder(folder: Path) -> Shapes:
    """Shapes of the tensors of a model on disk.

    Raises:
        InputError: there are no weights, or a file is no safetensors file.
    """
    shapes: Shapes = {}
    for file in weights_in(folder):
        shapes |= _shapes(folder / file)
    return shapes


def shapes_on_hub(model: HubModel) -> Shapes:
    """Shapes of the tensors of a model on the Hub, from the first bytes of its weight files.

    Raises:
        InputError: the Hub cannot be reached, or a file is no safetensors file.
    """
    shapes: Shapes = {}
    with hub_errors(model.name):
        for file in model.weights:
            header = HfApi().parse_safetensors_file_metadata(model.name, file.name, revision=model.commit, timeout=30)
            shapes |= {name: tuple(tensor.shape) for name, tensor in header.tensors.items()}
    return shapes


def read_header(file: Path) -> dict[str, Any]:
    """The header of a safetensors file: 8 bytes of length, then JSON.

    Raises:
        InputError: it is no safetensors file.
    """
    try:
        with file.open("rb") as content:
            length = int.from_bytes(content.read(8), "little")
            header = json.loads(content.read(length)) if length <= LONGEST_HEADER else None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is no safetensors file.") from error
    if not isinstance(header, dict):
        raise InputError(f"{file} is no safetensors file.")
    return header


def disagreement(stored: Shapes, expected: Mapping[str, Iterable[int]], prefix: str) -> str | None:
    """What a configuration asks for that the weights do not hold, as the end of a sentence; None where they agree.

    Args:
        stored: the shapes in the files.
        expected: the shapes of the model the configuration describes.
        prefix: what some checkpoints leave out before their tensors' names, and others have.
    """
    wanted = {name: tuple(shape) for name, shape in expected.items()}
    for name, shape in stored.items():
        spellings = (name, f"{prefix}.{name}", name.removeprefix(f"{prefix}."))
        asked = next((wanted[spelling] for spelling in spellings if spelling in wanted), shape)
        if asked != shape:
            return f"its config.json makes {name} {_times(asked)}, and its weights hold {_times(shape)}"
    total, held = sum(map(prod, wanted.values())), sum(map(prod, stored.values()))
    if total > held:
        return f"its config.json asks for {total:,} parameters, and its weights hold {held:,}"
    return None


def _times(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "a number"


def _shapes(file: Path) -> Shapes:
    header = read_header(file)
    try:
        return {name: tuple(map(int, entry["shape"])) for name, entry in header.items() if name != "__metadata__"}
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file} is no safetensors file.") from error
