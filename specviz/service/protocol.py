"""What the server and the engine say to each other: one JSON object for each line, tagged with `type`.

Commands go to the engine's stdin, events come from its stdout. A number names the job each is about. The server
sends a job only when the engine is idle, so the engine has one at a time.

A job is a run, a calibration, or a task. A task answers with items, one event class for each kind. A job that gives
way goes on later after the items already sent: the command's `done` says how many those are.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.request import RunRequest
from specviz.core.settings import DraftSchedule
from specviz.core.trace import Autoregressive, Output, Round, Trace
from specviz.game.game import Ask, Turn
from specviz.measure.proof.rows import BATCHES, MOST_DRAWS, DrawBatch, GreedyRow
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.measure.race import MAX_REPEATS, RaceLap, RacePrompt
from specviz.measure.sweep.plan import SweepPlan
from specviz.measure.sweep.rows import SweepRow

MAX_DRAFTS = 8  # in one GuessAlong


class OfOnePair:
    """A command about one request: the models it needs, and what the visitor wrote."""

    __slots__ = ()
    request: RunRequest

    @property
    def models(self) -> set[str]:
        """Names of the models it decodes with."""
        return {self.request.target, self.request.draft}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Targets, and what drafts for them."""
        return [(self.request.target, self.request.draft)]

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [self.request.prompt]


@dataclass(frozen=True, slots=True)
class Run(OfOnePair):
    """Decode speculatively and with the target alone, in turns."""

    job: int
    request: RunRequest
    type: Literal["run"] = "run"


@dataclass(frozen=True, slots=True)
class Calibrate(OfOnePair):
    """Measure what a pair costs. Only the request's models and precision are used."""

    job: int
    request: RunRequest
    type: Literal["calibrate"] = "calibrate"


@dataclass(frozen=True, slots=True)
class Race(OfOnePair):
    """Time both decoders alternately on every prompt; one `LapRaced` a prompt. The request's own prompt is not used."""

    job: int
    request: RunRequest
    prompts: list[RacePrompt]
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 5
    done: int = 0
    type: Literal["race"] = "race"

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [prompt.text for prompt in self.prompts]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Measure the plan's cells; one `CellSwept` each."""

    job: int
    plan: SweepPlan
    done: int = 0
    type: Literal["sweep"] = "sweep"

    @property
    def models(self) -> set[str]:
        """Names of the models it decodes with."""
        return {name for pair in self.plan.pairs for name in pair.models}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Targets, and what drafts for them."""
        return [(pair.target, pair.draft) for pair in self.plan.pairs]

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [prompt.text for prompt in self.plan.prompts]


@dataclass(frozen=True, slots=True)
class GuessAlong(OfOnePair):
    """Decode greedily with the target alone; one `DraftGuessed` for each draft, with its guesses along that output.

    The request's own draft is not used.
    """

    job: int
    request: RunRequest
    drafts: Annotated[list[str], Field(max_length=MAX_DRAFTS)]
    done: int = 0
    type: Literal["guess along"] = "guess along"

    @property
    def models(self) -> set[str]:
        """Names of the models it needs."""
        return {self.request.target, *self.drafts}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Targets, and what drafts for them."""
        return [(self.request.target, draft) for draft in self.drafts]


@dataclass(frozen=True, slots=True)
class Prove(OfOnePair):
    """Draw the token at a position many times, by a rule and plainly; one `BatchDrawn` for each tenth of the draws."""

    job: int
    request: RunRequest
    rule: RuleName
    position: Position
    draws: Annotated[int, Field(ge=BATCHES, le=MOST_DRAWS)]
    done: int = 0
    type: Literal["prove"] = "prove"


@dataclass(frozen=True, slots=True)
class CompareGreedy(OfOnePair):
    """Decode prompts greedily both ways and compare id for id; one `PromptCompared` for each prompt."""

    job: int
    request: RunRequest
    presets: list[str]  # names; if empty, the request's own prompt is compared
    half: bool = False  # the target in bfloat16, where near-ties are common; bundled models only
    forgets: bool = False  # a target whose cache forgets a row: the comparison must find it
    done: int = 0
    type: Literal["compare greedy"] = "compare greedy"


@dataclass(frozen=True, slots=True)
class Play(OfOnePair):
    """Verify what a person drafts at one place of a text; one `TurnPlayed`.

    Of the request only the models, the prompt and the seed are used; the seed shuffles the candidates.
    """

    job: int
    request: RunRequest
    ask: Ask
    done: int = 0
    type: Literal["play"] = "play"

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [self.request.prompt, self.ask.guess, self.ask.second]


@dataclass(frozen=True, slots=True)
class Stop:
    """End this job. The engine answers with Stopped, unless the job ended before."""

    job: int
    type: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine has imported what it needs and loaded the default pair."""

    versions: dict[str, str]  # of torch and transformers
    type: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Loading:
    """A model this job needs is not in memory yet."""

    job: int
    model: str
    bytes_done: int = 0  # of its download; both are 0 where there is nothing to download, or that is not known yet
    bytes_total: int = 0
    type: Literal["loading"] = "loading"


@dataclass(frozen=True, slots=True)
class Started:
    """Everything is loaded; a run has read its prompt, and `trace` is its trace before the first round."""

    job: int
    trace: Trace | None = None  # None for a calibration
    type: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rounds and the plain steps since the last message, and the whole speculative output so far."""

    job: int
    rounds: list[Round]
    output: Output
    plain: Autoregressive | None = None  # the steps of the target alone; None where there were none
    type: Literal["rounds"] = "rounds"


@dataclass(frozen=True, slots=True)
class Comparing:
    """The target alone has written this many tokens of a text that a task needs."""

    job: int
    tokens: int
    type: Literal["comparing"] = "comparing"


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over."""

    job: int
    text: str  # what the target alone wrote
    draft_guesses: DraftGuesses | None = (
        None  # of the run's own draft; None where its guesses depend on more than the text
    )
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Calibrated:
    """The calibration is over."""

    job: int
    costs: Costs
    dtype_reasons: list[str] = field(default_factory=list)  # for "fast": a sentence a model, which dtype and why
    type: Literal["calibrated"] = "calibrated"


Phase = Literal["warming up", "timing", "measuring", "guessing", "drawing", "comparing"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a task is and what it does next. The page makes the sentence for the visitor from these parts."""

    job: int
    phase: Phase
    total: int  # items there will be in all
    done: int = 0  # items the service has; the engine need not fill it in
    prompt: str = ""  # the name of the prompt it works on
    repeat: int = 0  # the repeat being timed, from 1
    repeats: int = 0  # of each prompt
    draft: str = ""  # the draft it works with, as a request names it
    draft_length: int = 0
    schedule: DraftSchedule = "fixed"
    constrained: bool = False
    draws: int = 0  # tokens drawn each way in one batch
    type: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class LapRaced:
    """One prompt of a race is timed."""

    job: int
    item: RaceLap
    type: Literal["lap raced"] = "lap raced"


@dataclass(frozen=True, slots=True)
class CellSwept:
    """One cell of a sweep is measured, or could not be: then `item` is one sentence that says why."""

    job: int
    item: SweepRow | str
    type: Literal["cell swept"] = "cell swept"


@dataclass(frozen=True, slots=True)
class DraftGuessed:
    """What one draft would have guessed along an output."""

    job: int
    item: Prospect
    type: Literal["draft guessed"] = "draft guessed"


@dataclass(frozen=True, slots=True)
class BatchDrawn:
    """A tenth of a proof's draws."""

    job: int
    item: DrawBatch
    type: Literal["batch drawn"] = "batch drawn"


@dataclass(frozen=True, slots=True)
class PromptCompared:
    """One prompt was decoded greedily both ways."""

    job: int
    item: GreedyRow
    type: Literal["prompt compared"] = "prompt compared"


@dataclass(frozen=True, slots=True)
class TurnPlayed:
    """What a person drafted is verified."""

    job: int
    item: Turn
    type: Literal["turn played"] = "turn played"


@dataclass(frozen=True, slots=True)
class Finished:
    """The task is over."""

    job: int
    type: Literal["finished"] = "finished"


@dataclass(frozen=True, slots=True)
class Failed:
    """The job could not be done; one sentence for the visitor."""

    job: int
    message: str
    type: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True)
class Stopped:
    """The job was ended by a Stop."""

    job: int
    type: Literal["stopped"] = "stopped"


JobCommand = Run | Calibrate | Race | Sweep | GuessAlong | Prove | CompareGreedy | Play
Task = Race | Sweep | GuessAlong | Prove | CompareGreedy | Play
Command = JobCommand | Stop
Item = LapRaced | CellSwept | DraftGuessed | BatchDrawn | PromptCompared | TurnPlayed
JobEvent = Loading | Started | Rounds | Comparing | Done | Calibrated | Progress | Item | Finished | Failed | Stopped
Event = Ready | JobEvent
Final = Done | Calibrated | Finished | Failed | Stopped  # after one of these the engine is idle

_COMMAND: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def dump_command(command: Command) -> bytes:
    """One line for the engine.

    Raises:
        ValueError: a text in it is not Unicode text (a lone surrogate).
    """
    return _COMMAND.dump_json(command) + b"\n"


def parse_command(line: bytes) -> Command:
    """What a line to the engine says.

    Raises:
        ValueError: it is not a command.
    """
    return _COMMAND.validate_json(line)


def dump_event(event: Event) -> bytes:
    """One line for the server."""
    return _EVENT.dump_json(event) + b"\n"


def parse_event(line: bytes) -> Event | None:
    """What a line from the engine says; None if it is not an event."""
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None
