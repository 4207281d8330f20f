"""What two models' probabilities have in common at one place of a recorded run, Σ min(p, q), exactly.

A run records the most probable tokens only. But a correction's leftover is r = (p − q)₊ / Σ (p − q)₊, summed over the
whole vocabulary. So p, q and r of one token give that sum, which is 1 − α; and with it what all other tokens have in
common.
"""

from dataclasses import dataclass
from statistics import median

from specviz.core.trace import Round


@dataclass(frozen=True, slots=True)
class TokenOdds:
    text: str
    p: float  # the target's
    q: float  # the draft's


@dataclass(frozen=True, slots=True)
class RoundOverlap:
    """One place of a round: its recorded tokens, and all others together."""

    tokens: list[TokenOdds]
    alpha: float  # Σ min(p, q) over the vocabulary

    @property
    def others(self) -> tuple[float, float, float]:
        """Σ p, Σ q and Σ min(p, q) over the tokens that were not recorded."""
        p, q, both = (sum(column) for column in zip(*((t.p, t.q, min(t.p, t.q)) for t in self.tokens), strict=True))
        return 1 - p, 1 - q, self.alpha - both


def overlap_of(round: Round) -> RoundOverlap:
    """At the place of the rejected token of a sampled chain, where its candidates and the leftover were recorded."""
    candidates = [each for each in round.drafted[round.accepted].candidates if each.q is not None]
    left = {each.id: each.r for each in round.emitted.residual_top}
    totals = [(each.p - (each.q or 0.0)) / left[each.id] for each in candidates if left.get(each.id)]
    tokens = [TokenOdds(each.text, each.p, each.q or 0.0) for each in candidates]
    return RoundOverlap(tokens, 1 - median(totals))
