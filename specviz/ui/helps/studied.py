"""What the rows on screen say, computed once for each file. Apart from `state`, because pandas starts slowly."""

from functools import cache

from specviz.measure.sweep.study import Study, studies_of
from specviz.ui.helps.helps_state import RECORDED, Sweeps, recorded_sweep


def studied(sweeps: Sweeps, source: str) -> list[Study]:
    """The studies of the rows from there, by series; computed again only where other rows have come."""
    if source == RECORDED:
        return recorded_studies()
    rows = sweeps.rows_of(source)
    known = sweeps.studied.get(source)
    if known is None or known[0] is not rows:
        known = sweeps.studied[source] = rows, studies_of(rows)
    return known[1]


@cache
def recorded_studies() -> list[Study]:
    """Of the recorded rows: the same for every visitor, so computed once in this server."""
    return studies_of(recorded_sweep())
