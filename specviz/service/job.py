"""One job: who asked for what, and what is known of it so far."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from specviz.core.metrics import Costs
from specviz.core.replay import DraftGuesses
from specviz.core.trace import Trace
from specviz.service.protocol import (
    Calibrated,
    Comparing,
    Done,
    Failed,
    Finished,
    JobCommand,
    JobEvent,
    Loading,
    Results,
    Rounds,
    Started,
    Stopped,
)

Kind = Literal["interactive", "background"]
State = Literal["waiting", "loading", "running", "comparing", "done", "failed", "cancelled"]
FINISHED: frozenset[State] = frozenset({"done", "failed", "cancelled"})


@dataclass(frozen=True, slots=True)
class JobView:
    """A snapshot of a job; nothing in it changes later."""

    job: int
    kind: Kind
    state: State = "waiting"
    place: int | None = None  # in the queue while waiting; 1 is next
    model: str = ""  # the one being loaded
    bytes_done: int = 0  # of its download
    bytes_total: int = 0  # 0: nothing is being downloaded
    trace: Trace | None = None  # the run so far; `autoregressive` is filled when done
    plain_tokens: int = 0  # tokens the target alone has written, while comparing
    plain_text: str = ""  # what it wrote, when done
    draft_guesses: DraftGuesses | None = (
        None  # what the draft would guess at each place of the output, when done and greedy
    )
    costs: Costs | None = None  # a calibration's result
    dtype_reasons: tuple[str, ...] = ()  # with it, for "fast": a sentence a model, which dtype and why
    results: tuple[dict[str, Any], ...] = ()  # a task's, so far
    total: int = 0  # results there will be in all; 0 where that is not known
    note: str = ""  # what a task does next
    message: str = ""  # one sentence for the visitor: why it failed, or why it has to wait for the engine

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in FINISHED

    @property
    def rounds(self) -> int:
        """Number of rounds so far."""
        return len(self.trace.rounds) if self.trace else 0


@dataclass(slots=True, eq=False)
class Job:
    """A job on its way through the queue; changed only under the service's lock."""

    session: str
    view: JobView
    command: JobCommand
    wanted: Literal["end", "stop", "give way"] = "end"  # what should become of it once the engine has it
    stop_sent: bool = False
    started: bool = False  # the engine is past what it cannot interrupt

    @property
    def id(self) -> int:
        """Its number."""
        return self.view.job

    @property
    def kind(self) -> Kind:
        """Whether a visitor is watching (interactive) or not (background)."""
        return self.view.kind

    def fail(self, message: str) -> None:
        """Nothing more will come; what there is stays."""
        self.view = replace(self.view, state="failed", message=message)

    def give_way(self) -> None:
        """Wait once more. A task keeps its results, and goes on after them; anything else begins again."""
        view, command = self.view, self.command
        self.view = JobView(view.job, view.kind, results=view.results, total=view.total)
        if view.results:
            task: Any = command  # only tasks have results, and they all have `done`
            self.command = replace(task, done=len(view.results))
        self.wanted, self.stop_sent, self.started = "end", False, False


def advance(view: JobView, event: JobEvent) -> JobView:
    """The view after one more event; rounds and output accumulate in its trace."""
    match event:
        case Loading(model=model, bytes_done=done, bytes_total=total):
            return replace(view, state="loading", model=model, bytes_done=done, bytes_total=total)
        case Started(trace=trace):
            return replace(view, state="running", model="", bytes_done=0, bytes_total=0, trace=trace)
        case Rounds(rounds=rounds, output=output) if view.trace:
            return replace(view, trace=replace(view.trace, rounds=[*view.trace.rounds, *rounds], output=output))
        case Comparing(tokens=tokens):
            return replace(view, state="comparing", plain_tokens=tokens)
        case Done(autoregressive=plain, text=text, draft_guesses=draft_guesses) if view.trace:
            trace = replace(view.trace, autoregressive=plain)
            known = replace(view, trace=trace, plain_tokens=len(plain.token_ids), plain_text=text)
            return replace(known, state="done", draft_guesses=draft_guesses)
        case Calibrated(costs=costs, dtype_reasons=reasons):
            return replace(view, state="done", costs=costs, dtype_reasons=tuple(reasons))
        case Results(items=items, total=total, note=note):
            results = (*view.results, *items)
            return replace(view, state="running", model="", results=results, total=total, note=note)
        case Finished():
            return replace(view, state="done", note="")
        case Failed(message=message):
            return replace(view, state="failed", message=message)
        case Stopped():
            return replace(view, state="cancelled")
    return replace(view, state="failed", message="The engine sent what it should not have; run again.")
