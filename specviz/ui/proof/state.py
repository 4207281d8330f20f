"""What one visitor has proved so far, what is under way, and how results come in. No drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from specviz.core.request import RunRequest
from specviz.data.workloads import WORKLOADS
from specviz.measure.proof.findings import Finding, finding
from specviz.measure.proof.recorded import recorded_proof
from specviz.measure.proof.rows import DrawBatch, GreedyRow
from specviz.measure.proof.rule_names import Position, RuleName
from specviz.measure.proof.statistics import Look, looks, place_looks
from specviz.service.protocol import CompareGreedy, Prove
from specviz.service.results import GreedyResult, ProofResult
from specviz.ui.shared.job_slot import JobSlot

Source = Literal["recorded", "live"]


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
    def place_looks(self) -> list[Look]:
        """One test of the places of the drawn tokens after each batch; empty if they were not recorded."""
        return place_looks(self.batches)

    @property
    def plain_place_looks(self) -> list[Look]:
        """The same test on what plain decoding wrote."""
        return place_looks(self.batches, "plain")

    @property
    def finding(self) -> Finding:
        """What they come to."""
        return finding(self.batches)

    @property
    def accepted_share(self) -> float | None:
        """Share of runs whose first drafted token was accepted; None if nothing was drafted."""
        proposed = sum(batch.proposed for batch in self.batches)
        return sum(batch.accepted for batch in self.batches) / proposed if proposed else None


@dataclass(frozen=True, slots=True)
class Task:
    """What was started last."""

    what: Literal["draws", "greedy", "near-tie", "forgotten row"]
    request: RunRequest
    rule: RuleName = "lossless"
    position: Position = "first"


@dataclass(slots=True)
class Proving:
    """One visitor's proofs."""

    values: dict[str, Any] = field(default_factory=dict)  # what the widgets hold, by their keys
    notes: list[str] = field(default_factory=list)  # what of a link could not be used
    acted: bool = False  # the visitor chose something or opened a link: from here on the address says what
    outcomes: dict[RuleName, Outcome] = field(default_factory=dict)
    greedy: list[GreedyRow] = field(default_factory=list)
    greedy_source: Source = "recorded"
    near_tie: GreedyRow | None = None
    near_tie_source: Source = "recorded"
    forgotten_row: GreedyRow | None = None
    forgotten_row_source: Source = "recorded"
    task: Task | None = None
    slot: JobSlot[ProofResult | GreedyResult] = field(
        default_factory=lambda: JobSlot[ProofResult | GreedyResult]("proof", ProofResult, GreedyResult)
    )

    @property
    def drawing(self) -> RuleName | None:
        """The rule whose draws are under way."""
        return self.task.rule if self.slot.busy and self.task and self.task.what == "draws" else None

    @classmethod
    def recorded(cls) -> Self:
        """At first: what was recorded for everyone."""
        found = recorded_proof()
        if found is None:
            return cls()
        outcomes = {d.rule: Outcome(d.rule, d.position, found.request, "recorded", d.batches) for d in found.draws}
        return cls(outcomes=outcomes, greedy=found.greedy, near_tie=found.near_tie, forgotten_row=found.forgotten_row)

    def draw(self, request: RunRequest, rule: RuleName, position: Position, draws: int) -> None:
        """Start drawing; the first new draws replace what this rule had before."""
        self.task = Task("draws", request, rule, position)
        self.slot.start(lambda job: Prove(job, request, rule, position, draws))

    def compare_greedy(self, request: RunRequest, presets: Sequence[str]) -> None:
        """Start comparing these presets, or the request's own prompt where there are none."""
        self.task = Task("greedy", request)
        self.slot.start(lambda job: CompareGreedy(job, request, list(presets)))

    def repeat_near_tie(self, request: RunRequest, preset: str) -> None:
        """Run the near-tie's example here: its prompt and draft length, with the target in bfloat16."""
        self.task = Task("near-tie", request)
        self.slot.start(lambda job: CompareGreedy(job, request, [preset], half=True))

    def forget_row(self, request: RunRequest) -> None:
        """Start comparing the request's prompt with a target whose cache forgets a row."""
        self.task = Task("forgotten row", request, "forgotten-row")
        self.slot.start(lambda job: CompareGreedy(job, request, [], forgets=True))

    def refresh(self) -> bool:
        """Take in what the engine has sent; whether that is new."""
        before = self.slot.result
        self.slot.refresh()
        result, task = self.slot.result, self.task
        if result is before:
            return False
        if isinstance(result, ProofResult) and task:
            items = list(result.items)
            self.outcomes[task.rule] = Outcome(task.rule, task.position, task.request, "live", items)
        elif isinstance(result, GreedyResult) and task:
            self._take_rows(task, result.items)
        return True

    def _take_rows(self, task: Task, rows: Sequence[GreedyRow]) -> None:
        if task.what == "greedy":
            self.greedy, self.greedy_source = list(rows), "live"
        elif task.what == "forgotten row":
            self.forgotten_row, self.forgotten_row_source = rows[-1], "live"
        else:
            self.near_tie, self.near_tie_source = rows[-1], "live"


def one_of_each() -> list[str]:
    """The first prompt of each kind of text."""
    return [workload.prompts[0].name for workload in WORKLOADS]
