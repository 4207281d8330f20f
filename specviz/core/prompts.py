"""What a prompt may be, before it is tokenized. The decoder checks later whether it fits the context window."""

import unicodedata

MAX_PROMPT_CHARACTERS = 20_000  # far more than any bundled context window; it stops a pasted megabyte


def prompt_problem(text: str) -> str | None:
    """One sentence that says why `text` cannot be a prompt; None if it can."""
    if len(text) > MAX_PROMPT_CHARACTERS:
        return f"The prompt is too long: {len(text):,} characters, and at most {MAX_PROMPT_CHARACTERS:,} are allowed."
    if not text.strip():
        return "The prompt is empty: write a few words for the models to continue."
    if not any(map(_visible, text)):
        return "The prompt contains only control characters: write a few words for the models to continue."
    if any(unicodedata.category(character) == "Cs" for character in text):
        return "The prompt contains half a character (a lone surrogate) and cannot be read as text."
    return None


def _visible(character: str) -> bool:
    """Not a control, format, surrogate or unassigned character (C), nor any kind of space (Z)."""
    return unicodedata.category(character)[0] not in "CZ"
