"""What a prompt may be before anything is tokenised; whether it fits the context window the decoder checks."""

import unicodedata

MAX_PROMPT_CHARACTERS = 20_000  # far beyond any bundled context window; a pasted megabyte stops here


def prompt_problem(text: str) -> str | None:
    """One sentence that says why `text` cannot be a prompt; None when it can."""
    if len(text) > MAX_PROMPT_CHARACTERS:
        return f"The prompt is too long: {len(text):,} characters, and at most {MAX_PROMPT_CHARACTERS:,} are taken."
    if not text.strip():
        return "The prompt is empty: write a few words for the models to continue."
    if not any(map(_visible, text)):
        return "The prompt holds only control characters: write a few words for the models to continue."
    if any(unicodedata.category(character) == "Cs" for character in text):
        return "The prompt holds half a character (a lone surrogate) and cannot be read as text."
    return None


def _visible(character: str) -> bool:
    """Not a control, format, surrogate or unassigned character (C), nor any kind of space (Z)."""
    return unicodedata.category(character)[0] not in "CZ"
