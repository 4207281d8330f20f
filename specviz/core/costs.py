"""What a round costs, in steps of the target alone, and between which values these costs lie. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median
from typing import Self

from specviz.core.judge import Interval
from specviz.core.theory import verification_steps

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Costs:
    """The costs of a round, in units of one single-token target step."""

    step_seconds: float  # that unit: the plain run's median step
    cost_ratio: float  # c: one draft step, which drafts one token, or all nodes of one depth of a tree
    verification: dict[int, float]  # v(k): target time for k tokens at once
    overhead: float  # o: round time that is neither draft nor verify
    blocks: tuple["Costs", ...] = ()  # the same of each block of repeats alone; empty: not known, as in older files

    @classmethod
    def from_blocks(cls, blocks: Sequence[Self]) -> Self:
        """The median of each figure over blocks of repeats, at least one, which keep their own figures."""
        sizes = set(blocks[0].verification).intersection(*(block.verification for block in blocks))
        return cls(
            median(block.step_seconds for block in blocks),
            median(block.cost_ratio for block in blocks),
            {k: median(block.verification[k] for block in blocks) for k in sorted(sizes)},
            median(block.overhead for block in blocks),
            tuple(blocks),
        )

    def round_steps(self, drafted: int, depth: int | None = None) -> float:
        """The time of a round with this many drafted tokens, nc + v(n+1) + o; with a tree, dc + v(n+1) + o.

        The draft takes one step for each of a tree's d depths. `depth` None: the draft is a chain, and d is n.
        """
        steps = drafted if depth is None else depth
        return steps * self.cost_ratio + verification_steps(self.verification, drafted + 1) + self.overhead

    def interval(self, figure: Callable[["Costs"], float]) -> Interval | None:
        """The 95 % interval of a figure of these costs, over their blocks; None with too few blocks."""
        return interval_of_median([figure(block) for block in self.blocks])

    @property
    def of_draft(self) -> Interval | None:
        """The interval of c."""
        return self.interval(lambda costs: costs.cost_ratio)

    def check_interval(self, tokens: int) -> Interval | None:
        """The interval of v(`tokens`)."""
        return self.interval(lambda costs: verification_steps(costs.verification, tokens))


def interval_of_median(values: Sequence[float]) -> Interval | None:
    """The 95 % interval of the median of such values: from one of them to another, whatever their distribution.

    Each is above the median with probability ½, so as many are left out on each side as the binomial allows (the
    interval of the sign test). A few that were disturbed therefore do not widen it. None for fewer than six: all of
    five hold the median with 94 % only.
    """
    number, out, outside = len(values), 0, 2.0 * 0.5 ** len(values)
    if outside > 1 - CONFIDENCE:
        return None
    while (more := 2 * comb(number, out + 1) * 0.5**number) + outside <= 1 - CONFIDENCE:
        out, outside = out + 1, outside + more
    ordered = sorted(values)
    return ordered[out], ordered[number - 1 - out]
