"""From a person's words to a model's tokens: which guesses can be played, and how words join the text and are split."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from specviz.core.readable import spelled, whole_text
from specviz.core.texts import Sentences
from specviz.core.trace import DraftedToken, EmittedToken, Round

say = Sentences("guess")

MAX_CHARACTERS = 200  # sixteen tokens are about sixty
MARKS = re.compile(r"<\|\w*\|>|</?s>|<(?:pad|unk|eos|bos)>", re.IGNORECASE)  # special tokens of models
BINDS_LEFT = tuple(".,!?;:)]}%…’”")
OPENS = tuple("([{“‘-—/_#\n\t ")
CLITIC = re.compile(r"['’](s|t|d|m|ll|re|ve)\b", re.IGNORECASE)


def tidy(guess: str) -> str:
    """The guess with composed accents, single spaces but at the beginning of a line, and real line breaks.

    ⏎ or \\n is typed for one.
    """
    composed = unicodedata.normalize("NFC", guess).replace("⏎", "\n").replace("\\n", "\n")
    return re.sub(r"(?<!\s)[^\S\n]+", " ", composed.replace("\r\n", "\n")).rstrip(" ")


def guess_problem(guess: str, marks: Collection[str] = ()) -> str | None:
    """`marks`: special tokens of the model that is to read it."""
    if len(guess) > MAX_CHARACTERS:
        return say("too_long", count=len(guess))
    if not guess.strip() or not (text := tidy(guess)).strip(" \n"):
        return say("empty")
    wrong = {
        say("control"): any(map(_control, guess)),
        say("mark"): MARKS.search(guess) or any(mark in guess for mark in marks),
        say("foreign"): any(map(_foreign, text)),
        say("pictures"): any(map(_picture, text)),
    }
    return next((said for said, found in wrong.items() if found), None)


def _control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs", "Co", "Cn") and character not in "\t\n\r"


def _foreign(character: str) -> bool:
    is_letter = unicodedata.category(character)[0] == "L"
    return is_letter and not unicodedata.name(character, "").startswith(("LATIN", "FEMININE", "MASCULINE"))


def _picture(character: str) -> bool:
    """Not a letter, digit, common punctuation or ASCII: emoji, joiners, single accents, symbols."""
    return not character.isascii() and unicodedata.category(character)[0] not in "LNPZ" and character not in "€£§°×÷"


def joined(text: str, guess: str, inside_word: bool) -> str:
    if not text:  # an answer begins
        return guess.lstrip(" ")
    if guess.startswith((" ", "\n")):
        return guess
    if text.endswith(OPENS) or guess.startswith(BINDS_LEFT) or CLITIC.match(guess) or inside_word:
        return guess
    quotes_open = text.count('"') % 2 == 1
    at_quote = text.endswith('"') or guess.startswith('"')  # an opening quote before it, or a closing one
    return guess if quotes_open and at_quote else f" {guess}"


Fate = Literal["accepted", "part", "rejected", "discarded", "not taken"]


@dataclass(frozen=True, slots=True)
class GuessedWord:
    pieces: list[DraftedToken]

    @property
    def text(self) -> str:
        """The word for a sentence; bytes that are no whole character are shown as bytes."""
        word = whole_text([piece.shown for piece in self.pieces])
        return word.strip() or word

    @property
    def cut(self) -> str:
        return "|".join(text.strip() for text in spelled([piece.shown for piece in self.pieces]))

    @property
    def fate(self) -> Fate:
        """ "part": its first pieces were accepted, the rest was not."""
        statuses = [piece.status for piece in self.pieces]
        if len(set(statuses)) == 1:
            return statuses[0]
        return "part" if statuses[0] == "accepted" else "rejected"


def words_of(round: Round) -> list[GuessedWord]:
    """The drafted tokens of a chain, grouped into words; see `branches` for a tree."""
    words: list[list[DraftedToken]] = []
    for token in round.drafted:
        if words and _goes_on(words[-1][-1].shown, token.shown):
            words[-1].append(token)
        else:
            words.append([token])
    return [GuessedWord(pieces) for pieces in words]


def _goes_on(before: str, piece: str) -> bool:
    return bool(piece) and not piece[0].isspace() and _is_wordlike(before) and _is_wordlike(piece)


def _is_wordlike(piece: str) -> bool:
    """A piece of a word: letters, digits, an apostrophe, or bytes of a character."""
    return any(c.isalnum() for c in piece) or piece.strip() in ("'", "’")


def ends_inside_word(text: str, next_token: str) -> bool:
    return bool(text) and text[-1].isalpha() and next_token[:1].isalpha()


def whole_words(pieces: Sequence[str], most: int) -> int:
    """How many pieces to take so that they end with a whole word: at most `most` if possible."""
    ends = [i for i in range(1, len(pieces)) if not _goes_on(pieces[i - 1], pieces[i])]
    fitting = [end for end in ends if end <= most]
    return max(fitting, default=min(ends, default=len(pieces)))


TEXT = -1  # the parent of the first tokens
MOST_GUESSES = 2  # for one place


@dataclass(frozen=True, slots=True)
class Guesses:
    token_ids: list[int]
    parents: list[int] | None  # of a tree: the token that each one follows, TEXT for the first ones; None: a chain
    depth: int  # tokens of the longest guess


def joined_guesses(lines: Sequence[Sequence[int]]) -> Guesses:
    """The guesses as one draft: where they begin with the same tokens, these are drafted once."""
    token_ids: list[int] = []
    parents: list[int] = []
    node_of: dict[tuple[int, int], int] = {}  # by parent and token
    for line in lines:
        parent = TEXT
        for token_id in line:
            if (parent, token_id) not in node_of:
                node_of[parent, token_id] = len(token_ids)
                token_ids.append(token_id)
                parents.append(parent)
            parent = node_of[parent, token_id]
    is_chain = parents == list(range(-1, len(parents) - 1))
    return Guesses(token_ids, None if is_chain else parents, max(map(len, lines), default=0))


def branches(round: Round) -> list[Round]:
    """The round as chains: one for each guess of a tree, in the order in which they were written.

    The target's own token stands at the end of the first branch that holds the whole accepted path. These rounds are
    for reading: a branch may end without a token of the target.
    """
    if not round.is_tree:
        return [round]
    inner = {path[-2] for path in round.paths if len(path) > 1}
    paths = [path for path in round.paths if path[-1] not in inner]
    most = max(_accepted(round, path) for path in paths)
    found: list[Round] = []
    for path in paths:
        drafted = [replace(round.drafted[place], parent=None) for place in path]
        ends_here = _accepted(round, path) == most and all(one.emitted.id is None for one in found)
        emitted = round.emitted if ends_here else EmittedToken("none")
        found.append(replace(round, drafted=drafted, emitted=emitted))
    return found


def best_branch(round: Round) -> Round:
    return max(branches(round), key=lambda branch: branch.accepted)


def draft_text(round: Round) -> str:
    texts = [whole_text([token.shown for token in branch.drafted]) for branch in branches(round)]
    return texts[0] if len(texts) == 1 else " / ".join(text.strip() for text in texts)


def _accepted(round: Round, path: Sequence[int]) -> int:
    return sum(round.drafted[place].status == "accepted" for place in path)
