"""The statistics of a test of draws: one row, and what each of them means."""

from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from specviz.data.page_texts import page_texts
from specviz.measure.proof.findings import FALSE_ALARM, LIMIT
from specviz.measure.proof.rows import BATCHES
from specviz.ui.proof.proof_state import Outcome

SAYS = page_texts("proof")


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
    yield Statistic("draws each way", f"{last.draws:,}", SAYS["drawn"])
    yield Statistic("distance", f"{last.distance:.3f}", SAYS["distance"])
    yield Statistic("distance by chance", f"up to {last.chance:.3f}", SAYS["chance"])
    yield Statistic(f"χ² ({last.degrees} degrees of freedom)", f"{last.statistic:.1f}", SAYS["chi_squared"])
    yield Statistic(
        "p-value, counts",
        _p(last.p_value),
        SAYS["p_value"].format(batches=BATCHES, limit=LIMIT, false_alarm=FALSE_ALARM),
    )
    yield Statistic("p-value, counts, target alone", _p(alone.p_value), SAYS["control"])
    if outcome.place_looks:  # an older recording has none
        yield Statistic("p-value, places", _p(outcome.place_looks[-1].p_value), SAYS["places"])
        yield Statistic("p-value, places, target alone", _p(outcome.plain_place_looks[-1].p_value), SAYS["control"])


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}" if value > 1e-99 else "< 1e-99"
