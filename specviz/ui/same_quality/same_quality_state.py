"""What one visitor has proved so far, and what is under way. No drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from specviz.core.request import RunRequest
from specviz.lab.draws import read_draws
from specviz.measure.proof.findings import Finding, InterimLook, finding, looks, place_looks
from specviz.measure.proof.rows import (
    DrawBatch,
    EnumeratedRules,
    GreedyRow,
    Position,
    RuleName,
    recorded_proof,
)
from specviz.service.job import Items
from specviz.service.protocol import CompareGreedy, EnumerateRules, Prove
from specviz.ui.shared.job_slot import JobSlot

ProofSource = Literal["recorded", "live", "file"]
ProofPlace = Literal["greedy", "near-tie", "sampling", "switch", "yours"]  # a part of the page


@dataclass(frozen=True, slots=True)
class Outcome:
    rule: RuleName | None  # None: a student's own, from a file
    position: Position
    request: RunRequest
    source: ProofSource
    batches: list[DrawBatch]

    @property
    def looks(self) -> list[InterimLook]:
        return looks(self.batches)

    @property
    def place_looks(self) -> list[InterimLook]:
        """One test of the places of the drawn tokens after each batch; empty if they were not recorded."""
        return place_looks(self.batches)

    @property
    def finding(self) -> Finding:
        return finding(self.batches)


@dataclass(frozen=True, slots=True)
class Enumerated:
    request: RunRequest
    source: ProofSource
    rules: EnumeratedRules


@dataclass(slots=True)
class StudentFile:
    """What was drawn with a student's own rule, by `specviz lab run`."""

    outcomes: dict[Position, Outcome] = field(default_factory=dict)
    kind: str = ""  # of the mistake that `specviz lab check` finds in it
    problems: list[str] = field(default_factory=list)

    def open(self, content: bytes) -> None:
        """InputError: it is no such file; what was open stays."""
        request, draws = read_draws(content)
        self.outcomes = {d.position: Outcome(None, d.position, request, "file", d.batches) for d in draws.positions}
        self.kind = draws.kind


@dataclass(frozen=True, slots=True)
class ProofTask:
    place: ProofPlace  # of the button that started it
    request: RunRequest
    rule: RuleName | None = None  # of draws, or the one that forgets a row
    position: Position = "first"


@dataclass(slots=True)
class SameQualityState:
    outcomes: dict[RuleName, Outcome] = field(default_factory=dict)
    greedy: list[GreedyRow] = field(default_factory=list)
    near_tie: GreedyRow | None = None
    forgotten_row: GreedyRow | None = None
    enumerated: Enumerated | None = None
    student: StudentFile = field(default_factory=StudentFile)
    compared: set[ProofPlace] = field(default_factory=set)  # which of these rows are of this visit
    task: ProofTask | None = None
    slot: JobSlot[Items[Any]] = field(default_factory=lambda: JobSlot("proof", Items))

    @property
    def drawing(self) -> RuleName | None:
        return self.task.rule if self.slot.busy and self.task else None

    def source(self, place: ProofPlace) -> ProofSource:
        return "live" if place in self.compared else "recorded"

    @classmethod
    def recorded(cls) -> Self:
        found = recorded_proof()
        if found is None:
            return cls()
        outcomes = {d.rule: Outcome(d.rule, d.position, found.request, "recorded", d.batches) for d in found.draws}
        state = cls(outcomes=outcomes, greedy=found.greedy, near_tie=found.near_tie, forgotten_row=found.forgotten_row)
        if found.enumerated:
            state.enumerated = Enumerated(found.request, "recorded", found.enumerated)
        return state

    def draw(self, request: RunRequest, rule: RuleName, position: Position, draws: int) -> None:
        self.task = ProofTask("sampling" if rule == "lossless" else "switch", request, rule, position)
        self.slot.start(lambda job: Prove(job, request, rule, position, draws))

    def compare(self, place: ProofPlace, request: RunRequest, presets: Sequence[str] = ()) -> None:
        """Start comparing prompts; a near-tie with the target in bfloat16, a switch with a cache that forgets a row."""
        half, forgets = place == "near-tie", place == "switch"
        self.task = ProofTask(place, request, "forgotten-row" if forgets else None)
        self.slot.start(lambda job: CompareGreedy(job, request, list(presets), half=half, forgets=forgets))

    def enumerate_rules(self, request: RunRequest) -> None:
        self.task = ProofTask("yours", request)
        self.slot.start(lambda job: EnumerateRules(job, request))

    def refresh(self) -> bool:
        before = self.slot.result
        self.slot.refresh()
        result, task = self.slot.result, self.task
        if result is before:
            return False
        if result and task and task.rule and result.task == "prove":
            items = list(result.items)
            self.outcomes[task.rule] = Outcome(task.rule, task.position, task.request, "live", items)
        elif result and task and result.task == "enumerate rules":
            self.enumerated = Enumerated(task.request, "live", result.items[-1])
        elif result and task:
            self.compared.add(task.place)
            if task.place == "greedy":
                self.greedy = list(result.items)
            elif task.place == "switch":
                self.forgotten_row = result.items[-1]
            else:
                self.near_tie = result.items[-1]
        return True
