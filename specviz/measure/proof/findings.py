"""The conclusion of a proof by sampling: passes or fails, how probable a false alarm is, what would have been detected.

Each test may raise a false alarm with a probability of at most `LIMIT`, so all tests of a proof together with at most
`FALSE_ALARM` (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from specviz.measure.proof.rows import BATCHES, DrawBatch
from specviz.measure.proof.statistics import LEAST_EXPECTED, POWER, Look, looks, place_looks, smallest_seen

FALSE_ALARM = 0.01  # probability that a correct rule is called wrong, over all tests of a proof
LIMIT = FALSE_ALARM / (2 * BATCHES)  # for each test: two after each part, of the counts and of the places
USUAL = 0.05  # p-values below it are called unusual, but do not fail
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
Test = Literal["counts", "places"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The conclusion from all tests so far."""

    state: Literal["open", "passes", "fails", "nothing"]
    sentence: str
    failed_at: int | None = None  # number of draws after which it failed
    failed_by: Test | None = None


@dataclass(frozen=True, slots=True)
class Bins:
    """What the test of counts compares: some tokens one by one, the rarer of them together, and all others together."""

    single: int
    together: int  # tokens that are expected fewer than `LEAST_EXPECTED` times
    other_share: float  # the probability of all others

    def __str__(self) -> str:
        """For a sentence."""
        rarer = f", {self.together} rarer {'one' if self.together == 1 else 'ones'} together" if self.together else ""
        other = "less than 1%" if self.other_share < 0.005 else f"{self.other_share:.0%}"
        return f"{self.single} tokens one by one{rarer}, and “any other”, which has {other} of the probability"


def bins_of(batches: Sequence[DrawBatch]) -> Bins:
    """The bins after these batches, at least one."""
    *own, other = [sum(means) for means in zip(*(batch.expected for batch in batches), strict=True)]
    single = sum(mean >= LEAST_EXPECTED for mean in own)
    return Bins(single, len(own) - single, other / sum(batch.draws for batch in batches))


def finding(batches: Sequence[DrawBatch]) -> Finding:
    """The conclusion from these batches, out of `BATCHES`. A failed test stays failed."""
    counted, placed = looks(batches), place_looks(batches)
    if failed := _first_failure(counted, placed):
        return failed
    if not counted:
        return Finding("open", "Nothing has been drawn yet.")
    last = counted[-1]
    if len(counted) < BATCHES:
        return Finding("open", f"After {last.draws:,} draws nothing distinguishes the two. More draws are coming.")
    if not last.degrees:
        return Finding("nothing", "The target is almost certain of one token here, so there is nothing to compare.")
    return Finding("passes", _passed(last, placed[-1] if placed else None, bins_of(batches)))


def _first_failure(counted: Sequence[Look], placed: Sequence[Look]) -> Finding | None:
    tests: list[tuple[Look, Test]] = [(one, "counts") for one in counted] + [(one, "places") for one in placed]
    failed = [(one, test) for one, test in tests if one.degrees and one.p_value < LIMIT]
    if not failed:
        return None
    one, test = min(failed, key=lambda found: found[0].draws)
    return Finding("fails", _failure(one, test), one.draws, test)


def _passed(last: Look, placed: Look | None, bins: Bins) -> str:
    seen = smallest_seen(last.draws, last.degrees, LIMIT)
    sentence = (
        f"After {last.draws:,} draws {_closeness(last)}. Counted were {bins}. A distance above {seen:.3f} between the "
        f"shares of these bins would have been detected with {POWER:.0%} probability."
    )
    if placed is None:
        return f"{sentence} This recording did not look inside the bins."
    inside = smallest_seen(placed.draws, placed.degrees, LIMIT)
    return (
        f"{sentence} Inside the bins, “any other” too, the places of the drawn tokens {_evenness(placed)}: a distance "
        f"above {inside:.3f} between twentieths would have been detected. This is evidence, not certainty: more draws "
        "show smaller ones."
    )


def _closeness(last: Look) -> str:
    if last.p_value >= USUAL:
        return "nothing distinguishes the two"
    return (
        f"the two differ more than they usually do by chance (p = {last.p_value:.3f}), but less than the limit of "
        f"{LIMIT:g}, set in advance, requires"
    )


def _evenness(placed: Look) -> str:
    if placed.p_value >= USUAL:
        return "are spread evenly"
    return f"are less even than usual (p = {placed.p_value:.3f}), but not below the limit of {LIMIT:g}"


def _failure(failed: Look, test: Test) -> str:
    found = (
        "draws of the target itself would differ this much"
        if test == "counts"
        else "the places of the drawn tokens are not spread evenly. Those of the target itself would be this uneven"
    )
    return (
        f"After {failed.draws:,} draws this is not the target’s distribution: {found} with a probability of "
        f"{odds(failed.p_value)}. A correct rule is called wrong in at most {FALSE_ALARM:.0%} of proofs."
    )


def odds(p_value: float) -> str:
    """A p-value for a sentence."""
    if p_value >= 0.001:
        return f"{p_value:.3f}"
    if p_value < 1e-15:
        return "less than 1 in 10¹⁵"
    if p_value > 1e-6:
        return f"1 in {1 / p_value:,.0f}"
    return f"about 1 in 10{f'{-math.log10(p_value):.0f}'.translate(RAISED)}"
