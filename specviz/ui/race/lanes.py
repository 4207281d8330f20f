"""The lanes: recorded times played back, two decoders side by side. What draws them is in assets/browser/race/."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Literal, TypedDict

from specviz.core.metrics import autoregressive_clock
from specviz.core.names import pair_name, prompt_words
from specviz.core.readable import readable, spelled
from specviz.core.rounds import known_seconds
from specviz.data.texts import page_texts
from specviz.measure.paired import Comparison
from specviz.measure.race import burst_texts
from specviz.ui.shared.components import component, ignore_change

LaneStatus = Literal["plain", "accepted", "correction", "bonus", "own"]
LaneName = Literal["target alone", "speculative"]
LaneStep = tuple[float, list[tuple[str, LaneStatus]]]  # ms, and the tokens written then: text and status


class LanePayload(TypedDict):
    """One decoder on one prompt. Times are milliseconds from the end of the prompt."""

    name: LaneName
    tokens: int
    end: float
    steps: list[LaneStep]
    flag: str  # beside its time: the verdict, of the speculative one


class LapPayload(TypedDict):
    name: str
    prompt: str
    lanes: list[LanePayload]
    result: str


class RacePayload(TypedDict):
    run_id: str
    pair: str
    badge: str
    place: float | None
    end: float
    slower: int
    choices: list[int]
    laps: list[LapPayload]


SAYS = page_texts("race")
SLOWER = (1, 2, 4, 10, 20)  # how many times slower than measured
WANTED_SECONDS = 8.0  # a race on screen should last about this long
SHOWN_PROMPT = 90  # characters
MAX_PLACE = 10_000_000.0  # ms


def lanes_data(laps: Sequence[Comparison], *, run_id: str, badge: str, place: float | None) -> RacePayload:
    """Everything the lanes draw, of one repeat; times are milliseconds from the end of the prompt."""
    shown = [_lap(lap) for lap in laps]
    end = max(lane["end"] for lap in shown for lane in lap["lanes"])
    return {
        "run_id": run_id,
        "pair": describe_pair(laps[0]),
        "badge": badge,
        "place": place,
        "end": end,
        "slower": slow_motion(end / 1000),
        "choices": list(SLOWER),
        "laps": shown,
    }


def describe_pair(lap: Comparison) -> str:
    settings = lap.speculative.settings
    figures = {"gamma": settings.draft_length, "manner": settings.manner, "temperature": settings.temperature}
    return SAYS["pair_in_lanes"].format(pair=pair_name(lap.speculative), **figures)


def slow_motion(seconds: float) -> int:
    """How many times slower to play a race of so many seconds, so that it lasts about `WANTED_SECONDS`."""
    return min(SLOWER, key=lambda factor: abs(seconds * factor - WANTED_SECONDS))


def _lap(lap: Comparison) -> LapPayload:
    verdict, alone = lap.verdict, lap.plain.autoregressive
    assert alone is not None
    plain = [[(text, "plain")] for text in spelled(lap.plain_tokens)]
    bursts = burst_texts(readable(lap.speculative))
    clock = accumulate(known_seconds(round.seconds) for round in lap.speculative.rounds)
    lanes = [
        _lane("target alone", autoregressive_clock(alone, len(alone.token_ids))[1:], plain, len(plain), ""),
        _lane("speculative", clock, bursts, len(lap.speculative.output.token_ids), verdict.headline),
    ]
    shown = prompt_words(lap.plain, SHOWN_PROMPT)
    return {"name": lap.name, "prompt": shown, "lanes": lanes, "result": verdict.headline}


def _lane(
    name: LaneName, clock: Iterable[float], texts: Iterable[Sequence[Any]], tokens: int, flag: str
) -> LanePayload:
    steps: list[LaneStep] = [(round(1000 * at, 3), [*burst]) for at, burst in zip(clock, texts, strict=True)]
    return {"name": name, "tokens": tokens, "end": steps[-1][0], "steps": steps, "flag": flag}


STYLES = ("stage/stage.css", "race/race.css", "stage/paper.css")
_LANES = component("specviz_race", "race/race.html", STYLES, "race/race")


def race_lanes(data: RacePayload, key: str) -> float | None:
    """Mount the lanes; returns the time on the clock (ms) at which the visitor last stopped, None before that."""
    result = _LANES(key=key, data=data, on_place_change=ignore_change)
    place = result.get("place")
    return float(place) if type(place) in (int, float) and 0 <= place < MAX_PLACE else None
