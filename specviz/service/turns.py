"""Whose turn it is among the jobs that an engine has begun, by the clock alone.

Jobs that somebody watches go first. Long jobs (races, sweeps, proofs) still get a share of every cycle, so that they
end however many visitors keep coming. Long jobs take turns. Nothing is stopped for a change of turns: a job is paused
between two rounds, and each round is timed by itself.
"""

from collections.abc import Sequence
from typing import TypeVar

CYCLE = 2.0  # seconds
LONG_SHARE = 0.5  # seconds of a cycle that long jobs have while others are watched
TURN = 4.0  # seconds for each long job in turn; whole cycles, so that each gets as many shares

T = TypeVar("T")


def whose_turn(watched: Sequence[T], long: Sequence[T], now: float) -> T:
    """The job that works now; there is at least one.

    Args:
        watched: jobs somebody watches, the oldest first.
        long: all others.
        now: seconds of the monotonic clock.
    """
    long_has_its_share = now % CYCLE >= CYCLE - LONG_SHARE
    if watched and not (long and long_has_its_share):
        return watched[0]
    return long[int(now // TURN) % len(long)]
