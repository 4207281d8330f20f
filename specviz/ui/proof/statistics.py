"""The statistics of a test of draws: one row, and what each of them means."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from specviz.measure.proof.findings import FALSE_ALARM, LIMIT
from specviz.measure.proof.rows import BATCHES
from specviz.ui.proof.proof_state import Outcome


class Statistic(NamedTuple):
    label: str
    value: str
    meaning: str


def statistics_table(outcome: Outcome) -> str:
    """A table of one row as HTML, which becomes a list on a phone."""
    found = list(_statistics(outcome))
    head = "".join(f'<th role="columnheader" scope="col">{escape(each.label)}</th>' for each in found)
    cells = "".join(f'<td role="cell" data-label="{escape(each.label)}">{escape(each.value)}</td>' for each in found)
    return (
        f'<table class="statistics" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup"><tr role="row">{cells}</tr></tbody></table>'
    )


def meanings(outcome: Outcome) -> str:
    return "\n".join(f"- **{each.label}**: {each.meaning}" for each in _statistics(outcome))


def _statistics(outcome: Outcome) -> Iterator[Statistic]:
    last, alone = outcome.looks[-1], outcome.plain_looks[-1]
    yield Statistic("draws each way", f"{last.draws:,}", DRAWN)
    yield Statistic("distance", f"{last.distance:.3f}", DISTANCE)
    yield Statistic("distance by chance", f"up to {last.chance:.3f}", CHANCE)
    yield Statistic(f"χ² ({last.degrees} degrees of freedom)", f"{last.statistic:.1f}", CHI_SQUARED)
    yield Statistic("p-value, counts", _p(last.p_value), P_VALUE)
    yield Statistic("p-value, counts, target alone", _p(alone.p_value), CONTROL)
    if outcome.place_looks:  # an older recording has none
        yield Statistic("p-value, places", _p(outcome.place_looks[-1].p_value), PLACES)
        yield Statistic("p-value, places, target alone", _p(outcome.plain_place_looks[-1].p_value), CONTROL)


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value > 1e-99 else "< 1e-99"


DRAWN = "How many times the token was written by speculative decoding, and as many times by the target alone."
DISTANCE = (
    "Total variation distance: half the sum of all differences between the counted shares and the target’s own "
    "probabilities. 0: no difference; 1: nothing in common."
)
CHANCE = (
    "Counts differ by chance even without a real difference. Draws from the target’s own probabilities stay below "
    "this distance 19 times in 20 (simulated, with a fixed seed)."
)
CHI_SQUARED = (
    "Chi-squared: (counted − expected)² / expected, summed. About as large as its degrees of freedom when nothing is "
    "wrong. Tokens expected fewer than 5 times are counted together."
)
P_VALUE = (
    "The probability of a χ² at least this large if the draws are the target’s. Two tests, of counts and of places, "
    f"are made {BATCHES} times as draws arrive. The proof fails if one p-value is below {LIMIT:g}, so a right rule "
    f"fails in at most {FALSE_ALARM:.0%} of proofs."
)
PLACES = (
    "Line up all tokens by probability, each as wide as its probability: the place of a drawn token is a random point "
    "of its own piece. Places of the target’s own draws are spread evenly, so this test looks inside “any other” too."
)
CONTROL = "The control: the same test on what the target alone wrote in as many draws. It should pass too."
