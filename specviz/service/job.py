"""One job: who asked for it, and what is known of it so far."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

from specviz.core.languages import set_language
from specviz.core.replay import DraftGuesses
from specviz.core.texts import Sentences
from specviz.core.trace import Trace
from specviz.models.catalogue import bundled_names, method_named
from specviz.service import protocol as wire

Slot = Literal["run", "race", "play", "costs", "sweep", "by draft", "proof"]  # what a job is for
State = Literal["waiting", "loading", "running", "done", "failed", "cancelled", "lost"]
FINISHED: frozenset[State] = frozenset({"done", "failed", "cancelled", "lost"})
LETTERS = 4  # of a prompt for each token, about
LONGEST = 512  # tokens that the bundled models can read
LARGER = 3  # times a bundled model's keys and values of a token; those of SmolLM2-135M take twice as much
BEGUN, LONG = 64, 256  # tokens for what it writes: of a run that has shown its first rounds, and of a long job
say = Sentences("service")

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run, as far as it is."""

    trace: Trace  # its rounds and `autoregressive` grow; that is None before the first plain step
    plain_text: str = ""  # what the target alone wrote; empty until the end
    draft_guesses: DraftGuesses | None = None  # what the draft would guess along the output; None unless greedy
    id: str = ""  # in the run store; empty until the run is stored

    @property
    def rounds(self) -> int:
        return len(self.trace.rounds)


@dataclass(frozen=True, slots=True)
class Items(Generic[T]):
    """What a task has found so far, in its order; see `protocol.TASKS`."""

    task: str
    items: tuple[T, ...] = ()


JobResult = RunResult | wire.CostsResult | Items[Any]


def tokens_in(trace: Trace) -> int:
    """Drafted and emitted tokens of a run: what its memory grows with."""
    return sum(len(round.drafted) + 1 for round in trace.rounds)


@dataclass(frozen=True, slots=True)
class JobView:
    """A snapshot of a job; nothing in it changes later."""

    job: int
    state: State = "waiting"  # lost: the service does not know the job, or no longer
    place: int | None = None  # in the queue while waiting; 1 is next
    loading: wire.Loading | None = None  # the model being loaded, while loading
    progress: wire.JobProgress | None = None  # of a task
    result: JobResult | None = None  # what there is so far; it stays when the job fails or is cancelled
    message: str = ""  # one sentence for the visitor: why the job failed, or why it waits for the engine
    stored: bool = False  # found earlier, and not for this job
    beside: int = 0  # the most other engines that were busy at the same moment while this job ran

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def rounds(self) -> int:
        return self.result.rounds if isinstance(self.result, RunResult) else 0

    @property
    def compared(self) -> bool:
        """Whether the target alone has written as much as the first round: from then on there is a speedup so far."""
        run = self.result.trace if isinstance(self.result, RunResult) else None
        if not (run and run.rounds and run.autoregressive):
            return False
        return len(run.autoregressive.token_ids) >= len(run.rounds[0].emitted_ids)

    @property
    def items(self) -> int:
        return len(self.result.items) if isinstance(self.result, Items) else 0


@dataclass(slots=True, eq=False)
class Job:
    """A job on its way through the service; changed only under the service's lock."""

    view: JobView
    command: wire.JobCommand
    key: str | None = None  # see `service.sharing_key`
    wanted: Literal["end", "later", "stop"] = "end"  # later: it gives its place to another job and goes on after it
    stop_sent: bool = False
    taken_at: float = 0.0  # when the engine got it, in seconds of the monotonic clock
    left_found: tuple[int, int] = (-1, 0)  # what it had `found` when it last went back to waiting
    deaths: int = 0  # engines that died while they worked on it
    # its models that do not ship with the app; those that do all fit into memory together
    others: set[str] = field(init=False)
    # for whose keys and values it has room while it is paused, about: both decoders read its longest prompt. The engine
    # brings one run after the other to its end, so few hold more than their first rounds
    tokens: int = field(init=False)

    @property
    def id(self) -> int:
        return self.view.job

    def __post_init__(self) -> None:
        its = {name for name in self.command.models if method_named(name).loads == "model"}
        self.others = its - set(bundled_names())
        prompt = max((len(each.prompt) for each in self.command.asked), default=0) // LETTERS
        if self.others:
            self.tokens = LARGER * (2 * prompt + LONG)
        else:
            self.tokens = 2 * min(prompt, LONGEST) + (BEGUN if self.command.watched else LONG)

    @property
    def found(self) -> tuple[int, int]:
        """How far it is: its items, and the repeat of a race that it is at. It grows while the job gets further."""
        return self.view.items, self.view.progress.repeat if self.view.progress else 0

    @property
    def gets_on(self) -> bool:
        """Whether it found something since it went back to waiting, if it ever did."""
        return self.found > self.left_found

    def fail(self, sentence: Callable[[], str]) -> None:
        """Nothing more will come; what there is stays. Does nothing to a job that is over."""
        if not self.view.finished:
            set_language(self.command.language)  # this may be a thread of the fleet's, which is no visitor's
            self.view = replace(self.view, state="failed", message=sentence())

    def wait_again(self, seconds: float) -> None:
        """Go back to waiting, after so many seconds at work. A task that resumes keeps its items; others start over."""
        view, self.left_found = self.view, self.found
        self.view = JobView(view.job, beside=view.beside)
        if self.command.task.resumes:
            self.view = replace(self.view, progress=view.progress, result=view.result)
            self.command = replace(self.command, done=view.items, seconds=seconds)
        self.wanted, self.stop_sent = "end", False


def advance(view: JobView, event: wire.JobEvent) -> JobView:
    result = view.result
    match event:
        case wire.Loading():
            return replace(view, state="loading", loading=event)
        case wire.RunStarted(trace=trace):
            return replace(view, state="running", loading=None, result=RunResult(trace) if trace else result)
        case wire.Rounds() if isinstance(result, RunResult):
            return replace(view, state="running", result=_run_after(result, event))
        case wire.RunDone() if isinstance(result, RunResult):
            done = replace(result, plain_text=event.text, draft_guesses=event.draft_guesses)
            return replace(view, state="done", result=done)
        case wire.EngineAlive():
            return replace(view, state="loading") if view.state == "waiting" else view
        case wire.JobProgress():
            return replace(view, state="running", loading=None, progress=replace(event, done=view.items))
        case wire.JobItem(item=wire.CostsResult()):
            return replace(view, state="running", loading=None, result=event.item)
        case wire.JobItem(task=task, item=item):
            before = result.items if isinstance(result, Items) else ()
            progress = view.progress and replace(view.progress, done=len(before) + 1)
            found = Items(task, (*before, item))
            return replace(view, state="running", loading=None, progress=progress, result=found)
        case wire.JobFinished():
            return replace(view, state="done")
        case wire.JobFailed(message=message):
            return replace(view, state="failed", message=message)
        case wire.JobStopped():
            return replace(view, state="cancelled")
    return replace(view, state="failed", message=say("broken"))


def _run_after(run: RunResult, event: wire.Rounds) -> RunResult:
    """Rounds, plain steps and output accumulate in the run's trace."""
    trace, plain = run.trace, event.plain
    if (before := trace.autoregressive) and plain:
        seconds = [*before.seconds_per_token, *plain.seconds_per_token]
        plain = replace(plain, seconds_per_token=seconds, token_ids=[*before.token_ids, *plain.token_ids])
    rounds = [*trace.rounds, *event.rounds]
    return replace(run, trace=replace(trace, rounds=rounds, output=event.output, autoregressive=plain or before))
