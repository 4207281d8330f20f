"""The text of each token where a record has only the whole text: from a tokenizer, or cut into as many pieces."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

from specviz.core.errors import InputError
from specviz.data.importers.steps import Written

CUT = (
    "The record has no tokens, only the text: it is cut into as many pieces as there are tokens, so where a piece "
    "begins is a guess. A tokenizer (--tokenizer) gives the real ones."
)
CUT_WITH_IDS = CUT.replace("no tokens, only the text", "token ids, but no text of a token")
_WORD = re.compile(r"\s*\w+|\s*[^\w\s]+|\s+")


class Tokenizer(Protocol):
    """What is needed of the target's tokenizer."""

    def texts(self, token_ids: Sequence[int]) -> list[str]:
        """The text of each id, as traces have it."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, without special tokens."""


def cut(text: str, count: int) -> list[str]:
    """The text in `count` pieces of about the same length, cut where a word begins if one begins near."""
    starts = [match.start() for match in _WORD.finditer(text)]
    cuts = [0]
    for number in range(1, count):
        least, most = cuts[-1] + 1, len(text) - (count - number)
        wanted = number * len(text) / count
        place = bisect_left(starts, wanted)
        near = [start for start in starts[max(0, place - 1) : place + 1] if least <= start <= most]
        best = min(near, key=lambda start: abs(start - wanted), default=round(wanted))
        close = abs(best - wanted) <= len(text) / count
        cuts.append(max(min(best if close else round(wanted), most), min(least, len(text))))
    return [text[start:end] for start, end in pairwise([*cuts, len(text)])]


def tokens_of_text(text: str, count: int, tokenizer: Tokenizer | None, *, ended: bool) -> tuple[list[Written], str]:
    """The `count` tokens of a text, and a note where they are not the real ones.

    Args:
        text: what was written, without special tokens.
        count: how many tokens that were; one more than the text has where the end of text was one (`ended`).
        tokenizer: of the target; None cuts the text.
        ended: whether an end of text was written.

    Raises:
        InputError: the tokenizer makes another number of tokens of the text.
    """
    if tokenizer is None:
        return [Written(piece) for piece in cut(text, count)], CUT
    ids = tokenizer.encode(text)
    if len(ids) != count and not (ended and len(ids) == count - 1):
        raise InputError(
            f"The tokenizer makes {len(ids):,} tokens of the text, but the record counts {count:,}: it is another "
            "model’s, or the text is not whole."
        )
    pieces = [*tokenizer.texts(ids), ""][:count]
    note = "The ids are not in the record: the tokenizer made the tokens again from the text."
    return [Written(piece) for piece in pieces], note


def tokens_of_ids(token_ids: Sequence[int], text: str, tokenizer: Tokenizer | None) -> tuple[list[Written], str]:
    """The tokens with these ids, and a note where their texts are not the real ones."""
    texts = tokenizer.texts(token_ids) if tokenizer else cut(text, len(token_ids))
    written = [Written(piece, token_id) for piece, token_id in zip(texts, token_ids, strict=True)]
    return written, "" if tokenizer else CUT_WITH_IDS
