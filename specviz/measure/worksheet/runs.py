"""Everything measured that the worksheet compares with its model: runs, races and sweeps, the visitor's or recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from specviz.core import metrics
from specviz.core.names import pair_name
from specviz.core.numbers import localize
from specviz.core.terms import RoundTerms, Terms, terms_of
from specviz.core.texts import Sentences
from specviz.core.theory import expected_tokens_by_position, round_steps, verification_steps
from specviz.core.trace import Trace
from specviz.core.verdict import is_trusted
from specviz.data.texts import page_texts
from specviz.measure.paired import Comparison
from specviz.measure.sweep.rows import iterate_rows
from specviz.measure.sweep.study import Study, workload_title

MeasuringPage = Literal["watch", "race", "when_it_helps"]
say = Sentences("runs")


@dataclass(frozen=True, slots=True)
class Gap:
    terms: Terms  # of this run
    ideal: float  # E(γ) / (γc + 1), from one α
    clustering: float  # what the rates by position change
    verification: float  # what v(γ+1) changes
    overhead: float  # what o changes
    measured: float

    @property
    def by_position(self) -> float:
        return self.ideal + self.clustering + self.verification + self.overhead

    @property
    def rest(self) -> float:
        """The change that no term of the formula explains: rounds with shorter drafts, uneven steps."""
        return self.measured - self.by_position

    @property
    def sentence(self) -> str:
        return say("gap", gap=self)


def signed(change: float) -> str:
    return localize(change, "+.2f").replace("-", "−")


def gap_of(trace: Trace, measured: float | None = None) -> Gap | None:
    """Split a run's gap: Theorem 3.8 with one α, then the rates by position, then v(γ+1), then o; the order matters."""
    terms, measured = terms_of(trace), measured or metrics.speedup(trace)
    if terms is None or not measured:
        return None
    draft_length, cost = terms.draft_length, terms.cost_ratio
    tokens = expected_tokens_by_position(position_rates(trace, draft_length))
    clustered = tokens / round_steps(draft_length, cost)
    verified = tokens / round_steps(draft_length, cost, terms.verification)
    complete = tokens / round_steps(draft_length, cost, terms.verification, terms.overhead)
    return Gap(terms, terms.ideal, clustered - terms.ideal, verified - clustered, complete - verified, measured)


def position_rates(trace: Trace, draft_length: int) -> list[float]:
    """Up to the last position that was judged."""
    positions = metrics.count_by_position(trace.rounds, draft_length)
    return [each.rate or 0.0 for each in takewhile(lambda each: each.rate is not None, positions)]


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    where: MeasuringPage  # the page that measured it
    recorded: bool  # False: in this session, on this machine
    label: str
    terms: Terms  # acceptance and costs as measured with it
    measured: float
    gap: Gap | None = None  # None where acceptance by position is not stored

    @property
    def source(self) -> str:
        return say("recorded" if self.recorded else "yours", page=page_texts("titles")[self.where])


def collect_runs(traces: Sequence[Trace], recorded: bool) -> list[MeasuredRun]:
    found = []
    for trace, gap in ((trace, gap) for trace in reversed(traces) if (gap := gap_of(trace))):
        label = pair_name(trace) if recorded or is_trusted(trace) else say("doubted", pair=pair_name(trace))
        found.append(MeasuredRun("watch", recorded, label, gap.terms, gap.measured, gap))
    return found


def collect_laps(laps: Sequence[Comparison], recorded: bool) -> list[MeasuredRun]:
    return [
        MeasuredRun("race", recorded, f"{lap.name}: {pair_name(lap.speculative)}", gap.terms, gap.measured, gap)
        for lap in laps
        if (gap := gap_of(lap.both, lap.verdict.speedup))
    ]


def collect_rows(studies: Sequence[Study], recorded: bool) -> list[MeasuredRun]:
    found = []
    for study in studies:
        if not (costs := study.costs):
            continue
        for point in iterate_rows(study.points.dropna(subset="per_judgement_rate")):
            length, checked = point.draft_length, verification_steps(costs.verification, point.draft_length + 1)
            counted = None
            if study.lookup:  # prompt lookup: it often finds fewer tokens than it may draft
                counted = RoundTerms(point.tokens_per_target_call, point.drafted / point.rounds, checked)
            terms = Terms(point.per_judgement_rate, length, costs.cost_ratio, checked, costs.overhead, counted)
            label = f"{workload_title(point.workload)}: {study.series.label}"
            found.append(MeasuredRun("when_it_helps", recorded, label, terms, point.speedup))
    return found
