"""The tour of a first visit: six beats on the recorded first run. Each shows one idea and waits until the visitor acts.

The texts are in assets/texts/tour.yaml. They get their tokens and counts from the run, so they stay true when it is
recorded again. What the visitor did, such as `{token}` in `did`, is filled in by the stage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from specviz.core.metrics import count
from specviz.core.names import in_words
from specviz.core.trace import DraftedToken, Round, Trace
from specviz.data.lessons.recorded_runs import full_round, mixed_round
from specviz.data.lessons.story import Phase
from specviz.data.texts import AppTexts, fill

# stepped to the check; chose a guess; opened a rejected token; reached a round without a wrong guess; released the
# slider at `least` or more; saw the end of the run
Until = Literal["checked", "guessed", "opened", "full", "length", "ended"]
Light = Literal["guesses", "transport", "rejected", "rounds", "bonus", "draft-length", "play"]
LAST_ROUNDS = 6  # of the run, which the last beat plays
DONE = ("token", "round", "drafted", "length", "passes", "wasted")  # filled in by the stage


@dataclass(frozen=True, slots=True)
class Beat:
    until: Until  # what the visitor does to go on
    says: str
    asks: str
    keys: str  # the same by keyboard
    did: Mapping[str, str]  # what the visitor did, by its outcome: the next beat begins with it
    place: Literal["mixed", "full", "last"]  # where the playhead stands: a round of the run
    phase: Phase
    lights: tuple[Light, ...]  # the parts of the stage that it is about
    moves: bool = False  # whether the playhead goes there even where the visitor stands somewhere else
    least: int = 0  # of "length": the draft length to reach
    round: int = 0  # the index of that round; no file sets it


@dataclass(frozen=True, slots=True)
class Next:
    page: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Tour:
    beats: tuple[Beat, ...]
    end: str
    next: tuple[Next, ...]


tour_texts = AppTexts("tour", Tour)


def tour_of(trace: Trace) -> Tour | None:
    facts, rounds = tour_facts(trace), _places(trace)
    if facts is None or rounds is None:
        return None
    tour, beats = tour_texts(), list[Beat]()
    for beat in tour.beats:
        known = {**facts, "least": str(beat.least)}
        did = {outcome: fill(text, known) for outcome, text in beat.did.items()}
        place = rounds[beat.place].index
        beats.append(replace(beat, says=fill(beat.says, known), asks=fill(beat.asks, known), did=did, round=place))
    return replace(tour, beats=tuple(beats), end=fill(tour.end, facts))


def tour_facts(trace: Trace) -> dict[str, str] | None:
    rounds = _places(trace)
    if rounds is None:
        return None
    mixed, counts = rounds["mixed"], count(trace.rounds)
    return {
        **{name: f"{{{name}}}" for name in DONE},
        "guesses": in_words(len(mixed.drafted)),
        "guessed": _quoted(mixed.drafted),
        "kept": _quoted(mixed.drafted[: mixed.accepted]),
        "failed": _quoted(mixed.drafted[mixed.accepted : mixed.accepted + 1]),
        "own": f"“{mixed.emitted.text.strip()}”",
        "draft_length": str(trace.settings.draft_length),
        "run_passes": str(len(trace.rounds)),
        "run_wasted": str(counts.rejected + counts.discarded),
        "run_tokens": str(counts.emitted),
    }


def _places(trace: Trace) -> dict[str, Round] | None:
    mixed = mixed_round(trace)
    full = full_round(trace, mixed.index) if mixed else None
    if mixed is None or full is None or len(trace.rounds) <= LAST_ROUNDS:
        return None
    return {"mixed": mixed, "full": full, "last": trace.rounds[-LAST_ROUNDS]}


def _quoted(tokens: Sequence[DraftedToken]) -> str:
    return f"“{''.join(token.shown for token in tokens).strip()}”"
