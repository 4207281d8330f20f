"""What the worksheet can start from: the visitor's runs, the recorded run, this machine as calibrated, papers. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median_high

from specviz.core import metrics
from specviz.core.metrics import Costs
from specviz.core.names import pair_name, short_name
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import terms_of
from specviz.core.theory import verification_steps
from specviz.core.trace import Trace
from specviz.core.verdict import is_trusted, verdict_of_run
from specviz.data.measured.batches import BatchStudy
from specviz.data.published import GPU_COSTS, PUBLISHED, GpuCosts, PublishedRun
from specviz.measure.ranking import known_costs
from specviz.measure.worksheet.model import MeasuredPasses, WorksheetModel

OPENING_DRAFT_LENGTH, OPENING_ALPHA = 4, 0.5  # for a calibrated pair that has no run yet
LINKED = "the values in the link"
QUIET = "quiet costs"
IN_BATCHES = "measured in batches of "  # the label of a start whose costs contain the load of other texts


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
    costs_from: str = ""  # where the costs are from, if not from what the label names
    measured: float | None = None  # the speedup of the run that this is; None where that cannot be trusted
    counted_at: int = 0  # the draft length of the counts; 0: the model's
    target: str = ""  # the model whose costs these are, as this program calls it; empty: not one that runs here

    @property
    def named_costs(self) -> str:
        return self.costs_from or self.label

    def verification_at(self, draft_length: int) -> float | None:
        """v(γ+1) for another draft length, from the measured table; None where there is none."""
        return verification_steps(self.verification, draft_length + 1) if self.verification else None

    @property
    def in_words(self) -> str:
        counts = f"; {self.accepted} of {self.drafted} guesses accepted" if self.drafted else ""
        at = f" at draft length {self.counted_at or self.model.draft_length}" if not self.costs_only else ""
        judged = f", {100 * self.model.alpha:.0f} % of the judged ones" if self.drafted and not self.costs_only else ""
        measured = f"; {self.measured:.2f}× measured in one pair of runs" if self.measured else ""
        costs = f"; {self.costs_from}" if self.costs_from.startswith(QUIET) else ""
        return f"{self.label}{counts}{at}{judged}{measured}{costs}."


def starts(
    finished: Sequence[Trace],
    recorded: Trace | None,
    costs: Mapping[tuple[str, str, str], Costs],
    raced: Mapping[str, Trace] | None = None,
    opened: Trace | None = None,
) -> list[WorksheetStart]:
    """Everything to start from, the newest run first, then the race's prompts (`raced`: by name), the opened file's."""
    named = [*((f"run {number}", trace) for number, trace in enumerate(finished, 1))]
    runs = [start_of_live_run(trace, _run_label(name, trace), costs) for name, trace in named]
    laps = [
        start_of_live_run(trace, _run_label(f"race, {name}", trace), costs) for name, trace in (raced or {}).items()
    ]
    found = [start for start in (*reversed(runs), *laps, start_of_file(opened) if opened else None) if start]
    first = start_of_run(recorded, f"the recorded run: {pair_name(recorded)}", "recorded") if recorded else None
    here = [calibrated(pair, each, finished)[0] for pair, each in costs.items()]
    published = [*(start_of_gpu(costs) for costs in GPU_COSTS), *(start_of_paper(run) for run in PUBLISHED)]
    return [*found, *([first] if first else []), *here, *published]


def start_of_run(trace: Trace, label: str, source: str) -> WorksheetStart | None:
    terms, costs, counts = terms_of(trace), metrics.costs(trace), metrics.count(trace.rounds)
    if terms is None or costs is None:
        return None
    times = terms.cost_ratio, terms.verification, terms.overhead
    model = WorksheetModel(terms.alpha, terms.draft_length, *times, operations_ratio=operations_ratio(trace))
    verdict = verdict_of_run(trace)
    made = "measured here in this session" if source == "live" else f"recorded on {trace.recorded_on.machine}"
    return WorksheetStart(
        label,
        f"Acceptance and costs {made}.",
        model,
        counts.drafted,
        counts.accepted,
        costs.verification,
        measured=verdict.speedup if verdict and verdict.trusted else None,
        target=trace.target.name,
    )


def start_of_live_run(
    trace: Trace, label: str, calibrated: Mapping[tuple[str, str, str], Costs]
) -> WorksheetStart | None:
    """A run of this visit. On a busy machine its own times say nothing, and its costs are those that are known."""
    start, drafter = start_of_run(trace, label, "live"), trace.drafter
    if start is None or drafter is None or is_trusted(trace):
        return start
    pair = trace.target.name, drafter.asked_as
    own = next((each for (target, draft, _), each in calibrated.items() if (target, draft) == pair), None)
    known = known_costs(trace, own)
    if known is None:
        return replace(start, source=f"{start.source} The machine was busy meanwhile: the costs may be wrong.")
    times = known.costs
    checked = verification_steps(times.verification, start.model.draft_length + 1)
    return replace(
        start,
        source=f"Acceptance measured here in this session, on a busy machine. {known.source}",
        model=replace(start.model, cost_ratio=times.cost_ratio, verification=checked, overhead=times.overhead),
        verification=times.verification,
        costs_from=f"{QUIET} of {known.place}",
    )


def start_of_file(trace: Trace) -> WorksheetStart | None:
    """The opened file's run; where no run of the target alone is beside it, its acceptance. None: nothing judged."""
    label = f"the opened file: {pair_name(trace)}"
    alpha, counts = metrics.per_place_rate(trace.rounds), metrics.count(trace.rounds)
    if alpha is None or (whole := start_of_run(trace, label, "recorded")):
        return whole if alpha is not None else None
    origin = f"imported from {trace.imported.system}" if trace.imported else f"recorded on {trace.recorded_on.machine}"
    longest = median_high(round.depth for round in trace.rounds if round.drafted)
    return WorksheetStart(
        label,
        f"Acceptance counted in the opened run, {origin}. It reports no costs: c, v, o and ĉ stay as they are.",
        WorksheetModel(alpha, min(longest, MAX_DRAFT_LENGTH), 0.0, 1.0, 0.0),
        counts.drafted,
        counts.accepted,
        acceptance_only=True,
    )


def calibrated(
    pair: tuple[str, str, str], costs: Costs, finished: Sequence[Trace]
) -> tuple[WorksheetStart, Trace | None]:
    """This machine as calibrated for a pair, with the acceptance of the newest run of that pair, and that run."""
    target, draft, precision = pair
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
    acceptance = "from your newest run of this pair" if terms else f"not measured, {OPENING_ALPHA} is assumed"
    start = WorksheetStart(
        f"this machine, calibrated: {short_name(draft)} → {short_name(target)} ({precision})",
        f"Costs measured here by calibration, {describe_interval(costs, draft_length)}; acceptance {acceptance}.",
        model,
        counts.drafted,
        counts.accepted,
        costs.verification,
        target=target,
    )
    return start, newest


def describe_interval(costs: Costs, draft_length: int) -> str:
    """How sure calibrated costs are, in words."""
    draft, check = costs.of_draft, costs.check_interval(draft_length + 1)
    if draft is None or check is None:
        return "their interval is not known"
    return f"95 % intervals: c {metrics.span(draft)}, v({draft_length + 1}) {metrics.span(check)}"


def add_passes(start: WorksheetStart, passes: MeasuredPasses | None) -> WorksheetStart:
    """The same, where its target is the one whose passes over several texts were measured, with those."""
    if passes is None or start.target != passes.target:
        return start
    return replace(start, model=replace(start.model, passes=passes))


def batch_starts(study: BatchStudy) -> Iterator[WorksheetStart]:
    for point in (study.at(size, study.draft_lengths[-1]) for size in study.batches if size > 1):
        passes, alpha = study.passes_of(point.batch), point.counts.per_judgement_rate or 0.0
        times = point.cost_ratio.value, point.verification.value, point.overhead.value
        made = f"recorded on {study.recorded_on.machine}, in passes over {point.batch} texts together"
        yield WorksheetStart(
            f"{IN_BATCHES}{point.batch}: {study.draft} → {study.target}",
            f"Acceptance and costs {made}.",
            WorksheetModel(alpha, point.draft_length, *times),
            point.counts.drafted,
            point.counts.accepted,
            passes.verification if passes else {},
        )


def start_of_paper(run: PublishedRun) -> WorksheetStart:
    """A published configuration. v and o are not published: 1 and 0, as the paper's own formula has them."""
    alpha = run.explaining_alpha if run.alpha is None else run.alpha
    given = "α, c and γ" if run.alpha is not None else "c and γ"
    modelled = "" if run.alpha is not None else " α is not published: the value that would explain the speedup is used."
    return WorksheetStart(
        f"published: {run.label}",
        f"{given} published ({run.source}), measured on {run.machine}; v = 1 and o = 0, as in the paper’s formula."
        f"{modelled}",
        WorksheetModel(alpha, run.draft_length, run.cost_ratio, 1.0, 0.0),
    )


def start_of_gpu(costs: GpuCosts) -> WorksheetStart:
    checked = verification_steps(costs.verification, OPENING_DRAFT_LENGTH + 1) if costs.verification else 1.0
    assumed = costs.assumed  # it may begin with a symbol such as c or v, which stays as it is
    assumed = assumed if assumed[1] == " " else assumed[0].upper() + assumed[1:]
    return WorksheetStart(
        f"published GPU costs: {costs.label}",
        f"Published: {costs.published}. {assumed}. Acceptance stays as it is.",
        WorksheetModel(OPENING_ALPHA, OPENING_DRAFT_LENGTH, costs.cost_ratio, checked, 0.0),
        verification=costs.verification,
        costs_only=True,
    )


def operations_ratio(trace: Trace) -> float:
    drafter = trace.drafter
    if drafter is None or not drafter.parameters or not trace.target.parameters:
        return 0.0
    return drafter.parameters / trace.target.parameters


def _run_label(name: str, trace: Trace) -> str:
    settings = trace.settings
    of = f"{pair_name(trace)}, γ = {settings.draft_length}{settings.manner}"
    return f"your {name}: {of}, temperature {settings.temperature:g}"
