"""Student's t for several comparisons at once: which of k draft lengths are told apart from the best of them."""

import math
from functools import cache

RISK = 0.05  # at most so often is any of k equal lengths told apart from the best


@cache
def rivals_t(freedom: int, lengths: int) -> float:
    """The t above which a length is told apart from the best of `lengths`, with `RISK` for all of them together.

    The best is itself chosen by these figures, so it may be any of them: Bonferroni's bound over all ordered pairs,
    RISK / (k (k - 1)) each. RISK / 2 / (k - 1), for a best that is known before, would tell a length apart in more than
    RISK of simulated equal cases (tests/unit/test_study.py).
    """
    if lengths < 2:
        return math.inf
    return t_quantile(freedom, 1 - RISK / (lengths * (lengths - 1)))


def t_quantile(freedom: int, probability: float) -> float:
    """The t that Student's t with whole degrees of freedom is below with this probability, above one half."""
    low, high = 0.0, 1.0
    while _below(high, freedom) < probability:
        high *= 2
    for _ in range(60):  # halves the interval: exact to the last digits
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, freedom) < probability else (low, middle)
    return high


def _below(t: float, freedom: int) -> float:
    """The probability below t, from 0 on: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for power in range(odd, freedom - 1, 2):
        total += term
        term *= math.cos(angle) ** 2 * (power + 1) / (power + 2)
    inside = 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total
    return (1 + inside) / 2
