"""What the server and the engine say to each other: one JSON object a line, tagged with `type`.

Commands go to the engine's stdin, events come from its stdout. A number names the job each is about. The server
sends a job only when the engine is idle, so the engine has one at a time.

A job is a run, a calibration, or a task. A task answers with any number of results, which the service keeps and hands
on without looking at them; one in the background gives way between results, and is told by `done` where to go on.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses
from specviz.core.request import RunRequest
from specviz.core.trace import Autoregressive, Output, Round, Trace
from specviz.game.game import Ask
from specviz.measure.proof.rows import BATCHES, MOST_DRAWS
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.measure.race import MAX_REPEATS, RacePrompt
from specviz.measure.sweep.plan import SweepPlan

MAX_DRAFTS = 8  # in one GuessAlong


class OfOnePair:
    """What is known of a job before the engine sees it; most are about one request."""

    __slots__ = ()
    request: RunRequest

    @property
    def models(self) -> set[str]:
        """Names of what it decodes with."""
        return {self.request.target, self.request.draft}

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [self.request.prompt]


@dataclass(frozen=True, slots=True)
class Run(OfOnePair):
    """Decode speculatively, then with the target alone."""

    job: int
    request: RunRequest
    type: Literal["run"] = "run"


@dataclass(frozen=True, slots=True)
class Calibrate(OfOnePair):
    """Measure what a pair costs; of the request only the models and the precision matter."""

    job: int
    request: RunRequest
    type: Literal["calibrate"] = "calibrate"


@dataclass(frozen=True, slots=True)
class Race(OfOnePair):
    """Time both decoders on every prompt, in turns; of the request the prompt does not matter."""

    job: int
    request: RunRequest
    prompts: list[RacePrompt]
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 5
    type: Literal["race"] = "race"

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [prompt.text for prompt in self.prompts]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Measure the plan's cells, from the one after the first `done` on; a result each, see `sweep_work`."""

    job: int
    plan: SweepPlan
    done: int = 0
    type: Literal["sweep"] = "sweep"

    @property
    def models(self) -> set[str]:
        """Names of what it decodes with."""
        return {name for pair in self.plan.pairs for name in pair.models}

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [prompt.text for prompt in self.plan.prompts]


@dataclass(frozen=True, slots=True)
class GuessAlong(OfOnePair):
    """Decode greedily with the target alone, and tell what each of these drafts would have guessed along its output.

    Of the request the draft does not matter.
    """

    job: int
    request: RunRequest
    drafts: Annotated[list[str], Field(max_length=MAX_DRAFTS)]
    done: int = 0
    type: Literal["guess along"] = "guess along"

    @property
    def models(self) -> set[str]:
        """Names of what it reads with."""
        return {self.request.target, *self.drafts}


@dataclass(frozen=True, slots=True)
class Prove(OfOnePair):
    """Draw the token at a position many times, by a rule and plainly; a result a batch, see `proof_work`."""

    job: int
    request: RunRequest
    rule: RuleName
    position: Position
    draws: Annotated[int, Field(ge=BATCHES, le=MOST_DRAWS)]
    done: int = 0
    type: Literal["prove"] = "prove"


@dataclass(frozen=True, slots=True)
class CompareGreedy(OfOnePair):
    """Decode prompts greedily both ways and compare id for id; a result a prompt, see `proof_work`."""

    job: int
    request: RunRequest
    presets: list[str]  # names; none: the request's own prompt
    half: bool = False  # the target in bfloat16, where near-ties are common; bundled models only
    done: int = 0
    type: Literal["compare greedy"] = "compare greedy"


@dataclass(frozen=True, slots=True)
class Play(OfOnePair):
    """Judge what a person drafts at one place of a text; one result, a `Turn`, see `play_work`.

    Of the request: models, prompt, and the seed that shuffles candidates.
    """

    job: int
    request: RunRequest
    ask: Ask
    done: int = 0
    type: Literal["play"] = "play"

    @property
    def texts(self) -> list[str]:
        """What the visitor wrote."""
        return [self.request.prompt, self.ask.guess]


@dataclass(frozen=True, slots=True)
class Stop:
    """End this job; answered with Stopped, or with whatever else ended it first."""

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
    """The rounds since the last message, and the whole output so far."""

    job: int
    rounds: list[Round]
    output: Output
    type: Literal["rounds"] = "rounds"


@dataclass(frozen=True, slots=True)
class Comparing:
    """The target alone has written this many tokens."""

    job: int
    tokens: int
    type: Literal["comparing"] = "comparing"


@dataclass(frozen=True, slots=True)
class Done:
    """The run is over; this is what the target alone did."""

    job: int
    autoregressive: Autoregressive
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


@dataclass(frozen=True, slots=True)
class Results:
    """A task has got further."""

    job: int
    items: list[dict[str, Any]]  # new since the last message; each kind of task has a dataclass for its own
    total: int = 0  # results there will be in all; 0 where that is not known
    note: str = ""  # what it does next, for the visitor
    type: Literal["results"] = "results"


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


JobCommand = Run | Calibrate | Race | Sweep | GuessAlong | Prove | CompareGreedy | Play  # tasks join here
Command = JobCommand | Stop
JobEvent = Loading | Started | Rounds | Comparing | Done | Calibrated | Results | Finished | Failed | Stopped
Event = Ready | JobEvent
Final = Done | Calibrated | Finished | Failed | Stopped  # after one of these the engine is idle

_COMMAND: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="type")])
_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def dump_command(command: Command) -> bytes:
    """One line for the engine.

    Raises:
        ValueError: a text in it is no Unicode text (a lone surrogate).
    """
    return _COMMAND.dump_json(command) + b"\n"


def parse_command(line: bytes) -> Command:
    """What a line to the engine says.

    Raises:
        ValueError: it is no command.
    """
    return _COMMAND.validate_json(line)


def dump_event(event: Event) -> bytes:
    """One line for the server."""
    return _EVENT.dump_json(event) + b"\n"


def parse_event(line: bytes) -> Event | None:
    """What a line from the engine says; None where it is no event."""
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None
