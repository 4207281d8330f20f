"""What the Race page's lanes get from Python, as types; see specviz/player/payload.py."""

from typing import Literal, TypedDict

LaneStatus = Literal["plain", "accepted", "correction", "bonus", "own"]
LaneName = Literal["target alone", "speculative"]
Step = tuple[float, list[tuple[str, LaneStatus]]]  # ms, and the tokens written then: text and status


class LanePayload(TypedDict):
    """One decoder on one prompt. Times are milliseconds from the end of the prompt."""

    name: LaneName
    tokens: int
    end: float
    steps: list[Step]
    flag: str


class LapPayload(TypedDict):
    """Both decoders on one prompt."""

    name: str
    prompt: str
    lanes: list[LanePayload]
    result: str
    wins: Literal["plain", "speculative"] | None


class RacePayload(TypedDict):
    """Everything the lanes draw."""

    run_id: str
    badge: str
    place: float | None
    end: float
    slower: int
    choices: list[int]
    laps: list[LapPayload]
