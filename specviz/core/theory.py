"""The papers' formulas for speculative decoding. Pure arithmetic; every time is in single-token target steps.

Sources: Leviathan, Kalman, Matias, "Fast Inference from Transformers via Speculative Decoding" (ICML 2023,
arXiv 2211.17192), here "Leviathan"; Chen et al., "Accelerating Large Language Model Decoding with Speculative
Sampling" (2023, arXiv 2302.01318) has the same rule. Their alpha is a rate per judgement:
accepted / (accepted + rejected), not accepted / drafted. Where a formula goes beyond these papers, it says so.

Every function raises InputError, a ValueError, if an argument is outside its range; the message names it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from operator import index, mul

from specviz.core.errors import InputError

VerificationCost = float | Mapping[int, float] | Callable[[int], float]
"""v(k), the target's time for k tokens at once: one number for every k, a measured table, or a function."""


def expected_tokens(alpha: float, draft_length: int) -> float:
    """Tokens per target call, E(γ) = (1 − α^(γ+1)) / (1 − α): Leviathan, Eq. 1.

    Computed as the sum 1 + α + ... + α^γ, so that α = 1 (γ + 1 tokens) needs no special case.
    """
    _check(0 <= alpha <= 1, "alpha must be from 0 to 1, not", alpha)
    _check_draft_length(draft_length)
    return math.fsum(alpha**k for k in range(draft_length + 1))


def expected_tokens_by_position(rates: Sequence[float]) -> float:
    """Tokens per target call if position j of the draft is accepted at rate h_j: 1 + Σ_k Π_{j≤k} h_j.

    The sum in the proof of Leviathan's Eq. 1, without its assumption that every position has the same rate.
    """
    for position, rate in enumerate(rates, start=1):
        _check(0 <= rate <= 1, f"rates must be from 0 to 1, and position {position} has", rate)
    return 1 + math.fsum(accumulate(rates, mul))


def ideal_speedup(alpha: float, draft_length: int, cost_ratio: float) -> float:
    """E(γ) / (γc + 1): Leviathan, Theorem 3.8, if checking γ + 1 tokens takes no longer than making one."""
    return realistic_speedup(alpha, draft_length, cost_ratio)


def extra_operations(alpha: float, draft_length: int, operations_ratio: float) -> float:
    """Factor on total arithmetic operations, (1 − α)(γĉ + γ + 1) / (1 − α^(γ+1)): Leviathan, Theorem 3.11.

    `operations_ratio` is ĉ, operations per token of the draft over the target's: a ratio of work, not of time like c.
    """
    _check_from_zero("operations_ratio", operations_ratio)
    tokens = expected_tokens(alpha, draft_length)
    return (draft_length * operations_ratio + draft_length + 1) / tokens


def round_steps(
    draft_length: int, cost_ratio: float, verification: VerificationCost = 1.0, overhead: float = 0.0
) -> float:
    """The time of a round in target steps, γc + v(γ+1) + o: γc + 1 of Theorem 3.8, with a real machine's v and o."""
    _check_draft_length(draft_length)
    _check_from_zero("cost_ratio", cost_ratio)
    _check_from_zero("overhead", overhead)
    return draft_length * cost_ratio + verification_steps(verification, draft_length + 1) + overhead


def realistic_speedup(
    alpha: float, draft_length: int, cost_ratio: float, verification: VerificationCost = 1.0, overhead: float = 0.0
) -> float:
    """E(γ) / (γc + v(γ+1) + o): Leviathan's Theorem 3.8 with measured verification and overhead.

    `verification` is v (a number stands for v(γ+1)); `overhead` is o, the time of the loop outside both models.
    With v = 1 and o = 0 this is `ideal_speedup`.
    """
    return expected_tokens(alpha, draft_length) / round_steps(draft_length, cost_ratio, verification, overhead)


def break_even_acceptance(
    draft_length: int, cost_ratio: float, verification: VerificationCost = 1.0, overhead: float = 0.0
) -> float | None:
    """The α, per judgement, above which speculation pays: E(γ) = γc + v(γ+1) + o, solved for α.

    None if no α below 1 is enough; 0 if every α is (a round that takes no longer than a plain step).
    Leviathan's Corollary 3.9 is the ideal case: with v = 1 and o = 0, some γ pays as soon as α > c.
    """
    steps = round_steps(draft_length, cost_ratio, verification, overhead)
    return None if steps >= draft_length + 1 else _alpha_for_tokens(steps, draft_length)


def acceptance_rate_from_alpha(alpha: float, draft_length: int) -> float:
    """Accepted / drafted, the worksheet's rate, for a given α: (E(γ) − 1) / γ.

    Of the E(γ) tokens that a round emits, one is the target's own; the others are accepted ones of γ drafted.
    """
    return (expected_tokens(alpha, draft_length) - 1) / draft_length


def alpha_from_acceptance_rate(acceptance_rate: float, draft_length: int) -> float:
    """The α, per judgement, for this accepted / drafted: the inverse of `acceptance_rate_from_alpha`."""
    _check(0 <= acceptance_rate <= 1, "acceptance_rate must be from 0 to 1, not", acceptance_rate)
    _check_draft_length(draft_length)
    return _alpha_for_tokens(1 + draft_length * acceptance_rate, draft_length)


def verification_steps(verification: VerificationCost, tokens: int) -> float:
    """v(`tokens`) in target steps; a table is read linearly between its entries, v(1) = 1 among them.

    After its end the mean slope of the table continues (never downwards): a guess, to be shown as one.
    """
    if not isinstance(verification, Mapping):
        steps = verification(tokens) if callable(verification) else verification
    elif tokens in (table := {1: 1.0, **verification}) or len(table) == 1:
        steps = table.get(tokens, table[1])
    elif tokens > (last := max(table)):
        steps = table[last] + max((table[last] - table[1]) / (last - 1), 0.0) * (tokens - last)
    else:
        low, high = max(size for size in table if size < tokens), min(size for size in table if size > tokens)
        steps = table[low] + (table[high] - table[low]) * (tokens - low) / (high - low)
    _check(0 < steps < math.inf, "verification must be above 0, not", steps)
    return steps


def _alpha_for_tokens(tokens: float, draft_length: int) -> float:
    """The alpha with E(γ) = `tokens`: E grows from 1 at α = 0 to γ + 1 at α = 1."""
    if not 1 < tokens < draft_length + 1:
        return 0.0 if tokens <= 1 else 1.0
    return least(lambda alpha: expected_tokens(alpha, draft_length) >= tokens, 1.0)


def least(holds: Callable[[float], bool], high: float) -> float:
    """The least value from 0 to `high` for which it holds, as for all above it."""
    low = 0.0
    for _ in range(80):  # halves the interval: exact to the last digits
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _check_draft_length(draft_length: int) -> None:
    try:
        whole = index(draft_length)
    except TypeError:
        raise InputError(f"draft_length must be a whole number, not {draft_length}.") from None
    _check(whole >= 1, "draft_length must be at least 1, not", draft_length)


def _check_from_zero(name: str, value: float) -> None:
    _check(0 <= value < math.inf, f"{name} must be a number of at least 0, not", value)


def _check(holds: bool, rule: str, value: object) -> None:  # the conditions are written so that nan fails
    if not holds:
        raise InputError(f"{rule} {value}.")
