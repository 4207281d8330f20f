"""What is to be proved, as a link and back; what one visitor has proved so far, and what is under way. No drawing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from specviz.core.request import RunRequest
from specviz.core.settings import PromptFormat
from specviz.data.links.page_link import DIGITS, Params, one_of
from specviz.data.links.permalink import RunLink, link_of
from specviz.data.prompts.workloads import CHAT_WORKLOADS, WORKLOADS
from specviz.measure.proof.findings import Finding, InterimLook, finding, looks, place_looks
from specviz.measure.proof.rows import (
    FORGETFUL,
    MOST_DRAWS,
    RULES,
    DrawBatch,
    GreedyRow,
    Position,
    RuleName,
    recorded_proof,
)
from specviz.service.job import Items
from specviz.service.protocol import CompareGreedy, Prove
from specviz.ui.shared.arrival import Arrival
from specviz.ui.shared.job_slot import JobSlot

ProofSource = Literal["recorded", "live"]
ProofPlace = Literal["greedy", "near-tie", "sampling", "switch"]  # a part of the page


@dataclass(frozen=True, slots=True)
class Outcome:
    rule: RuleName
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

    @property
    def accepted_share(self) -> float | None:
        """Share of runs whose first drafted token was accepted; None if nothing was drafted."""
        proposed = sum(batch.proposed for batch in self.batches)
        return sum(batch.accepted for batch in self.batches) / proposed if proposed else None


@dataclass(frozen=True, slots=True)
class ProofTask:
    place: ProofPlace  # of the button that started it
    request: RunRequest
    rule: RuleName | None = None  # of draws, or the one that forgets a row
    position: Position = "first"


@dataclass(slots=True)
class SameQualityState:
    values: dict[str, Any] = field(default_factory=dict)  # what the widgets hold, by their keys
    came: Arrival = field(default_factory=Arrival)
    outcomes: dict[RuleName, Outcome] = field(default_factory=dict)
    greedy: list[GreedyRow] = field(default_factory=list)
    near_tie: GreedyRow | None = None
    forgotten_row: GreedyRow | None = None
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
        return cls(outcomes=outcomes, greedy=found.greedy, near_tie=found.near_tie, forgotten_row=found.forgotten_row)

    def draw(self, request: RunRequest, rule: RuleName, position: Position, draws: int) -> None:
        self.task = ProofTask("sampling" if rule == "lossless" else "switch", request, rule, position)
        self.slot.start(lambda job: Prove(job, request, rule, position, draws))

    def compare(self, place: ProofPlace, request: RunRequest, presets: Sequence[str] = ()) -> None:
        """Start comparing prompts; a near-tie with the target in bfloat16, a switch with a cache that forgets a row."""
        half, forgets = place == "near-tie", place == "switch"
        self.task = ProofTask(place, request, "forgotten-row" if forgets else None)
        self.slot.start(lambda job: CompareGreedy(job, request, list(presets), half=half, forgets=forgets))

    def refresh(self) -> bool:
        before = self.slot.result
        self.slot.refresh()
        result, task = self.slot.result, self.task
        if result is before:
            return False
        if result and task and task.rule and result.task == "prove":
            items = list(result.items)
            self.outcomes[task.rule] = Outcome(task.rule, task.position, task.request, "live", items)
        elif result and task:
            self.compared.add(task.place)
            if task.place == "greedy":
                self.greedy = list(result.items)
            elif task.place == "switch":
                self.forgotten_row = result.items[-1]
            else:
                self.near_tie = result.items[-1]
        return True


ONE_OF_EACH: dict[PromptFormat, list[str]] = {
    "raw": [workload.prompts[0].name for workload in WORKLOADS],
    "chat": [workload.prompts[0].name for workload in CHAT_WORKLOADS],
}
DRAWS = [500, 1000, 2000, 5000, 10_000, MOST_DRAWS]
SWITCHES: list[RuleName] = [rule.name for rule in (*RULES, FORGETFUL) if rule.name != "lossless"]
FIRST_SWITCH: RuleName = "no-residual"


@dataclass(frozen=True, slots=True)
class ProofRequest:
    request: RunRequest
    preset: str | None = None
    position: Position = "first"
    draws: int = 2000
    rule: RuleName = FIRST_SWITCH  # the switch chosen

    def link(self) -> dict[str, str]:
        more = {"position": self.position, "draws": str(self.draws), "rule": self.rule}
        return link_of(self.request, preset=self.preset) | more


class ProofLink(RunLink):
    position: Annotated[Position, Field(description="a position known here")] = "first"
    draws: Annotated[int, DIGITS, one_of(DRAWS), Field(description=f"one of {', '.join(map(str, DRAWS))}")] = 2000
    rule: Annotated[RuleName, one_of(SWITCHES), Field(description="a rule known here")] = FIRST_SWITCH


def wanted_from_link(params: Params, known_models: Collection[str]) -> tuple[ProofRequest, list[str]]:
    link, problems = ProofLink.read(params, context=frozenset(known_models))
    prompt, preset, more = link.chosen_prompt()
    return ProofRequest(link.request(prompt), preset, link.position, link.draws, link.rule), [*problems, *more]
