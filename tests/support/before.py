"""What an earlier version read in files and links, and whether a newer one still does."""

from pathlib import Path
from typing import Any

BEFORE = Path(__file__).parents[1] / "fixtures" / "before"


def holds(new: Any, old: Any) -> bool:
    """Whether everything of `old` is in `new`; a newer version may say more."""
    if isinstance(old, dict):
        return isinstance(new, dict) and all(key in new and holds(new[key], value) for key, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(new) == len(old) and all(map(holds, new, old))
    return bool(new == old)
