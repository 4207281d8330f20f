"""What a visitor wants proved, as link and widgets hold it; what was proved so far, and what is under way."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

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
FoundName = records.RuleName | ProofPlace | None


@dataclass(frozen=True, slots=True)
class Found:
    """What a job, a recording or a file brought: batches of draws, texts that were compared, or every rule."""

    name: FoundName  # a rule's, or a part of the page; None: a student's own rule
    request: RunRequest
    source: ProofSource
    items: Sequence[Any]
    position: records.Position = "first"


def recorded() -> dict[FoundName, Found]:
    """What was recorded for everyone."""
    if not (proof := records.recorded_proof()):
        return {}
    drawn = [Found(each.rule, proof.request, "recorded", each.batches, each.position) for each in proof.draws]
    others: dict[FoundName, Sequence[Any]] = {
        "greedy": proof.greedy,
        "near-tie": [proof.near_tie],
        records.FORGETFUL.name: [proof.forgotten_row],
        "yours": [proof.enumerated],
    }
    more = [Found(name, proof.request, "recorded", items) for name, items in others.items() if None not in items]
    return {each.name: each for each in (*drawn, *more)}


@dataclass(slots=True)
class StudentFile:
    """What was drawn with a student's own rule, by `specviz lab run`."""

    outcomes: dict[records.Position, Found] = field(default_factory=dict)
    kind: str = ""  # of the mistake that `specviz lab check` finds in it
    problems: list[str] = field(default_factory=list)

    def open(self, content: bytes, _: str = "") -> None:
        """InputError: it is no such file; what was open stays."""
        request, draws = read_draws(content)
        self.outcomes = {d.position: Found(None, request, "file", d.batches, d.position) for d in draws.positions}
        self.kind = draws.kind


@dataclass(slots=True)
class SameQualityState:
    found: dict[FoundName, Found] = field(default_factory=recorded)
    student: StudentFile = field(default_factory=StudentFile)
    place: ProofPlace | None = None  # of the button that started the job
    asked: Found | None = None  # what that asked for, without items
    slot: JobSlot = field(default_factory=lambda: JobSlot("proof"))

    def start(
        self,
        place: ProofPlace,
        command: Prove | CompareGreedy | EnumerateRules,
        rule: records.RuleName | None = None,
        position: records.Position = "first",
    ) -> None:
        """The command has no number yet."""
        self.slot.start(lambda job: replace(command, job=job))
        self.place, self.asked = place, Found(rule or place, command.request, "live", (), position)

    def refresh(self) -> bool:
        before, asked = self.slot.view.items, self.asked
        self.slot.refresh()
        items = self.slot.view.items
        if items and asked and items is not before:
            self.found[asked.name] = replace(asked, items=items)
        return items is not before
