"""One job: who asked for it, and what is known of it so far."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from specviz.core.languages import set_language
from specviz.core.replay import DraftGuesses
from specviz.core.texts import Sentences
from specviz.core.trace import Trace
from specviz.service import protocol as wire

Slot = str  # what a job is for: a visitor has one job of each
State = Literal["idle", "waiting", "loading", "running", "done", "failed", "cancelled", "lost"]
FINISHED: frozenset[State] = frozenset({"idle", "done", "failed", "cancelled", "lost"})
say = Sentences("service")


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run, as far as it is."""

    trace: Trace  # its rounds and `autoregressive` grow; that is None before the first plain step
    plain_text: str = ""  # what the target alone wrote; empty until the end
    draft_guesses: DraftGuesses | None = None  # what the draft would guess along the output; None unless greedy
    id: str = ""  # in the run store; empty until the run is stored


def tokens_in(trace: Trace) -> int:
    """Drafted and emitted tokens of a run: what its memory grows with."""
    return sum(len(round.drafted) + 1 for round in trace.rounds)


@dataclass(frozen=True, slots=True)
class JobView:
    """A snapshot of a job; nothing in it changes later."""

    job: int
    state: State = "waiting"  # idle: nothing was started; lost: the service does not know the job, or no longer
    place: int | None = None  # in the queue while waiting; 1 is next
    loading: wire.Loading | None = None  # the model being loaded, while loading
    progress: wire.JobProgress | None = None  # of a task
    run: RunResult | None = None  # what there is so far; it stays when the job fails or is cancelled
    items: tuple[Any, ...] = ()  # what a task has found so far, in its order; see `protocol.TASKS`
    message: str = ""  # one sentence for the visitor: why the job failed, or why it waits for the engine
    stored: bool = False  # found earlier, and not for this job
    beside: int = 0  # the most other engines that were busy at the same moment while this job ran

    @property
    def finished(self) -> bool:
        return self.state in FINISHED

    @property
    def rounds(self) -> int:
        return len(self.run.trace.rounds) if self.run else 0

    @property
    def compared(self) -> bool:
        """Whether the target alone has written as much as the first round: from then on there is a speedup so far."""
        trace = self.run.trace if self.run else None
        if not (trace and trace.rounds and trace.autoregressive):
            return False
        return len(trace.autoregressive.token_ids) >= len(trace.rounds[0].emitted_ids)


@dataclass(slots=True, eq=False)
class Job:
    """A job on its way through the service; changed only under the service's lock."""

    view: JobView
    command: wire.JobCommand
    key: str | None = None  # see `service.sharing_key`
    stop_sent: bool = False
    deaths: int = 0  # engines that died while they worked on it, since it last found something

    @property
    def id(self) -> int:
        return self.view.job

    def fail(self, sentence: Callable[[], str]) -> None:
        """Nothing more will come; what there is stays. Does nothing to a job that is over."""
        if not self.view.finished:
            set_language(self.command.language)  # this may be a thread of the fleet's, which is no visitor's
            self.view = replace(self.view, state="failed", message=sentence())

    def wait_again(self, seconds: float) -> None:
        """Go back to waiting, after so many seconds at work. What has items keeps them; a run starts over."""
        view, self.stop_sent = self.view, False
        self.view = JobView(view.job, beside=view.beside, progress=view.progress, items=view.items)
        self.command = replace(self.command, done=len(view.items), seconds=seconds if self.command.task.item else 0.0)


def advance(view: JobView, event: wire.JobEvent) -> JobView:
    run = view.run
    match event:
        case wire.Loading():
            return replace(view, state="loading", loading=event)
        case wire.RunStarted(trace=trace):
            return replace(view, state="running", loading=None, run=RunResult(trace) if trace else run)
        case wire.Rounds() if run:
            plain = event.plain
            if (before := run.trace.autoregressive) and plain:
                seconds = [*before.seconds_per_token, *plain.seconds_per_token]
                plain = replace(plain, seconds_per_token=seconds, token_ids=[*before.token_ids, *plain.token_ids])
            rounds = [*run.trace.rounds, *event.rounds]
            trace = replace(run.trace, rounds=rounds, output=event.output, autoregressive=plain or before)
            return replace(view, state="running", run=replace(run, trace=trace))
        case wire.RunDone(text=text, draft_guesses=guesses) if run:
            return replace(view, state="done", run=replace(run, plain_text=text, draft_guesses=guesses))
        case wire.EngineAlive():
            return replace(view, state="loading") if view.state == "waiting" else view
        case wire.JobProgress():
            return replace(view, state="running", loading=None, progress=replace(event, done=len(view.items)))
        case wire.JobItem(item=item):
            items = (*view.items, item)
            progress = view.progress and replace(view.progress, done=len(items))
            return replace(view, state="running", loading=None, progress=progress, items=items)
        case wire.JobFinished():
            return replace(view, state="done")
        case wire.JobFailed(message=message):
            return replace(view, state="failed", message=message)
    return replace(view, state="failed", message=say("broken"))
