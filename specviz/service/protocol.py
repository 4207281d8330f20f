"""What the server and the engine say to each other: one JSON object for each line.

Commands go to the engine, events come from it; a number names the job each is about. `TASKS` is the table of all kinds
of jobs: a new one is a class for its arguments, an entry, and a handler. Most find one item after the other, each sent
as a `JobItem`. A job that had to stop goes on after the items already sent: its `done` says how many those are.
"""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, ValidationInfo

from specviz.core.languages import ENGLISH
from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses, Prospect
from specviz.core.request import RunRequest
from specviz.core.settings import DraftSchedule
from specviz.core.trace import Autoregressive, Output, Round, Trace
from specviz.game.game import GameRequest, Turn
from specviz.measure.paired import Comparison
from specviz.measure.proof import rows as proof
from specviz.measure.race import MAX_REPEATS, RacePrompt
from specviz.measure.sweep.plan import SweepPlan
from specviz.measure.sweep.rows import SweepRow
from specviz.models.catalogue import bundled_names, method_named

MAX_DRAFTS = 8  # in one GuessAlong
MOST_ATTEMPTS = 3  # to measure what a pair costs: a run that is doubtful itself must not have it measured for ever
JobPhase = Literal["warming up", "timing", "measuring", "guessing", "drawing", "comparing"]

# ---- commands


@dataclass(frozen=True, slots=True)
class JobMessage:
    """What is said about one job, by its number."""

    job: int


Owners = tuple[int, int, int]  # whose turns a job takes: numbers for a network, an address in it, and a session of it


@dataclass(frozen=True, slots=True)
class JobCommand(JobMessage):
    done: int = field(default=0, kw_only=True)  # items that an earlier part of the job has sent
    seconds: float = field(default=0.0, kw_only=True)  # that an earlier part of the job was at work
    owners: Owners = field(default=(0, 0, 0), kw_only=True)
    language: str = field(default=ENGLISH, kw_only=True)  # of who asked: sentences come back in it
    watched: ClassVar[bool] = False  # whether a visitor waits for it; all others are long jobs

    @property
    def task(self) -> "JobKind":
        return _TASK_OF[type(self)]

    def shares(self, had: "JobCommand") -> list[bool]:
        """Which owners it shares with a job that had a turn: a line that is sorted by it lets others go first."""
        return [one == other for one, other in zip(self.owners, had.owners, strict=True)]

    @property
    def asked(self) -> list[RunRequest]:
        """What it reads, and with which models; no settings."""
        raise NotImplementedError

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys((each.target, each.draft) for each in self.asked))

    @property
    def models(self) -> set[str]:
        return {name for pair in self.pairs for name in pair}

    @property
    def others(self) -> set[str]:
        """Its models that do not ship with the app. Those that do all fit into memory together."""
        return {name for name in self.models if method_named(name).loads == "model"} - set(bundled_names())


@dataclass(frozen=True, slots=True)
class PairCommand(JobCommand):
    request: RunRequest

    @property
    def asked(self) -> list[RunRequest]:
        return [self.request]


@dataclass(frozen=True, slots=True)
class Run(PairCommand):
    """Decode speculatively and with the target alone, in turns; `Rounds`, then `RunDone`."""

    watched = True


@dataclass(frozen=True, slots=True)
class Calibrate(PairCommand):
    """Measure what a pair costs. Only the request's models are used.

    What was measured before answers it, unless a run doubts that: then a later attempt is asked for.
    """

    attempt: Annotated[int, Field(ge=1, le=MOST_ATTEMPTS)] = 1


@dataclass(frozen=True, slots=True)
class Race(PairCommand):
    """Time both decoders alternately on every prompt. The request's own prompt is not used."""

    prompts: list[RacePrompt]
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS)] = 5

    @property
    def asked(self) -> list[RunRequest]:
        return [replace(self.request, prompt=prompt.text) for prompt in self.prompts]


@dataclass(frozen=True, slots=True)
class Sweep(JobCommand):
    """Measure the plan's cells: a row for each, or a sentence where it could not be measured."""

    plan: SweepPlan

    @property
    def asked(self) -> list[RunRequest]:
        plan = self.plan
        return [RunRequest(prompt.text, pair.target, pair.draft) for pair in plan.pairs for prompt in plan.prompts]


@dataclass(frozen=True, slots=True)
class GuessAlong(PairCommand):
    """Decode greedily with the target alone; each draft's guesses along that output. The request's draft is unused."""

    drafts: Annotated[list[str], Field(max_length=MAX_DRAFTS)]

    @property
    def asked(self) -> list[RunRequest]:
        return [replace(self.request, draft=draft) for draft in self.drafts]


@dataclass(frozen=True, slots=True)
class Prove(PairCommand):
    """Draw the token at a position many times, by a rule and plainly, in ten batches."""

    rule: proof.RuleName
    position: proof.Position
    draws: Annotated[int, Field(ge=proof.BATCHES, le=proof.MOST_DRAWS)]


@dataclass(frozen=True, slots=True)
class EnumerateRules(PairCommand):
    """What every rule of pieces writes along one draft."""


@dataclass(frozen=True, slots=True)
class CompareGreedy(PairCommand):
    """Decode prompts greedily both ways and compare id for id."""

    presets: list[str]  # names; if empty, the request's own prompt is compared
    half: bool = False  # the target in bfloat16, where near-ties are common; bundled models only
    forgets: bool = False  # a target whose cache forgets a row: the comparison must find it


@dataclass(frozen=True, slots=True)
class Play(PairCommand):
    """Verify what a person drafts at one place of a text.

    Of the request only the models, the prompt and the seed are used; the seed shuffles the candidates.
    """

    ask: GameRequest
    watched = True

    @property
    def asked(self) -> list[RunRequest]:
        texts = self.request.prompt, self.ask.guess, self.ask.second
        return [replace(self.request, prompt=text) for text in texts]


@dataclass(frozen=True, slots=True)
class Stop(JobMessage):
    """End this job. The engine answers with `JobStopped`, unless the job ended before."""


@dataclass(frozen=True, slots=True)
class CostsResult:
    costs: Costs
    beside: int = 0  # the most other engines that were busy while they were measured
    attempt: int = 1  # which one to measure them


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind of job."""

    name: str  # stored runs are found by it, so it stays
    command: type[JobCommand]
    handler: str  # what does it in the engine: a module of `handlers` and its function, `command, workshop -> Steps`
    item: Any  # the type of what it finds; None for a run, which has events of its own


TASKS = (
    JobKind("run", Run, "run.run_steps", None),
    JobKind("calibrate", Calibrate, "run.calibrate_steps", CostsResult),
    JobKind("race", Race, "long.race_steps", Comparison),
    JobKind("sweep", Sweep, "long.sweep_steps", SweepRow | str),
    JobKind("guess along", GuessAlong, "run.guess_along_steps", Prospect),
    JobKind("prove", Prove, "long.prove_steps", proof.DrawBatch),
    JobKind("enumerate rules", EnumerateRules, "long.enumerate_rules_steps", proof.EnumeratedRules),
    JobKind("compare greedy", CompareGreedy, "long.compare_greedy_steps", proof.GreedyRow),
    JobKind("play", Play, "play.play_steps", Turn),
)
_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_TASK_OF = {task.command: task for task in TASKS}
_COMMANDS: dict[str, TypeAdapter[Any]] = {task.name: TypeAdapter(task.command) for task in TASKS}
_COMMANDS["stop"] = TypeAdapter(Stop)
_ITEMS: dict[str, TypeAdapter[Any]] = {task.name: TypeAdapter(task.item) for task in TASKS if task.item}

# ---- events


@dataclass(frozen=True, slots=True)
class EngineReady:
    """The engine has imported what it needs and loaded the default pair."""

    versions: dict[str, str]  # of torch and transformers
    type: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class EngineAlive(JobMessage):
    """There is nothing to show: the job gets on, or waits for an engine, a download or the Hub."""

    type: Literal["alive"] = "alive"


@dataclass(frozen=True, slots=True)
class Loading(JobMessage):
    """A model this job needs is not in memory yet."""

    model: str
    bytes_done: int = 0  # of its download; both are 0 where there is nothing to download, or that is not known yet
    bytes_total: int = 0
    type: Literal["loading"] = "loading"


@dataclass(frozen=True, slots=True)
class RunStarted(JobMessage):
    """Everything is loaded; a run has read its prompt, and `trace` is its trace before the first round."""

    trace: Trace | None = None  # of a run
    type: Literal["started"] = "started"


@dataclass(frozen=True, slots=True)
class Rounds(JobMessage):
    """The rounds and the plain steps since the last message, and the whole speculative output so far."""

    rounds: list[Round]
    output: Output
    plain: Autoregressive | None = None  # the steps of the target alone; None where there were none
    type: Literal["rounds"] = "rounds"


@dataclass(frozen=True, slots=True)
class RunDone(JobMessage):
    text: str  # what the target alone wrote
    draft_guesses: DraftGuesses | None = None  # of the run's own draft; None where they depend on more than the text
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class JobProgress(JobMessage):
    """How far a task is and what it does next. The page makes the sentence for the visitor from these parts."""

    phase: JobPhase
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


def _item_of_task(item: Any, info: ValidationInfo) -> Any:
    task = info.data.get("task", "")
    if task not in _ITEMS:
        raise ValueError("not a task with items")
    return _ITEMS[task].validate_python(item)


@dataclass(frozen=True, slots=True)
class JobItem(JobMessage):
    """One thing that a job has found; its type is in `TASKS`."""

    task: str
    item: Annotated[Any, AfterValidator(_item_of_task)]
    type: Literal["item"] = "item"


@dataclass(frozen=True, slots=True)
class JobFinished(JobMessage):
    type: Literal["finished"] = "finished"


@dataclass(frozen=True, slots=True)
class JobFailed(JobMessage):
    """The job could not be done; one sentence for the visitor."""

    message: str
    type: Literal["failed"] = "failed"


@dataclass(frozen=True, slots=True)
class JobStopped(JobMessage):
    """As the server wanted, or the job gives its place to another one: then it is sent again."""

    seconds: float = 0.0  # it was at work
    type: Literal["stopped"] = "stopped"


Final = RunDone | JobFinished | JobFailed | JobStopped  # after one of these the engine is idle
JobEvent = EngineAlive | Loading | RunStarted | Rounds | JobProgress | JobItem | Final
Event = EngineReady | JobEvent
Found = TypeVar("Found")
StepsTo = Generator[JobEvent | None, None, Found]  # of a job: None where there is nothing to report
JobSteps = StepsTo[None]

_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])

# ---- lines


def dump_command(command: JobCommand | Stop) -> bytes:
    """One line for the engine; ValueError: a text in it is not Unicode text (a lone surrogate)."""
    name = command.task.name if isinstance(command, JobCommand) else "stop"
    return _JSON.dump_json({"task": name, "arguments": command}) + b"\n"


def parse_command(line: bytes) -> JobCommand | Stop:
    """What a line to the engine says; ValueError: it is not a command."""
    match _JSON.validate_json(line):
        case {"task": str(name), "arguments": arguments} if name in _COMMANDS:
            command: JobCommand | Stop = _COMMANDS[name].validate_python(arguments)
            return command
    raise ValueError("not a command")


def dump_event(event: Event) -> bytes:
    """One line, whatever ends of lines a text in it holds."""
    return _EVENT.dump_json(event, ensure_ascii=True) + b"\n"


def parse_event(line: bytes | str) -> Event | None:
    """What a line from the engine says; None if it is not an event."""
    try:
        return _EVENT.validate_json(line)
    except ValidationError:
        return None
