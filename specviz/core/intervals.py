"""The 95 % intervals of a speedup: of repeats, and of one run whose two decoders took turns.

Where both decoders took turns, a block is one round and the plain steps beside it, for as many tokens. The counts of a
run are exact, so the interval is of its times only: what the same rounds would take if they were timed again.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean, linear_regression, stdev

from specviz.core import metrics
from specviz.core.rounds import known_seconds
from specviz.core.theory import least
from specviz.core.trace import Trace

FEWEST = 5  # blocks from which an interval is computed


@dataclass(frozen=True, slots=True)
class Block:
    """One round, and as many plain steps as it wrote tokens."""

    drafted: int
    tokens: int
    round_seconds: float
    plain_seconds: float


def blocks_of(trace: Trace) -> list[Block]:
    """The blocks of a run in turns, while both decoders wrote; none of any other run."""
    plain, found, start = trace.autoregressive, list[Block](), 0
    if plain is None or not plain.alternating or not trace.timed:
        return found
    for round in trace.rounds:
        tokens = round.emits
        steps = plain.seconds_per_token[start : start + tokens]
        if len(steps) == tokens:
            found.append(Block(len(round.drafted), tokens, known_seconds(round.seconds), sum(steps)))
        start += tokens
    return found


def speedup_interval(trace: Trace) -> tuple[float, float] | None:
    """The 95 % interval of the speedup of this run, from the noise of its times; None where it has too few blocks.

    The speedup R is a ratio of sums, A / B. By the delta method (linearisation; Cochran, "Sampling Techniques", 1977,
    chapter 6) block i moves log R by d_i = (a_i - â_i) / A - (b_i - b̂_i) / B, and the standard error of log R is
    √(m / (m - p) · Σ d_i²), for m blocks. Here â_i is what its plain steps take at the run's mean step, and b̂_i what
    its round takes by the straight line through all rounds' times over their numbers of drafted tokens (p = 2; where
    all drafted as many, their mean, p = 1). So acceptance, which is exact, does not widen the interval, and a moment
    that slows both halves of a block hardly does. Student's t with m - p degrees of freedom.
    """
    blocks, speedup = blocks_of(trace), metrics.speedup(trace)
    if len(blocks) < FEWEST or not speedup:
        return None
    plain, rounds = sum(block.plain_seconds for block in blocks), sum(block.round_seconds for block in blocks)
    if not plain or not rounds:
        return None
    step = plain / sum(block.tokens for block in blocks)
    drafted, seconds = [block.drafted for block in blocks], [block.round_seconds for block in blocks]
    slope, parameters = (linear_regression(drafted, seconds).slope, 2) if len(set(drafted)) > 1 else (0.0, 1)
    middle, mean = fmean(drafted), fmean(seconds)
    moves = (
        (block.plain_seconds - block.tokens * step) / plain
        - (block.round_seconds - mean - slope * (block.drafted - middle)) / rounds
        for block in blocks
    )
    freedom = len(blocks) - parameters
    half = student_t(freedom) * math.sqrt(len(blocks) / freedom * sum(move**2 for move in moves))
    return speedup * math.exp(-half), speedup * math.exp(half)


def interval_of_ratios(ratios: Sequence[float]) -> tuple[float, float]:
    """The 95 % t-interval of the geometric mean of two or more ratios.

    Ratios are averaged through their logarithms, so that 2× and ½× cancel (Fleming and Wallace, "How not to lie
    with statistics", CACM 29(3), 1986); Student's t because there are few repeats (Georges, Buytaert and Eeckhout,
    "Statistically rigorous Java performance evaluation", OOPSLA 2007).
    """
    low, high = interval_of_mean([math.log(ratio) for ratio in ratios])
    return math.exp(low), math.exp(high)


def interval_of_mean(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % t-interval of the mean of two or more values."""
    middle, half = fmean(values), student_t(len(values) - 1) * stdev(values) / math.sqrt(len(values))
    return middle - half, middle + half


@cache
def student_t(freedom: int, probability: float = 0.975) -> float:
    """The t that Student's t with whole degrees of freedom is below with this probability, above one half."""
    return least(lambda t: _below(t, freedom) >= probability, 1e6)


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
