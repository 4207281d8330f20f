"""One job: who asked for it, and what is known of it so far."""

from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

from specviz.core.request import PROMPT_LOOKUP
from specviz.core.trace import Autoregressive
from specviz.models.catalogue import bundled_names, part_of_target
from specviz.service.protocol import (
    BatchDrawn,
    Calibrated,
    CellSwept,
    Comparing,
    Done,
    DraftGuessed,
    Failed,
    Finished,
    Item,
    JobCommand,
    JobEvent,
    LapRaced,
    Loading,
    Play,
    Progress,
    PromptCompared,
    Rounds,
    Run,
    Started,
    Stopped,
    Task,
    TurnPlayed,
)
from specviz.service.results import (
    CostsResult,
    GreedyResult,
    GuessesResult,
    Items,
    PlayResult,
    ProofResult,
    RaceResult,
    Result,
    RunResult,
    SweepResult,
)

Lane = Literal["interactive", "background"]
Slot = Literal["run", "race", "play", "costs", "sweep", "by draft", "proof"]
LANES: dict[Slot, Lane] = {
    "run": "interactive",
    "race": "background",
    "play": "interactive",
    "costs": "background",
    "sweep": "background",
    "by draft": "background",
    "proof": "background",
}
State = Literal["waiting", "loading", "running", "done", "failed", "cancelled", "lost"]
FINISHED: frozenset[State] = frozenset({"done", "failed", "cancelled", "lost"})
UNEXPECTED = "The engine sent something unexpected; run again."

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class JobView:
    """A snapshot of a job; nothing in it changes later."""

    job: int
    state: State = "waiting"  # lost: the service does not know the job, or no longer
    place: int | None = None  # in the queue while waiting; 1 is next
    loading: Loading | None = None  # the model being loaded, while loading
    progress: Progress | None = None  # of a task
    result: Result | None = None  # what there is so far; it stays when the job fails or is cancelled
    message: str = ""  # one sentence for the visitor: why the job failed, or why it waits for the engine
    stored: bool = False  # found earlier, and not for this job
    beside: int = 0  # the most other engines that were busy at the same moment while this job ran

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in FINISHED

    @property
    def rounds(self) -> int:
        """Number of rounds of a run so far."""
        return self.result.rounds if isinstance(self.result, RunResult) else 0

    @property
    def items(self) -> int:
        """Number of a task's items so far."""
        return len(self.result.items) if isinstance(self.result, Items) else 0

    def result_as(self, kind: type[R]) -> R | None:
        """The result if it is of this kind."""
        return self.result if isinstance(self.result, kind) else None


@dataclass(slots=True, eq=False)
class Job:
    """A job on its way through the queue; changed only under the service's lock."""

    session: str
    slot: Slot
    view: JobView
    command: JobCommand
    wanted: Literal["end", "stop", "give way", "take turns"] = "end"  # what is to happen to it in the engine
    stop_sent: bool = False
    started: bool = False  # the engine is past what it cannot interrupt
    address: str = ""  # the visitor's on the internet; empty where it is not known
    taken_at: float = 0.0  # when the engine got it, in seconds of the monotonic clock
    taken_found: tuple[int, int] = (0, 0)  # what it had `found` by then
    gave_way_found: tuple[int, int] | None = None  # what it had `found` when it last gave way
    key: str | None = None  # see `sharing.sharing_key`
    due: float | None = None  # while the engine has it: when something must have come, on the monotonic clock
    deaths: int = 0  # engines that died with it in their hands

    @property
    def id(self) -> int:
        """Its number."""
        return self.view.job

    @property
    def lane(self) -> Lane:
        """Whether a visitor watches it (interactive) or not (background)."""
        return LANES[self.slot]

    @property
    def bundled(self) -> bool:
        """Whether all its models ship with the app: these all fit into memory together."""
        ours = {*bundled_names(), PROMPT_LOOKUP}
        return all(name in ours or part_of_target(name) for name in self.command.models)

    @property
    def downloads(self) -> bool:
        """Whether it waits for a download. That goes on for a while without it, and continues where it ended."""
        loading = self.view.loading if self.view.state == "loading" else None
        return bool(loading and loading.bytes_done < loading.bytes_total)

    @property
    def pair(self) -> tuple[str, str, str] | None:
        """Target, draft and number format of a run or a turn of the game; None for any other job."""
        if not isinstance(self.command, Run | Play):
            return None
        request = self.command.request
        return request.target, request.draft, request.precision

    @property
    def owner(self) -> str:
        """Whose turns it takes: those of the visitor's address, or of the session where no address is known."""
        return self.address or self.session

    @property
    def found(self) -> tuple[int, int]:
        """How far it is: its items, and the repeat of a race that it is at. It grows while the job gets further."""
        return self.view.items, self.view.progress.repeat if self.view.progress else 0

    @property
    def gives_way(self) -> bool:
        """Whether it was stopped only to go on later."""
        return self.wanted in ("give way", "take turns")

    @property
    def gets_on(self) -> bool:
        """Whether it found something since the engine took it."""
        return self.found > self.taken_found

    def fail(self, message: str) -> None:
        """Nothing more will come; what there is stays. Does nothing to a job that is over."""
        if not self.view.finished:
            self.view = replace(self.view, state="failed", message=message)

    def wait_again(self) -> None:
        """Go back to waiting. A task keeps its items and goes on after them; any other job begins again."""
        view = self.view
        self.view = JobView(view.job, beside=view.beside)
        if isinstance(self.command, get_args(Task)):
            self.view = replace(self.view, progress=view.progress, result=view.result)
            self.command = replace(self.command, done=view.items)
        self.wanted, self.stop_sent, self.started = "end", False, False


def advance(view: JobView, event: JobEvent) -> JobView:
    """The view after one more event."""
    result = view.result
    match event:
        case Loading():
            return replace(view, state="loading", loading=event)
        case Started(trace=trace):
            return replace(view, state="running", loading=None, result=RunResult(trace) if trace else result)
        case Rounds() | Done() if isinstance(result, RunResult):
            state: State = "done" if isinstance(event, Done) else "running"
            return replace(view, state=state, result=_run_after(result, event))
        case Comparing():
            return view  # a task that decodes with the target alone on its way
        case Calibrated(costs=costs, dtype_reasons=reasons):
            return replace(view, state="done", result=CostsResult(costs, tuple(reasons)))
        case Progress():
            return replace(view, state="running", loading=None, progress=replace(event, done=view.items))
        case LapRaced() | CellSwept() | DraftGuessed() | BatchDrawn() | PromptCompared() | TurnPlayed():
            return _with_item(view, event)
        case Finished():
            return replace(view, state="done")
        case Failed(message=message):
            return replace(view, state="failed", message=message)
        case Stopped():
            return replace(view, state="cancelled")
    return replace(view, state="failed", message=UNEXPECTED)


def _run_after(run: RunResult, event: Rounds | Done) -> RunResult:
    """The run after one more event; rounds, plain steps and output accumulate in its trace."""
    if isinstance(event, Done):
        return replace(run, plain_text=event.text, draft_guesses=event.draft_guesses)
    rounds, plain = [*run.trace.rounds, *event.rounds], _joined(run.trace.autoregressive, event.plain)
    return replace(run, trace=replace(run.trace, rounds=rounds, output=event.output, autoregressive=plain))


def _joined(before: Autoregressive | None, fresh: Autoregressive | None) -> Autoregressive | None:
    if before is None or fresh is None:
        return fresh or before
    seconds = [*before.seconds_per_token, *fresh.seconds_per_token]
    return replace(fresh, seconds_per_token=seconds, token_ids=[*before.token_ids, *fresh.token_ids])


_RESULT_OF: dict[type[Item], type[Items[Any]]] = {
    LapRaced: RaceResult,
    CellSwept: SweepResult,
    DraftGuessed: GuessesResult,
    BatchDrawn: ProofResult,
    PromptCompared: GreedyResult,
    TurnPlayed: PlayResult,
}


def _with_item(view: JobView, event: Item) -> JobView:
    kind = _RESULT_OF[type(event)]
    before: tuple[Any, ...] = view.result.items if isinstance(view.result, kind) else ()
    result: Any = kind((*before, event.item))
    progress = view.progress and replace(view.progress, done=len(before) + 1)
    return replace(view, state="running", loading=None, progress=progress, result=result)
