"""Numbers in pasted text: each is checked, and a refused one is named in one sentence."""

import math
import re
from collections.abc import Iterable

from specviz.core.errors import InputError

LONGEST = 400  # characters
MOST = 1e15  # no server counts further; a longer number is a mistake or an attack


def number(value: object, name: str) -> float:
    """The value as a float.

    Raises:
        InputError: it is not a number from 0 to `MOST`; the sentence shows a short, harmless piece of it.
    """
    try:
        usable = not isinstance(value, bool) and len(str(value)) < LONGEST
        found = float(str(value).rstrip("%")) if usable else math.nan
    except ValueError:
        found = math.nan
    if not 0 <= found <= MOST:  # written so that nan fails
        raise InputError(f"{name[:60]} is {shown(str(value))}, which is not a number from 0 to 10¹⁵.")
    return found


def numbers(texts: Iterable[str], name: str) -> tuple[float, ...]:
    """All of them, without the empty ones."""
    return tuple(number(text.strip(), name) for text in texts if text.strip())


def field(text: str, pattern: str, name: str = "A figure in the text") -> float | None:
    """The last number that the pattern finds."""
    found = re.findall(pattern, text)
    return number(found[-1], name) if found else None


def shown(text: str) -> str:
    """A short piece of what was pasted, without characters that a page could read as markup."""
    return "“" + re.sub(r"[^\w.+-]", "?", text[:20]) + ("…”" if len(text) > 20 else "”")


def whole(value: float, relative_error: float) -> float:
    """The nearest whole number where the value cannot be told from it, else the value."""
    nearest = round(value)
    return float(nearest) if nearest and abs(value - nearest) <= relative_error * value else value
