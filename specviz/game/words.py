"""Between a person's words and a model's tokens: what can be played, where words join the text, how they come apart."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specviz.core.trace import DraftedToken, Round, Status

MAX_CHARACTERS = 200  # sixteen tokens are about sixty
FREE = " Try again: it costs you nothing."
MARKS = re.compile(r"<\|\w*\|>|</?s>|<(?:pad|unk|eos|bos)>", re.IGNORECASE)  # how models spell their own marks
BINDS_LEFT = tuple(".,!?;:)]}%…’”")
OPENS = tuple("([{“‘-—/_#\n\t ")
CLITIC = re.compile(r"['’](s|t|d|m|ll|re|ve)\b", re.IGNORECASE)


def tidy(guess: str) -> str:
    """What was typed, accents composed, spaces and line breaks as the models know them (⏎ or \\n is a line break)."""
    composed = unicodedata.normalize("NFC", guess).replace("⏎", "\n").replace("\\n", "\n")
    return re.sub(r"[^\S\n]+", " ", composed.replace("\r\n", "\n")).rstrip(" ")


def guess_problem(guess: str) -> str | None:
    """One kind sentence that says why this cannot be played; None when it can."""
    if len(guess) > MAX_CHARACTERS:
        return f"That is a lot of text ({len(guess):,} characters): a draft is only the next few words.{FREE}"
    if not guess.strip():
        return f"Nothing to check yet: type the next word or two.{FREE}"
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co", "Cn") and c not in "\t\n\r" for c in guess):
        return f"There are characters in it that are no text (control characters): type plain words.{FREE}"
    if MARKS.search(guess):
        return f"That is a mark the models use inside, not something a story says: type words.{FREE}"
    text = tidy(guess)
    if any(_foreign(c) for c in text):
        return f"These small models have only ever read the Latin alphabet: go on in English words.{FREE}"
    if any(_picture(c) for c in text):
        return f"These small models read words, not pictures or special signs: type plain words.{FREE}"
    if not text.strip(" \n"):
        return f"Nothing to check yet: type the next word or two.{FREE}"
    return None


def _foreign(character: str) -> bool:
    is_letter = unicodedata.category(character)[0] == "L"
    return is_letter and not unicodedata.name(character, "").startswith(("LATIN", "FEMININE", "MASCULINE"))


def _picture(character: str) -> bool:
    """Neither letter, digit, common punctuation nor ASCII: emoji, joiners, stray accents, dingbats."""
    return not character.isascii() and unicodedata.category(character)[0] not in "LNPZ" and character not in "€£§°×÷"


def joined(text: str, guess: str, inside_word: bool) -> str:
    """What is added to the text: the guess, with the space that belongs before it.

    Args:
        text: the text so far.
        guess: what `tidy` made.
        inside_word: the text ends in the middle of a word.
    """
    if guess.startswith((" ", "\n")):
        return guess
    if not text or text.endswith(OPENS) or guess.startswith(BINDS_LEFT) or CLITIC.match(guess) or inside_word:
        return guess
    quotes_open = text.count('"') % 2 == 1
    if text.endswith('"') and quotes_open:  # it opens what is said
        return guess
    if guess.startswith('"') and quotes_open:  # it closes it
        return guess
    return f" {guess}"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a draft, in the model's pieces."""

    pieces: list[DraftedToken]

    @property
    def text(self) -> str:
        """For a sentence; pieces that are bytes stand as such."""
        return "".join(piece.text for piece in self.pieces).strip() or "".join(piece.text for piece in self.pieces)

    @property
    def cut(self) -> str:
        """ "rab|bit"."""
        return "|".join(piece.text.strip() for piece in self.pieces)

    @property
    def fate(self) -> Status | Literal["part"]:
        """ "part": its first pieces were accepted, the rest was not."""
        statuses = [piece.status for piece in self.pieces]
        if len(set(statuses)) == 1:
            return statuses[0]
        return "part" if statuses[0] == "accepted" else "rejected"


def words_of(round: Round) -> list[Word]:
    """A round's drafted tokens, put together to words."""
    words: list[list[DraftedToken]] = []
    for token in round.drafted:
        if words and _goes_on(words[-1][-1].text, token.text):
            words[-1].append(token)
        else:
            words.append([token])
    return [Word(pieces) for pieces in words]


def _goes_on(before: str, piece: str) -> bool:
    if not piece or piece[0].isspace():
        return False
    return _is_wordlike(before) and _is_wordlike(piece)


def _is_wordlike(piece: str) -> bool:
    """A piece of a word: letters, digits, an apostrophe, or bytes of a character."""
    return any(c.isalnum() for c in piece) or piece.strip() in ("'", "’")


def ends_inside_word(text: str, likeliest: str) -> bool:
    """Whether the target's likeliest next token goes on the text's last word."""
    return bool(text) and text[-1].isalpha() and likeliest[:1].isalpha()


def whole_words(pieces: Sequence[str], most: int) -> int:
    """How many of the pieces to keep so that what is left ends with a word, at most `most` where that can be."""
    ends = [i for i in range(1, len(pieces)) if not _goes_on(pieces[i - 1], pieces[i])]
    fitting = [end for end in ends if end <= most]
    return max(fitting, default=min(ends, default=len(pieces)))
