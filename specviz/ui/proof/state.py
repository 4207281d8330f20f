"""What one visitor has proved so far, what is under way, and how results come in. No drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st
from pydantic import TypeAdapter

from specviz.core.request import RunRequest
from specviz.data.workloads import WORKLOADS
from specviz.measure.proof.recorded import recorded_proof
from specviz.measure.proof.rows import DrawBatch, GreedyRow
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.measure.proof.statistics import Finding, Look, finding, looks
from specviz.service.job import JobView
from specviz.service.protocol import CompareGreedy, Prove
from specviz.ui.shared.engine import engine, visitor

Source = Literal["recorded", "live"]

_BATCHES: TypeAdapter[list[DrawBatch]] = TypeAdapter(list[DrawBatch])
_ROWS: TypeAdapter[list[GreedyRow]] = TypeAdapter(list[GreedyRow])


@dataclass(frozen=True, slots=True)
class Outcome:
    """Draws by one rule, and what they come to."""

    rule: RuleName
    position: Position
    request: RunRequest
    source: Source
    batches: list[DrawBatch]

    @property
    def looks(self) -> list[Look]:
        """One after each batch."""
        return looks(self.batches)

    @property
    def plain_looks(self) -> list[Look]:
        """The same test on what plain decoding wrote."""
        return looks(self.batches, "plain")

    @property
    def finding(self) -> Finding:
        """What they come to."""
        return finding(self.looks)

    @property
    def kept(self) -> float | None:
        """Share of runs whose first drafted token was kept; None where nothing was drafted."""
        proposed = sum(batch.proposed for batch in self.batches)
        return sum(batch.accepted for batch in self.batches) / proposed if proposed else None


@dataclass(frozen=True, slots=True)
class Task:
    """What is under way."""

    job: int
    what: Literal["draws", "greedy", "near-tie"]
    request: RunRequest
    rule: RuleName = "lossless"
    position: Position = "first"


@dataclass(slots=True)
class Proving:
    """One visitor's proofs; lives in the session."""

    outcomes: dict[RuleName, Outcome] = field(default_factory=dict)
    greedy: list[GreedyRow] = field(default_factory=list)
    greedy_source: Source = "recorded"
    near_tie: GreedyRow | None = None
    near_tie_source: Source = "recorded"
    task: Task | None = None
    last: Task | None = None  # the task, also when it has ended
    view: JobView | None = None  # of the task, as it was last seen
    message: str = ""  # why the last task failed
    cancelled: bool = False  # the last task was


def proving() -> Proving:
    """This visitor's; at first what was recorded for everyone."""
    if "proving" not in st.session_state:
        st.session_state.proving = _recorded()
    state: Proving = st.session_state.proving
    return state


def _recorded() -> Proving:
    found = recorded_proof()
    if found is None:
        return Proving()
    outcomes = {d.rule: Outcome(d.rule, d.position, found.request, "recorded", d.batches) for d in found.draws}
    return Proving(outcomes, found.greedy, near_tie=found.near_tie)


def draw(request: RunRequest, rule: RuleName, position: Position, draws: int) -> None:
    """Start drawing; what this rule had before goes."""
    engine().start()
    job = engine().submit_task(visitor().id, "background", lambda job: Prove(job, request, rule, position, draws))
    _begin(Task(job, "draws", request, rule, position))


def compare_greedy(request: RunRequest, presets: Sequence[str]) -> None:
    """Start comparing these presets, or the request's own prompt where there are none."""
    _submit_greedy("greedy", CompareGreedy(0, request, list(presets)))


def repeat_near_tie(request: RunRequest, preset: str) -> None:
    """Run the near-tie's example here: its prompt and draft length, with the target in bfloat16."""
    _submit_greedy("near-tie", CompareGreedy(0, request, [preset], half=True))


def _submit_greedy(what: Literal["greedy", "near-tie"], asked: CompareGreedy) -> None:
    engine().start()
    job = engine().submit_task(
        visitor().id, "background", lambda job: CompareGreedy(job, asked.request, asked.presets, asked.half)
    )
    _begin(Task(job, what, asked.request))


def _begin(task: Task) -> None:
    state = proving()
    state.task, state.last, state.view, state.message, state.cancelled = task, task, None, "", False


def cancel() -> None:
    """End what is under way; what has come stays."""
    refresh()
    engine().cancel(visitor().id, "background")
    refresh()


def refresh() -> None:
    """Take in what the engine has sent."""
    state = proving()
    if state.task is None:
        return
    view = engine().view(state.task.job)
    if view.results != (state.view.results if state.view else ()):
        _take(state, state.task, view.results)
    state.view = view
    if view.finished:
        state.message, state.cancelled = view.message if view.state == "failed" else "", view.state == "cancelled"
        state.task = None


def _take(state: Proving, task: Task, results: Sequence[dict[str, Any]]) -> None:
    if task.what == "draws":
        batches = _BATCHES.validate_python(list(results))
        state.outcomes[task.rule] = Outcome(task.rule, task.position, task.request, "live", batches)
    elif task.what == "greedy":
        state.greedy, state.greedy_source = _ROWS.validate_python(list(results)), "live"
    else:
        state.near_tie, state.near_tie_source = _ROWS.validate_python(list(results))[-1], "live"


def one_of_each() -> list[str]:
    """The first prompt of each kind of text."""
    return [workload.prompts[0].name for workload in WORKLOADS]
