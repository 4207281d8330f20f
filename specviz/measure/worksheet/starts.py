"""What the worksheet can start from: the visitor's runs, the recorded run, this machine as calibrated, papers. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_high

from specviz.core import metrics
from specviz.core.metrics import Costs
from specviz.core.names import pair_name, short_name
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import terms_of
from specviz.core.texts import Sentences
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.core.verdict import is_trusted, verdict_of_run
from specviz.data.measured.batches import BatchStudy
from specviz.data.measured.quiet_costs import known_costs
from specviz.data.published import GPU_COSTS, PUBLISHED, GpuCosts, PublishedRun
from specviz.data.texts import page_texts
from specviz.measure.worksheet.model import WorksheetModel

OPENING_DRAFT_LENGTH, OPENING_ALPHA = 4, 0.5  # for a calibrated pair that has no run yet
say = Sentences("starts")


@dataclass(frozen=True, slots=True)
class CostsOrigin:
    """Where costs are from."""

    name: str = ""  # in words; empty: what the label of the start names
    # Of another machine, chosen or inferred: runs of this program's small models say nothing of a server.
    are_told: bool = False
    contain_load: bool = False  # of passes beside other texts


OF_RUNS, TOLD, OF_BATCHES = CostsOrigin(), CostsOrigin(are_told=True), CostsOrigin(contain_load=True)


@dataclass(frozen=True, slots=True)
class WorksheetStart:
    label: str  # unique among the starts
    source: str  # measured here, recorded, or published: one line
    model: WorksheetModel
    drafted: int = 0
    accepted: int = 0
    verification: Mapping[int, float] = field(default_factory=dict)  # v(k) as measured; empty where it is not
    costs_only: bool = False  # says nothing of acceptance: α, γ and the counts stay as they are
    acceptance_only: bool = False  # says nothing of costs: c, v as a function of k, and o stay as they are
    costs_from: CostsOrigin = OF_RUNS
    measured: float | None = None  # the speedup of the run that this is; None where that cannot be trusted
    counted_at: int = 0  # the draft length of the counts; 0: the model's
    target: str = ""  # the model whose costs these are, as this program calls it; empty: not one that runs here

    @property
    def named_costs(self) -> CostsOrigin:
        return replace(self.costs_from, name=self.costs_from.name or self.label)

    def verification_at(self, draft_length: int) -> float | None:
        """v(γ+1) for another draft length, from the measured table; None where there is none."""
        return verification_steps(self.verification, draft_length + 1) if self.verification else None

    @property
    def in_words(self) -> str:
        said = self.label
        if self.drafted:
            said = say("counted", start=self, length=self.counted_at or self.model.draft_length)
        if self.measured:
            said = say("measured", said=said, speedup=self.measured)
        return say("whole", said=said)


def starts(
    finished: Sequence[Trace],
    recorded: Trace,
    costs: Mapping[tuple[str, str], Costs],
    raced: Mapping[str, Trace] | None = None,
    opened: Trace | None = None,
) -> list[WorksheetStart]:
    """Everything to start from, the newest run first, then the race's prompts (`raced`: by name), the opened file's."""
    runs = [
        start_of_live_run(trace, say("your_run", number=number, run=_describe(trace), settings=trace.settings), costs)
        for number, trace in enumerate(finished, 1)
    ]
    laps = [
        start_of_live_run(trace, say("your_race", name=name, run=_describe(trace), settings=trace.settings), costs)
        for name, trace in (raced or {}).items()
    ]
    file = start_of_file(opened) if opened else None
    first = start_of_run(recorded, say("recorded_run", pair=pair_name(recorded)), "recorded")
    here = [calibrated(pair, each, finished)[0] for pair, each in costs.items()]
    published = [*(start_of_gpu(costs) for costs in GPU_COSTS), *(start_of_paper(run) for run in PUBLISHED)]
    return [*(start for start in (*reversed(runs), *laps, file, first) if start), *here, *published]


def start_of_run(trace: Trace, label: str, source: str) -> WorksheetStart | None:
    terms, costs, counts = terms_of(trace), metrics.costs(trace), metrics.count(trace.rounds)
    if terms is None or costs is None:
        return None
    times = terms.cost_ratio, terms.verification, terms.overhead
    model = WorksheetModel(terms.alpha, terms.draft_length, *times, operations_ratio=operations_ratio(trace))
    verdict = verdict_of_run(trace)
    return WorksheetStart(
        label,
        say("made_here") if source == "live" else say("recorded", machine=trace.recorded_on.machine),
        model,
        counts.drafted,
        counts.accepted,
        costs.verification,
        measured=verdict.speedup if verdict and verdict.trusted else None,
        target=trace.target.name,
    )


def start_of_live_run(trace: Trace, label: str, calibrated: Mapping[tuple[str, str], Costs]) -> WorksheetStart | None:
    """A run of this visit. On a busy machine its own times say nothing, and its costs are those that are known."""
    start, drafter = start_of_run(trace, label, "live"), trace.drafter
    if start is None or drafter is None or is_trusted(trace):
        return start
    pair = trace.target.name, drafter.asked_as
    known = known_costs(trace, calibrated.get(pair))
    if known is None:
        return replace(start, source=say("busy", source=start.source))
    times = known.costs
    checked = verification_steps(times.verification, start.model.draft_length + 1)
    return replace(
        start,
        source=say("busy_known", source=known.source),
        model=replace(start.model, cost_ratio=times.cost_ratio, verification=checked, overhead=times.overhead),
        verification=times.verification,
        costs_from=CostsOrigin(say("quiet_costs", place=known.place)),
    )


def start_of_file(trace: Trace) -> WorksheetStart | None:
    """The opened file's run; where no run of the target alone is beside it, its acceptance. None: nothing judged."""
    label = say("opened_file", pair=pair_name(trace))
    alpha, counts = metrics.per_place_rate(trace.rounds), metrics.count(trace.rounds)
    if alpha is None or (whole := start_of_run(trace, label, "recorded")):
        return whole if alpha is not None else None
    longest = median_high(round.depth for round in trace.rounds if round.drafted)
    return WorksheetStart(
        label,
        say("counted_alone"),
        WorksheetModel(alpha, min(longest, MAX_DRAFT_LENGTH), 0.0, 1.0, 0.0),
        counts.drafted,
        counts.accepted,
        acceptance_only=True,
    )


def calibrated(pair: tuple[str, str], costs: Costs, finished: Sequence[Trace]) -> tuple[WorksheetStart, Trace | None]:
    """This machine as calibrated for a pair, with the acceptance of the newest run of that pair, and that run."""
    target, draft = pair
    runs = ((trace, trace.drafter) for trace in reversed(finished) if trace.target.name == target)
    its = (trace for trace, drafter in runs if drafter and drafter.asked_as == draft)
    newest = next(filter(terms_of, its), None)
    terms = terms_of(newest) if newest else None
    draft_length = terms.draft_length if terms else OPENING_DRAFT_LENGTH
    counts = metrics.count(newest.rounds) if newest else metrics.Counts()
    model = WorksheetModel(
        terms.alpha if terms else OPENING_ALPHA,
        draft_length,
        costs.cost_ratio,
        verification_steps(costs.verification, draft_length + 1),
        costs.overhead,
        operations_ratio=operations_ratio(newest) if newest else 0.0,
    )
    sure = describe_interval(costs, draft_length)
    start = WorksheetStart(
        say("calibrated", pair=describe_pair(pair)),
        say("calibrated_run", sure=sure) if terms else say("calibrated_alone", sure=sure, assumed=OPENING_ALPHA),
        model,
        counts.drafted,
        counts.accepted,
        costs.verification,
        target=target,
    )
    return start, newest


def describe_pair(pair: tuple[str, str]) -> str:
    target, draft = pair
    return f"{short_name(draft)} → {short_name(target)}"


def describe_interval(costs: Costs, draft_length: int) -> str:
    """How sure calibrated costs are, in words."""
    draft, check = costs.of_draft, costs.check_interval(draft_length + 1)
    if draft is None or check is None:
        return say("no_interval")
    return say("intervals", draft=metrics.span(draft), checked=draft_length + 1, check=metrics.span(check))


def batch_starts(study: BatchStudy) -> Iterator[WorksheetStart]:
    for point in (study.at(size, study.draft_lengths[-1]) for size in study.batches if size > 1):
        passes, alpha = study.passes_of(point.batch), point.counts.per_judgement_rate or 0.0
        times = point.cost_ratio.value, point.verification.value, point.overhead.value
        yield WorksheetStart(
            say("in_batches", batch=point.batch, study=study),
            say("recorded_in_batches", machine=study.recorded_on.machine, batch=point.batch),
            WorksheetModel(alpha, point.draft_length, *times),
            point.counts.drafted,
            point.counts.accepted,
            passes.verification if passes else {},
            costs_from=OF_BATCHES,
        )


def start_of_paper(run: PublishedRun) -> WorksheetStart:
    """A published configuration. v and o are not published: 1 and 0, as the paper's own formula has them."""
    alpha = run.explaining_alpha if run.alpha is None else run.alpha
    return WorksheetStart(
        say("published", label=run.label),
        say("of_paper" if run.alpha is not None else "of_paper_without_alpha", run=run),
        WorksheetModel(alpha, run.draft_length, run.cost_ratio, 1.0, 0.0),
        costs_from=TOLD,
    )


def start_of_gpu(costs: GpuCosts) -> WorksheetStart:
    checked = verification_steps(costs.verification, OPENING_DRAFT_LENGTH + 1) if costs.verification else 1.0
    texts = page_texts("published")
    assumed = texts[costs.assumed]  # it may begin with a symbol such as c or v, which stays as it is
    assumed = assumed if assumed[1] == " " else assumed[0].upper() + assumed[1:]
    return WorksheetStart(
        say("published_costs", label=costs.label),
        say("of_gpu", published=texts[costs.published], assumed=assumed),
        WorksheetModel(OPENING_ALPHA, OPENING_DRAFT_LENGTH, costs.cost_ratio, checked, 0.0),
        verification=costs.verification,
        costs_only=True,
        costs_from=TOLD,
    )


def operations_ratio(trace: Trace) -> float:
    drafter = trace.drafter
    if drafter is None or not drafter.parameters or not trace.target.parameters:
        return 0.0
    return drafter.parameters / trace.target.parameters


def _describe(trace: Trace) -> str:
    return f"{pair_name(trace)}, γ = {trace.settings.draft_length}{trace.settings.manner}"
