"""What a visitor wants swept: as a plan, as a link and back, and how long it will take. Pure."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field

from specviz.core.drafters import named, spoken
from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, SHOWN, RunRequest, unlocked
from specviz.core.settings import MAX_DRAFT_LENGTH, DraftSchedule
from specviz.core.tree_shape import parse_tree
from specviz.data.page_link import DIGITS, REAL_NUMBER, ZERO_OR_ONE, PageLink, Params, one_of, real, unique
from specviz.data.permalink import Draft, FixedLink, Target
from specviz.data.workloads import WORKLOADS, find_workload
from specviz.measure.paired import Pace
from specviz.measure.sweep.plan import Cell, SweepPair, SweepPlan, SweepPrompt, plain_runs, workload_prompts

if TYPE_CHECKING:
    import pandas as pd

MAX_CELLS = 1000
MAX_PROMPTS_EACH = 10
MOST_DRAFTS = 4
WARM_UP_TOKENS = 6  # of both decoders before each group of runs, about

TEMPERATURES = (0.0, 0.3, 0.5, 0.7, 1.0, 1.5)  # what the page offers

USUAL_LENGTHS = (1, 2, 4, 8)

WorkloadName = Annotated[str, one_of([workload.name for workload in WORKLOADS])]
DraftLength = Annotated[int, DIGITS, Field(ge=1, le=MAX_DRAFT_LENGTH)]
Temperature = Annotated[float, REAL_NUMBER, one_of(TEMPERATURES)]
IN_ORDER = AfterValidator(lambda values: tuple(sorted(values)))


class Choice(FixedLink):
    """What the page's controls say, and so what its link holds: a run's settings, some of them with several values."""

    REFUSED: ClassVar[str] = PageLink.LEFT_OUT

    workloads: Annotated[tuple[WorkloadName, ...], unique(), Field(validation_alias="workload")] = (
        "story", "code", "structured", "copy", "prose", "random",
    )  # fmt: skip
    target: Target = DEFAULT_TARGET
    drafts: Annotated[tuple[Draft, ...], unique(MOST_DRAFTS), Field(validation_alias="draft")] = (DEFAULT_DRAFT,)
    draft_lengths: Annotated[tuple[DraftLength, ...], unique(), IN_ORDER, Field(validation_alias="gamma")] = (
        USUAL_LENGTHS
    )
    temperatures: Annotated[tuple[Temperature, ...], unique(), Field(validation_alias="temperature")] = (0.0,)
    schedules: Annotated[tuple[DraftSchedule, ...], unique(), Field(validation_alias="schedule")] = ("fixed",)
    prompts: Annotated[int, DIGITS, Field(ge=1, le=MAX_PROMPTS_EACH)] = 3  # of each workload
    constrain: Annotated[bool, ZERO_OR_ONE] = False
    top_p: Annotated[float, real(decimals=2), Field(ge=0.01, le=1)] = 1.0  # what the slider can hold

    @property
    def request(self) -> RunRequest:
        """What all runs have in common; a tree of a fixed shape sets the draft length."""
        usual = RunRequest("").shown()
        shown = unlocked({**usual, **{name: value for name, value in self if name in usual}})
        shape = None if (tree := SHOWN["tree"].taken(shown["tree"])) is None else parse_tree(tree)
        if shape and shape.depth:
            shown["gamma"] = shape.depth
        return RunRequest.of("", self.target, "", shown)

    def plan(self, own: Sequence[SweepPrompt] = ()) -> SweepPlan:
        chosen = [workload for name in self.workloads if (workload := find_workload(name))]
        request = self.request
        return SweepPlan(
            prompts=(*workload_prompts(chosen, self.prompts), *own),
            pairs=tuple(SweepPair(self.target, draft) for draft in self.drafts),
            draft_lengths=self.draft_lengths,
            temperatures=self.temperatures,
            schedules=self.schedules,
            constrain=self.constrain,
            settings=request.settings,
            precision=request.precision,
        )

    @property
    def _problem_of_tree(self) -> str | None:
        if self.request.settings.tree is None:
            return None
        for method in filter(None, map(named, self.drafts)):
            if not method.trees:
                label = f"{method.label[0].upper()}{method.label[1:]}"
                return f"{label} has one guess a place, so it drafts no tree: leave one of the two out."
        if self.schedules != ("fixed",):
            return "A tree has a fixed draft length: choose fixed γ as the only schedule."
        return None

    def problem(self, own: Sequence[SweepPrompt] = ()) -> str | None:
        missing = [
            (self.workloads or own, "a workload, or a file of your own prompts"),
            (self.drafts, "a draft"),
            (self.draft_lengths, "a draft length"),
            (self.temperatures, "a temperature"),
            (self.schedules, "a schedule"),
        ]
        for given, what in missing:
            if not given:
                return f"Nothing to measure yet: choose {what}."
        if problem := self._problem_of_tree:
            return problem
        cells = len(self.plan(own).cells())
        if cells > MAX_CELLS:
            return f"That is {cells:,} runs, and at most {MAX_CELLS:,} are taken at once: choose fewer of something."
        return None if cells else "Nothing to measure yet: prompt lookup has no confidence to stop by."


def choice_from_link(params: Params, known_models: Collection[str]) -> tuple[Choice, list[str]]:
    return Choice.read(params, context=frozenset(known_models))


def pace_of(rows: "pd.DataFrame", target: str, draft: str) -> Pace | None:
    of_draft = rows["draft"].map(spoken) == spoken(draft)
    its = rows[(rows["target"] == target) & of_draft]
    if its.empty:
        return None
    return Pace(
        float((its["speculative_seconds"] / its["new_tokens"]).median()),
        float((its["autoregressive_seconds"] / its["plain_tokens"]).median()),
    )


def estimated_seconds(cells: Sequence[Cell], paces: Mapping[SweepPair, Pace]) -> float | None:
    """About how long these cells take, warm-ups included; None where a pair's pace is not known."""
    if any(cell.pair not in paces for cell in cells):
        return None
    total = 0.0
    for pair in dict.fromkeys(cell.pair for cell in cells):
        its, pace = [cell for cell in cells if cell.pair == pair], paces[pair]
        tokens = sum(cell.settings.max_new_tokens for cell in its)
        plain = plain_runs(its) * (its[0].settings.max_new_tokens + WARM_UP_TOKENS)
        total += tokens * pace.speculative + plain * pace.plain
    return total
