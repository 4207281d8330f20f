"""What the vocabulary component gets from Python, as types; see specviz/player/payload.py."""

from typing import Literal, TypedDict

from specviz.player.payload import Chip

BarKind = Literal["draft", "verify", "wasted"]
TimeBar = tuple[str, float, BarKind]  # what took the time, ms, the colour


class RoundPicture(TypedDict):
    """A recorded round; the chips that the word is about have a ring."""

    kind: Literal["round"]
    alt: str
    chips: list[Chip]
    ringed: list[int]


class TimesPicture(TypedDict):
    """Recorded times as bars on one scale."""

    kind: Literal["times"]
    alt: str
    bars: list[TimeBar]


class EntryLink(TypedDict):
    """Where the word can be seen in a run."""

    label: str
    href: str


class EntryPayload(TypedDict):
    """One word with its sentence, and a picture where there is one."""

    id: str
    name: str
    symbol: str
    text: str
    figure: str
    link: EntryLink
    picture: RoundPicture | TimesPicture | None


class VocabularyPayload(TypedDict):
    """All words."""

    words: list[EntryPayload]
