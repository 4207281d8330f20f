"""Characters that a tokenizer cuts over several tokens, shown as characters.

A token may be a part of a character. Its text then holds bytes, ⟨C3⟩, because alone it means nothing else. Beside the
tokens that follow it a reader wants the character: “ö”, of which this token is the first of two parts: ö(1/2).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

BYTE = re.compile(r"⟨([0-9A-F]{2})⟩")
LONGEST = 4  # bytes of a character in UTF-8


class _Item(NamedTuple):
    """A run of whole characters of one token, or one byte of it."""

    token: int
    text: str
    byte: int | None


def spelled(texts: Sequence[str]) -> list[str]:
    """The texts of consecutive tokens; a part of a cut character as the character and which part it is: ö(1/2).

    Bytes that are no whole character together stay bytes.
    """
    if not any("⟨" in text for text in texts):
        return list(texts)
    shown = [""] * len(texts)
    for items, character in _characters(texts):
        tokens = list(dict.fromkeys(item.token for item in items))
        for part, token in enumerate(tokens, start=1):
            shown[token] += character if len(tokens) == 1 else f"{character}({part}/{len(tokens)})"
    return shown


def merged(texts: Sequence[str]) -> list[str]:
    """The text of consecutive tokens, cut only where a character ends: tokens that share one come as one text."""
    pieces: list[str] = []
    last = -1
    for items, character in _characters(texts):
        if pieces and items[0].token <= last:
            pieces[-1] += character
        else:
            pieces.append(character)
        last = items[-1].token
    return pieces


def _characters(texts: Sequence[str]) -> Iterator[tuple[list[_Item], str]]:
    """What stands in the texts, in order: the items of a character or a run of them, and how it is written."""
    items = [item for token, text in enumerate(texts) for item in _items(token, text)]
    at = 0
    while at < len(items):
        length, written = _character_at(items, at)
        yield items[at : at + length], written
        at += length


def _items(token: int, text: str) -> Iterator[_Item]:
    parts = BYTE.split(text)  # every second one is the two digits of a byte
    for number, part in enumerate(parts):
        if number % 2:
            yield _Item(token, f"⟨{part}⟩", int(part, 16))
        elif part or len(parts) == 1:
            yield _Item(token, part, None)


def _character_at(items: list[_Item], at: int) -> tuple[int, str]:
    """How many items the character here has, and the character; one item, as it is, where its bytes are none."""
    values: list[int] = []
    for item in items[at : at + LONGEST]:
        if item.byte is None:
            break
        values.append(item.byte)
        try:
            return len(values), bytes(values).decode()
        except UnicodeDecodeError:
            continue
    return 1, items[at].text
