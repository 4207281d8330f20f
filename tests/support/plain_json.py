"""Whether data reaches the browser as it is."""

import json
from typing import Any


def is_plain_json(data: Any) -> bool:
    """No NaN, and nothing that JSON would turn into something else; a tuple becomes a list, as it should."""
    return bool(json.loads(json.dumps(data, allow_nan=False)) == _listed(data))


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(part) for name, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value
