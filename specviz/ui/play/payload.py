"""What the game's two pictures get from Python, as types; see specviz/player/payload.py."""

from typing import Literal, TypedDict

from specviz.game.messages import Whose
from specviz.game.words import Fate
from specviz.player.payload import Chip, ShareRow


class TextPicture(TypedDict):
    """The text so far; `fresh` is what the last turn added."""

    kind: Literal["text"]
    label: str
    text: str
    fresh: str
    inside: bool
    focus: str
    busy: bool


class WordPayload(TypedDict):
    """A word of the draft, made of so many tokens."""

    text: str
    fate: Fate
    pieces: int


class GuessPayload(TypedDict):
    """One guess: its chips, the target's own token where it follows, and how its chips make words."""

    chips: list[Chip]
    words: list[WordPayload]


class RivalPayload(TypedDict):
    """What another drafter proposed at the same position."""

    name: str
    chips: list[Chip]
    more: str


class TurnPicture(TypedDict):
    """A draft and its verification."""

    kind: Literal["turn"]
    label: str
    title: str
    said: str
    spoken: bool
    guesses: list[GuessPayload]
    lines: list[str]
    asked: str
    wants: list[ShareRow]
    mine: Whose
    rivals: list[RivalPayload]


PlayPayload = TextPicture | TurnPicture
