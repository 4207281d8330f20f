"""A student's name, as a class shows it: short, on one line, and only text."""

import unicodedata

MAX_NAME = 24  # characters
_MARKS = 2  # of accents on one letter: more would reach into the lines above and below


def tidy_name(typed: str) -> str:
    """The name without control characters, marks that turn the direction of writing, and towers of accents."""
    letters: list[str] = []
    marks = 0
    for char in unicodedata.normalize("NFC", typed[: 8 * MAX_NAME]):
        kind = unicodedata.category(char)
        marks = marks + 1 if kind[0] == "M" else 0
        if kind[0] in "ZC":
            letters.append(" " if char.isspace() else "")
        elif marks <= _MARKS:
            letters.append(char)
    return " ".join("".join(letters).split())[:MAX_NAME].strip()
