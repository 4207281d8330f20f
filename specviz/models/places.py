"""What a model's name means: a bundled model, a folder on this machine, or a model on the Hub."""

import re
from pathlib import Path

from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils._validators import validate_repo_id

from specviz.core.errors import InputError
from specviz.models.catalogue import bundled_names


def hub_id(name: str) -> str:
    """The name, if it has the form of a model on the Hub: owner/name, never a path.

    Raises:
        InputError: it has another form.
    """
    try:
        validate_repo_id(name)
        valid = re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None
    except HFValidationError:
        valid = False
    if not valid:
        known = ", ".join(bundled_names())
        raise InputError(f"There is no model named {name[:100]!r}: use {known}, a folder, or a Hub id (owner/name).")
    return name


def check_folder(name: str, folder: Path) -> None:
    """Refuse a folder without a model, or with pickled weights only. The sentence has the name as it was typed.

    Raises:
        InputError: the folder has no configuration, or no safetensors.
    """
    if not (folder / "config.json").is_file():
        raise InputError(f"{name} is not a model: it has no config.json.")
    if not any(folder.glob("*.safetensors")):
        raise InputError(f"{name} has no weights in safetensors, the only format that is loaded.")
