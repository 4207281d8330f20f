"""What a visitor wants proved, as link and widgets hold it; what was proved so far, and what is under way."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self

from specviz.core.request import RunRequest
from specviz.core.settings import SETTINGS
from specviz.data.links.page_link import DIGITS, expecting, expecting_one_of, one_of
from specviz.data.links.permalink import RunLink
from specviz.data.texts import page_texts
from specviz.lab.draws import read_draws
from specviz.measure.proof import rows as records
from specviz.measure.proof.rows import REAL, AcceptName, BonusName, Pieces, ReplaceName
from specviz.service.protocol import CompareGreedy, EnumerateRules, Prove
from specviz.ui.shared.form import Form
from specviz.ui.shared.job_slot import JobSlot
from specviz.ui.shared.persistent_widgets import Widget

LINKS = page_texts("links")
DRAWS = [500, 1000, 2000, 5000, 10_000, records.MOST_DRAWS]
SWITCHES: list[records.RuleName] = [
    rule.name for rule in (*records.RULES, records.FORGETFUL) if rule.name != "lossless"
]
FIRST_SWITCH: records.RuleName = "no-residual"
FIRST_PIECES = next(rule.pieces or REAL for rule in records.RULES if rule.name == FIRST_SWITCH)
LEAST_TEMPERATURE = 0.1
KNOWN = expecting(lambda: LINKS["known"])


class ProofLink(RunLink):
    position: Annotated[records.Position, KNOWN, Widget("radio", "which_token")] = "first"
    draws: Annotated[int, DIGITS, one_of(DRAWS), expecting_one_of(DRAWS), Widget("select_slider", "how_often")] = 2000
    rule: Annotated[records.RuleName, one_of(SWITCHES), KNOWN, Widget("radio", "switch")] = FIRST_SWITCH
    # of the visitor's own rule
    accept: Annotated[AcceptName, KNOWN, Widget("radio", "piece_accept", fresh=True)] = FIRST_PIECES.accept
    replace: Annotated[ReplaceName, KNOWN, Widget("radio", "piece_replace", fresh=True)] = FIRST_PIECES.replace
    bonus: Annotated[BonusName, KNOWN, Widget("radio", "piece_bonus", fresh=True)] = FIRST_PIECES.bonus

    @property
    def pieces(self) -> Pieces:
        return Pieces(self.accept, self.replace, self.bonus)

    def fitted(self) -> Self:
        """Drawn tokens, of which the page has its own number, each drafted in one way."""
        fitted, usual = super().fitted(), (SETTINGS["max_new_tokens"], SETTINGS["draft_schedule"])
        temperature = fitted.request().settings.temperature
        sampled = {"temperature": max(LEAST_TEMPERATURE, round(temperature, 1)) if temperature else 1.0}
        return fitted.model_copy(update=sampled | {row.link: row.default for row in usual})


FORM = Form("same_quality", ProofLink())


ProofSource = Literal["recorded", "live", "file"]
ProofPlace = Literal["greedy", "near-tie", "sampling", "switch", "yours"]  # a part of the page


@dataclass(frozen=True, slots=True)
class Outcome:
    rule: records.RuleName | None  # None: a student's own, from a file
    position: records.Position
    request: RunRequest
    source: ProofSource
    batches: list[records.DrawBatch]


@dataclass(frozen=True, slots=True)
class Enumerated:
    request: RunRequest
    source: ProofSource
    rules: records.EnumeratedRules


@dataclass(slots=True)
class StudentFile:
    """What was drawn with a student's own rule, by `specviz lab run`."""

    outcomes: dict[records.Position, Outcome] = field(default_factory=dict)
    kind: str = ""  # of the mistake that `specviz lab check` finds in it
    problems: list[str] = field(default_factory=list)

    def open(self, content: bytes, _: str = "") -> None:
        """InputError: it is no such file; what was open stays."""
        request, draws = read_draws(content)
        self.outcomes = {d.position: Outcome(None, d.position, request, "file", d.batches) for d in draws.positions}
        self.kind = draws.kind


ProofCommand = Prove | CompareGreedy | EnumerateRules


@dataclass(slots=True)
class SameQualityState:
    outcomes: dict[records.RuleName, Outcome] = field(default_factory=dict)
    rows: dict[ProofPlace, list[records.GreedyRow]] = field(default_factory=dict)  # texts that were compared
    enumerated: Enumerated | None = None
    student: StudentFile = field(default_factory=StudentFile)
    compared: set[ProofPlace] = field(default_factory=set)  # which of these rows are of this visit
    place: ProofPlace | None = None  # of the button that started the job
    command: ProofCommand | None = None  # what that asked for
    slot: JobSlot = field(default_factory=lambda: JobSlot("proof"))

    def source(self, place: ProofPlace) -> ProofSource:
        return "live" if place in self.compared else "recorded"

    @property
    def rule(self) -> records.RuleName | None:
        """Of the job: the rule by which it draws, or the one that forgets a row."""
        if isinstance(self.command, CompareGreedy):
            return records.FORGETFUL.name if self.command.forgets else None
        return self.command.rule if isinstance(self.command, Prove) else None

    def __post_init__(self) -> None:
        """It begins with what was recorded for everyone."""
        if self.outcomes or not (found := records.recorded_proof()):
            return
        self.outcomes = {d.rule: Outcome(d.rule, d.position, found.request, "recorded", d.batches) for d in found.draws}
        self.rows = {"greedy": found.greedy, "near-tie": [found.near_tie]}
        if found.forgotten_row:
            self.rows["switch"] = [found.forgotten_row]
        if found.enumerated:
            self.enumerated = Enumerated(found.request, "recorded", found.enumerated)

    def start(self, place: ProofPlace, make: Callable[[int], ProofCommand]) -> None:
        self.slot.start(make)
        self.place, self.command = place, make(0)

    def refresh(self) -> bool:
        before, asked = self.slot.view.items, self.command
        self.slot.refresh()
        items = list(self.slot.view.items)
        if self.slot.view.items is before:
            return False
        if not items or not asked:
            return True
        if isinstance(asked, Prove):
            self.outcomes[asked.rule] = Outcome(asked.rule, asked.position, asked.request, "live", items)
        elif isinstance(asked, EnumerateRules):
            self.enumerated = Enumerated(asked.request, "live", items[-1])
        elif self.place:
            self.rows[self.place] = items
            self.compared.add(self.place)
        return True
