"""The guided story and its quiz, and the tour of a first visit: what a step says, shows and asks.

The texts are in assets/texts. The tour has six beats on the recorded first run. Each shows one idea and waits until the
visitor acts. Its texts get their tokens and counts from the run, so they stay true when it is recorded again. What the
visitor did, such as `{token}` in `did`, is filled in by the stage.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from specviz.core.metrics import count
from specviz.core.request import RunRequest
from specviz.core.texts import AppTexts, Voices, fill, spell_count
from specviz.core.trace import DraftedToken, Round, Trace
from specviz.data.lessons import recorded_runs
from specviz.data.links.permalink import link_of
from specviz.data.texts import quoted

StoryPlace = Literal["start", "mixed", "full", "wasted", "drawn", "branch", "end"]  # a round of the run
Phase = Literal["propose", "check", "judge"]
Focus = Literal["timeline", "diagram", "transport", "accepted", "rejected", "bonus", "strip"]
# of the two models, of the target alone, of one pass over a draft, of a token drawn by lot, of what happens to its
# probabilities, of what a pass fetches, of what it fetches for many texts, and of when to stop drafting
Picture = Literal["way", "alone", "pass", "dice", "lossless", "weights", "texts", "stops"]
PHASES: tuple[Phase, ...] = ("propose", "check", "judge")
# stepped to the check; chose a guess; opened a rejected token; reached a round without a wrong guess; released the
# slider at `least` or more; saw the end of the run
Until = Literal["checked", "guessed", "opened", "full", "length", "ended"]
Light = Literal["guesses", "transport", "rejected", "rounds", "bonus", "draft-length", "play"]
LAST_ROUNDS = 6  # of the run, which the last beat plays
DONE = ("token", "round", "drafted", "length", "passes", "wasted")  # filled in by the stage


@dataclass(frozen=True, slots=True)
class Option:
    text: Voices
    meaning: Voices
    right: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """The visitor predicts first, then sees why. Exactly one option is right."""

    text: Voices
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        if sum(option.right for option in self.options) != 1:
            raise ValueError("exactly one option has “right: true”")

    @property
    def right(self) -> int:
        return next(i for i, option in enumerate(self.options) if option.right)


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One step of the story and the state it sets. Its texts are templates, filled by `facts_of(step.trace)`."""

    name: str  # used in links
    title: Voices
    text: Voices
    trace: str  # the recorded run it shows
    asks_at: tuple[StoryPlace, Phase]  # the playhead until the question is answered
    reveals_at: tuple[StoryPlace, Phase]  # the playhead after it
    focus: Focus  # the part of the stage that is marked
    question: Question
    picture: Picture = "way"

    @property
    def run(self) -> Trace:
        return recorded_runs.story_trace(self.trace)

    @property
    def shown(self) -> Trace:
        return recorded_runs.target_alone(self.run) if self.picture == "alone" else self.run

    @property
    def phases(self) -> tuple[Phase, ...]:
        return PHASES[-1:] if self.picture == "alone" else PHASES

    def playhead(self, answered: bool) -> int:
        return self._place(self.shown, self.phases, answered)

    @property
    def live_playhead(self) -> int:
        return self._place(self.run, PHASES, answered=True)

    def _place(self, trace: Trace, phases: tuple[Phase, ...], answered: bool) -> int:
        place, phase = self.reveals_at if answered else self.asks_at
        return len(phases) * round_at(trace, place).index + phases.index(phase)


steps, quiz = AppTexts("story", tuple[StoryStep, ...]), AppTexts("quiz", tuple[Question, ...])


def round_at(trace: Trace, place: StoryPlace) -> Round:
    """The round a place names; the first where a run has none of that kind."""
    found: Callable[[], Round | None] = {
        "start": lambda: trace.rounds[0],
        "end": lambda: trace.rounds[-1],
        "mixed": lambda: recorded_runs.mixed_round(trace),
        "full": lambda: recorded_runs.full_round(trace),
        "wasted": lambda: max(trace.rounds, key=lambda round: round.rejected + round.discarded),
        "drawn": lambda: recorded_runs.drawn_round(trace),
        "branch": lambda: recorded_runs.branch_round(trace),
    }[place]
    return found() or trace.rounds[0]


def request_of(trace: Trace) -> RunRequest:
    assert trace.drafter is not None
    return RunRequest(trace.prompt.text, trace.target.name, trace.drafter.asked_as, trace.settings)


def watch_link(trace: Trace, step: int | None = None) -> dict[str, str]:
    return link_of(request_of(trace), step)


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
class NextPage:
    page: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Tour:
    beats: tuple[Beat, ...]
    end: str
    next: tuple[NextPage, ...]


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
        "guesses": spell_count(len(mixed.drafted)),
        "guessed": _quoted(mixed.drafted),
        "kept": _quoted(mixed.drafted[: mixed.accepted]),
        "failed": _quoted(mixed.drafted[mixed.accepted : mixed.accepted + 1]),
        "own": quoted(mixed.emitted.text.strip()),
        "draft_length": str(trace.settings.draft_length),
        "run_passes": str(len(trace.rounds)),
        "run_wasted": str(counts.rejected + counts.discarded),
        "run_tokens": str(counts.emitted),
    }


def _places(trace: Trace) -> dict[str, Round] | None:
    mixed = recorded_runs.mixed_round(trace)
    full = recorded_runs.full_round(trace, mixed.index) if mixed else None
    if mixed is None or full is None or len(trace.rounds) <= LAST_ROUNDS:
        return None
    return {"mixed": mixed, "full": full, "last": trace.rounds[-LAST_ROUNDS]}


def _quoted(tokens: Sequence[DraftedToken]) -> str:
    return quoted("".join(token.shown for token in tokens).strip())
