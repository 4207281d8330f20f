"""Measurements that are stored with the app as JSON, read into their types."""

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError

KIND = TypeVar("KIND")


def read_stored(path: Path, kind: type[KIND], what: str) -> KIND:
    """What the file holds; InputError if it is missing, damaged or no `kind`. `what` it is, as in "the sweep"."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError) as error:
        raise InputError(f"{path.name}, {what}, cannot be read: {type(error).__name__}.") from error
