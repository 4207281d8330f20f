"""The worksheet's model: acceptance and costs in, speedup and break-even out, in words too. Pure; all is modelled."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from specviz.core import theory
from specviz.core.numbers import localize, localize_text
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import RoundTerms, Terms
from specviz.core.texts import Sentences
from specviz.data.measured.batches import BatchStudy

BATCHES = [1, 2, 4, 8, 16, 32, 64, 128, 256]
MOST_COST, MOST_VERIFICATION, MOST_OVERHEAD, MOST_TOKENS = 1.5, 8.0, 2.0, 10_000_000  # the controls' upper limits


say = Sentences("worksheet")


@dataclass(frozen=True, slots=True)
class MeasuredPasses:
    target: str
    dtype: str
    machine: str
    checks: Mapping[int, Mapping[int, float]]  # batch → k → v(k)

    @property
    def largest(self) -> int:
        return max(self.checks)

    def steps(self, batch: int, tokens: int) -> float:
        """v(`tokens`) in a batch. Between two measured sizes it is on a straight line.

        Above the largest size, each further token takes as long as the mean further token of that size.
        """
        largest = self.largest
        if batch <= largest:
            sizes = {size: theory.verification_steps(its, tokens) for size, its in self.checks.items()}
            return theory.verification_steps(sizes, batch)
        longest, steps = max(self.checks[largest].items())
        a_token = (steps - 1) / (largest * (longest - 1))
        return (1 + a_token * (batch * tokens - largest)) / (1 + a_token * (batch - largest))

    def growth(self, batch: int, tokens: int) -> float:
        """How many times as dear a check of `tokens` is in a batch as for one text, each in steps of its own."""
        return self.steps(batch, tokens) / self.steps(1, tokens)


def measured_passes(study: BatchStudy) -> MeasuredPasses:
    """The passes of a study that read several tokens of each text; those over one text are among them."""
    checks = {each.batch: each.verification for each in study.passes if len(each.checks) > 1}
    return MeasuredPasses(study.target, study.target_dtype, study.recorded_on.machine, checks)


@dataclass(frozen=True, slots=True)
class WorksheetModel:
    """The values of the worksheet's controls. Times are in single-token target steps."""

    alpha: float  # per judgement
    draft_length: int
    cost_ratio: float  # c
    verification: float  # v at draft_length + 1, one sequence alone
    overhead: float  # o
    batch: int = 1  # sequences decoded together
    operations_ratio: float = 0.0  # ĉ
    survival: tuple[float, ...] = ()  # share of rounds that accepted position 1, 2, ... as counted; empty: alike
    passes: MeasuredPasses | None = field(default=None, compare=False)  # of this kind of machine; None: assumed
    block: bool = False  # one draft step writes the whole draft, so c is the cost of all its guesses together
    checks: Mapping[int, float] = field(default_factory=dict, compare=False)  # v(k) as measured, if v is one of them

    def guess_cost(self, draft_length: int) -> float:
        """The cost of one guess in target steps: c, or for a block of `draft_length` guesses its part of c."""
        return self.cost_ratio / max(1, draft_length) if self.block else self.cost_ratio

    def alone(self, tokens: int) -> float:
        """v(k) for one sequence: as measured, else on the straight line through v(1) = 1 and v(γ+1)."""
        if self.checks and tokens != self.draft_length + 1:
            return theory.verification_steps(self.checks, tokens)
        return 1 + max(0.0, (self.verification - 1) / self.draft_length) * (tokens - 1)

    def steps(self, tokens: int) -> float:
        """v(k) in a batch: one pass over `tokens` of every sequence, over one pass over one of every sequence.

        For one sequence it is `alone`. In a batch it grows as the measured passes do. If there are none, a pass is
        assumed to take 1 + s(n − 1) for n tokens in it, whichever sequence they are of, with the slope s that leads to
        `alone`: nearly free on an idle machine, `tokens` times as expensive on a busy one.
        """
        alone = self.alone(tokens)
        if self.passes:
            return alone * self.passes.growth(self.batch, tokens)
        slope = (alone - 1) / (tokens - 1) if tokens > 1 else 0.0
        return (1 + slope * (self.batch * tokens - 1)) / (1 + slope * (self.batch - 1))

    def at(self, draft_length: int) -> Terms:
        """The terms with this draft length, v in this batch. Tokens as counted up to its last position, else E(γ)."""
        checked, counted = self.steps(draft_length + 1), None
        if draft_length <= len(self.survival):
            counted = RoundTerms(1 + sum(self.survival[:draft_length]), draft_length, checked)
        return Terms(self.alpha, draft_length, self.guess_cost(draft_length), checked, self.overhead, counted)

    @property
    def terms(self) -> Terms:
        return self.at(self.draft_length)

    @property
    def extra_operations(self) -> float:
        return theory.extra_operations(self.alpha, self.draft_length, self.operations_ratio)

    @property
    def longest(self) -> int:
        """The longest draft that can be compared: the last counted position, else the slider's end."""
        return min(len(self.survival), MAX_DRAFT_LENGTH) or MAX_DRAFT_LENGTH

    @property
    def best(self) -> int:
        """The draft length up to `longest` with the highest realistic speedup; the shortest of equal ones."""
        return max(range(1, self.longest + 1), key=lambda length: self.at(length).speedup)

    @property
    def best_speedup(self) -> float:
        return self.at(self.best).speedup

    def speedup_at(self, alpha: float, draft_length: int) -> float:
        return theory.realistic_speedup(alpha, draft_length, self.guess_cost(draft_length), self.steps, self.overhead)


def alpha_of_counts(drafted: int, accepted: int, draft_length: int) -> float:
    return theory.alpha_from_acceptance_rate(min(1.0, accepted / drafted), draft_length)


def verdict_sentence(model: WorksheetModel) -> str:
    steps, needed = model.terms.steps, model.terms.break_even
    tokens, shown = agreeing(model.terms.tokens, steps)
    round = say("round", model=model, tokens=tokens, steps=shown)
    if needed is None:
        return say("never_pays", round=round, most=model.draft_length + 1)
    return say("pays", round=round, needed=needed, model=model) if needed else say("always_pays", round=round)


def agreeing(tokens: float, steps: float) -> tuple[str, str]:
    """Both with so many decimals that what is written down divides to the speedup that is said."""
    said = f"{tokens / steps:.2f}"
    pairs = [(f"{tokens:.{places}f}", f"{steps:.{places}f}") for places in (2, 3, 4)]
    found = next((pair for pair in pairs if f"{float(pair[0]) / float(pair[1]):.2f}" == said), pairs[-1])
    return localize_text(found[0]), localize_text(found[1])


def counts_sentence(drafted: int, accepted: int, counted_at: int) -> str:
    """Counts in, rate out, and the acceptance per judgement that leads to it at the draft length of the counts."""
    if not drafted:
        return say("nothing_drafted")
    if accepted > drafted:
        return say("impossible")
    rate, alpha = accepted / drafted, alpha_of_counts(drafted, accepted, counted_at)
    return say("counts", accepted=accepted, drafted=drafted, rate=rate, counted_at=counted_at, alpha=alpha)


def symbols(model: WorksheetModel) -> str:
    """Every term with its value, as a table in Markdown."""
    counted, needed = model.terms.counted, model.terms.break_even
    return say(
        "symbols",
        model=model,
        terms=model.terms,
        share=theory.acceptance_rate_from_alpha(model.alpha, model.draft_length),
        checked=model.draft_length + 1,
        tokens=say("tokens_counted" if counted else "tokens_expected"),
        step=say("block_step" if model.block else "guess_step"),
        drafting=say("block_cost" if model.block else "guess_cost"),
        needed=say("no_rate") if needed is None else localize(needed, ".3f"),
    )


def batch_sentence(model: WorksheetModel, measured: bool = False) -> str:
    """What the batch changes in the model. `measured`: the costs contain the load of a measurement."""
    if model.batch == 1:
        return say("one_loaded") if measured else ""
    if model.verification <= 1 and not model.passes:
        return say("free_checks")
    alone, here = replace(model, batch=1), model.terms.verification
    return say("batch", model=model, checked=model.draft_length + 1, here=here, alone=alone)


def batch_shape(model: WorksheetModel) -> str:
    return say("measured_shape", passes=model.passes) if model.passes else say("assumed_shape")
