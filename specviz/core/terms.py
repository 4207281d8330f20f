"""The terms of a predicted speedup: what limits it, and where it breaks even. Modelled, never measured."""

from dataclasses import dataclass, field, replace
from statistics import fmean, median_high
from typing import Literal

from specviz.core import metrics
from specviz.core.drafters import method_of
from specviz.core.theory import (
    break_even_acceptance,
    expected_tokens,
    ideal_speedup,
    realistic_speedup,
    verification_steps,
)
from specviz.core.trace import Trace

Term = Literal["acceptance", "draft cost", "verification", "overhead"]


@dataclass(frozen=True, slots=True)
class RoundTerms:
    """What rounds of different lengths drafted and wrote: exact counts, and the cost of checking them.

    Prompt lookup may find fewer tokens than the draft length, or none, and a schedule chooses the length itself. E(γ)
    would count γ drafted tokens in each of these rounds. A tree drafts several tokens in a step, and a round can write
    only one of them for each step.
    """

    tokens: float  # per target call
    drafted: float  # draft steps, the mean of all rounds, those without a draft among them; a tree's are its depths
    verification: float  # the mean of v over these rounds, in target steps
    nodes: float | None = None  # of trees: drafted tokens a round; None: a draft step drafts one token


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of the predicted speedup E(γ) / (γc + v(γ+1) + o); times in target steps.

    Where `counted` is known, the prediction uses the counted tokens per target call and the mean number of drafted
    tokens in the place of E(γ) and γ.
    """

    alpha: float  # per judgement; of a tree, per place: whether one of the tokens drafted for it was accepted
    draft_length: int
    cost_ratio: float  # c
    verification: float  # v at draft_length + 1
    overhead: float  # o
    counted: RoundTerms | None = None  # None: every round drafts draft_length tokens
    of_rounds: float | None = field(default=None, compare=False)  # of its very rounds, at these costs

    @property
    def tokens(self) -> float:
        """Tokens per target call: counted, else E(γ)."""
        return self.counted.tokens if self.counted else expected_tokens(self.alpha, self.draft_length)

    @property
    def drafted(self) -> float:
        return self.counted.drafted if self.counted else self.draft_length

    @property
    def read(self) -> float:
        """Tokens that the target reads in a round: the text's last one and every guess."""
        nodes = self.counted.nodes if self.counted else None
        return (self.drafted if nodes is None else nodes) + 1

    @property
    def checking(self) -> float:
        """The target pass of a round, in target steps."""
        return self.counted.verification if self.counted else self.verification

    @property
    def guessing(self) -> float:
        """A guess, in target steps; of rounds that differ in length, all guesses of one."""
        return self.cost_ratio * (self.drafted if self.counted else 1)

    @property
    def steps(self) -> float:
        """The time of a round in target steps, and so the tokens per target call above which speculation pays."""
        return self.drafted * self.cost_ratio + self.checking + self.overhead

    @property
    def speedup(self) -> float:
        if self.counted:
            return self.counted.tokens / self.steps
        return realistic_speedup(self.alpha, self.draft_length, self.cost_ratio, self.verification, self.overhead)

    @property
    def ideal(self) -> float:
        """E(γ) / (γc + 1): as if checking took one step, and the loop no time."""
        return ideal_speedup(self.alpha, self.draft_length, self.cost_ratio)

    @property
    def at_costs(self) -> float:
        """What the rounds gain at these costs: of themselves where they are known, else `speedup`. Modelled."""
        return self.speedup if self.of_rounds is None else self.of_rounds

    @property
    def by_formula(self) -> "Terms":
        """The same with E(γ), as if every round drafted `draft_length` tokens."""
        return replace(self, counted=None, of_rounds=None)

    @property
    def break_even(self) -> float | None:
        """The alpha above which speculation pays at these costs; None if no alpha does.

        By the formula with E(γ). Where rounds differ in length, `steps` is the exact break-even, in tokens of
        a target call.
        """
        return break_even_acceptance(self.draft_length, self.cost_ratio, self.verification, self.overhead)

    @property
    def binding(self) -> Term:
        """The term whose ideal value, with the others unchanged, would raise the predicted speedup most."""
        own = self.counted
        ideals: dict[Term, Terms] = {
            "acceptance": replace(self, alpha=1.0, counted=own and replace(own, tokens=own.drafted + 1)),
            "draft cost": replace(self, cost_ratio=0.0),
            "verification": replace(self, verification=1.0, counted=own and replace(own, verification=1.0)),
            "overhead": replace(self, overhead=0.0),
        }
        return max(ideals, key=lambda term: ideals[term].speedup)


def terms_of(trace: Trace, costs: metrics.Costs | None = None) -> Terms | None:
    """The terms of one trace; None without a plain run or a drafted token.

    The costs are those of a calibration if one is given, else those measured in the run itself. The draft length is the
    median over rounds with a draft.
    """
    own, alpha = metrics.costs(trace), metrics.per_place_rate(trace.rounds)
    costs = costs or own
    if own is None or costs is None or alpha is None:
        return None
    draft_length = median_high(round.depth for round in trace.rounds if round.drafted)
    verification = verification_steps(costs.verification, draft_length + 1)
    counted, counts = None, metrics.count(trace.rounds)
    fewer = trace.drafter is not None and not method_of(trace.drafter.kind).fills
    if fewer or trace.settings.draft_schedule != "fixed" or trace.settings.tree is not None:
        counted = RoundTerms(  # E(γ) does not describe these drafts
            tokens=counts.emitted / counts.rounds,
            drafted=fmean(round.depth for round in trace.rounds),
            verification=fmean(verification_steps(costs.verification, len(each.drafted) + 1) for each in trace.rounds),
            nodes=counts.drafted / counts.rounds if any(round.is_tree for round in trace.rounds) else None,
        )
    of_rounds = metrics.speedup_at(trace.rounds, costs)
    return Terms(alpha, draft_length, costs.cost_ratio, verification, costs.overhead, counted, of_rounds)
