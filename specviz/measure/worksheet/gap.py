"""The gap between the paper's formula and a measured speedup, as steps that add up. Pure."""

from dataclasses import dataclass
from statistics import median_high

from specviz.core import metrics
from specviz.core.terms import Terms, terms_of
from specviz.core.theory import expected_tokens_by_position, round_steps
from specviz.core.trace import Trace


@dataclass(frozen=True, slots=True)
class Gap:
    """One run: predicted, measured, and the causes between them, each added to those before it."""

    terms: Terms  # of this run
    ideal: float  # E(γ) / (γc + 1), from one α
    clustering: float  # what the rates by position change
    verification: float  # what v(γ+1) changes
    overhead: float  # what o changes
    measured: float

    @property
    def by_position(self) -> float:
        """The prediction with every cost, and acceptance by position."""
        return self.ideal + self.clustering + self.verification + self.overhead

    @property
    def rest(self) -> float:
        """The change that no term of the formula explains: rounds with shorter drafts, uneven steps."""
        return self.measured - self.by_position

    @property
    def sentence(self) -> str:
        """The gap in words, with its largest known cause."""
        causes = {"acceptance by position": self.clustering, "verification growth": self.verification}
        causes["overhead"] = self.overhead
        largest = max(causes, key=lambda cause: abs(causes[cause]))
        return (
            f"The paper’s formula says {self.ideal:.2f}×; with this run’s v(γ+1) and overhead, from one α, "
            f"{self.terms.by_formula.speedup:.2f}×; measured {self.measured:.2f}×. Of the known causes, "
            f"{largest} changes most: {signed(causes[largest])}."
        )


def signed(change: float) -> str:
    """The change with its sign, with a real minus sign."""
    return f"{change:+.2f}".replace("-", "−")


def gap_of(trace: Trace, measured: float | None = None) -> Gap | None:
    """Split one run's gap; None without a plain run beside it or a drafted token.

    `measured` is the speedup if more than this one pair of runs was timed.

    Ideal is Leviathan's Theorem 3.8 with one α, per judgement; then the rates by position (the sum in the proof of
    their Eq. 1), then v(γ+1), then o. The order matters: a later cause changes what is left.
    """
    terms, measured = terms_of(trace), measured or metrics.speedup(trace)
    if terms is None or not measured:
        return None
    draft_length, cost = terms.draft_length, terms.cost_ratio
    tokens = expected_tokens_by_position(position_rates(trace, draft_length))
    ideal = Terms(terms.alpha, draft_length, cost, 1.0, 0.0).speedup
    clustered = tokens / round_steps(draft_length, cost)
    verified = tokens / round_steps(draft_length, cost, terms.verification)
    complete = tokens / round_steps(draft_length, cost, terms.verification, terms.overhead)
    return Gap(terms, ideal, clustered - ideal, verified - clustered, complete - verified, measured)


def position_rates(trace: Trace, draft_length: int | None = None) -> list[float]:
    """Per judgement, by position, as far as any draft was judged."""
    lengths = [len(round.drafted) for round in trace.rounds if round.drafted]
    if not lengths:
        return []
    rates: list[float] = []
    for position in metrics.by_position(trace.rounds, draft_length or median_high(lengths)):
        if position.rate is None:
            break
        rates.append(position.rate)
    return rates
