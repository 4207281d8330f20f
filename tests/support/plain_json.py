"""Data as JSON: whether it reaches the browser as it is, and with another value in it."""

import json
from copy import deepcopy
from typing import Any


def is_plain_json(data: Any) -> bool:
    """No NaN, and nothing that JSON would turn into something else; a tuple becomes a list, as it should."""
    return bool(json.loads(json.dumps(data, allow_nan=False)) == _listed(data))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value


def with_value(data: Any, where: str, value: object) -> Any:
    """A copy with one value replaced; `where` is a path like rounds.0.index."""
    made = holder = deepcopy(data)
    *way, last = (int(step) if step.isdigit() else step for step in where.split("."))
    for step in way:
        holder = holder[step]
    holder[last] = value
    return made
