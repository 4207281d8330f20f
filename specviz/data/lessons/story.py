"""The guided story and its quiz: what a step says, shows and asks. The texts are in assets/texts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from specviz.core.request import RunRequest
from specviz.core.trace import Round, Trace
from specviz.data.lessons import recorded_runs
from specviz.data.permalink import link_of
from specviz.data.texts import AppTexts, Voices
from specviz.data.workloads import WORKLOADS

Place = Literal["start", "mixed", "full", "wasted", "drawn", "branch", "end"]  # a round of the run
Phase = Literal["propose", "check", "judge"]
Focus = Literal["timeline", "diagram", "transport", "accepted", "rejected", "bonus", "strip"]
# of the two models, of the target alone, of one pass over a draft, of a token drawn by lot, of what happens to its
# probabilities, of what a pass fetches, of what it fetches for many texts, and of when to stop drafting
Picture = Literal["way", "alone", "pass", "dice", "lossless", "weights", "texts", "stops"]
PHASES: tuple[Phase, ...] = ("propose", "check", "judge")


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
class Step:
    """One step of the story and the state it sets. Its texts are templates, filled by `facts_of(step.trace)`."""

    name: str  # used in links
    title: Voices
    text: Voices
    trace: str  # the recorded run it shows
    asks_at: tuple[Place, Phase]  # the playhead until the question is answered
    reveals_at: tuple[Place, Phase]  # the playhead after it
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


steps, quiz = AppTexts("story", tuple[Step, ...]), AppTexts("quiz", tuple[Question, ...])


def round_at(trace: Trace, place: Place) -> Round:
    """The round a place names; the first where a run has none of that kind."""
    found: Callable[[], Round | None] = {
        "start": lambda: trace.rounds[0],
        "end": lambda: trace.rounds[-1],
        "mixed": lambda: recorded_runs.mixed_round(trace),
        "full": lambda: recorded_runs.full_round(trace),
        "wasted": lambda: recorded_runs.wasted_round(trace),
        "drawn": lambda: recorded_runs.drawn_round(trace),
        "branch": lambda: recorded_runs.branch_round(trace),
    }[place]
    return found() or trace.rounds[0]


def request_of(trace: Trace) -> tuple[RunRequest, str | None]:
    assert trace.drafter is not None
    draft = trace.drafter.asked_as
    request = RunRequest(trace.prompt.text, trace.target.name, draft, "exact", trace.settings)
    named = (preset.name for kind in WORKLOADS for preset in kind.prompts if preset.text == trace.prompt.text)
    return request, next(named, None)


def watch_link(trace: Trace, step: int | None = None) -> dict[str, str]:
    request, preset = request_of(trace)
    return link_of(request, step, preset)
