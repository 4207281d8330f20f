"""A study of batches with round numbers, made as the recorded one was."""

from dataclasses import replace

from specviz.core.metrics import Counts
from specviz.core.trace import Machine
from specviz.data.measured.batches import BatchPass, BatchSpeedup, BatchStudy, Check, Ratio, recorded_batches

COUNTS = Counts(rounds=100, drafted=400, accepted=200, rejected=80, discarded=120, emitted=300)


def ratio(value: float, width: float = 0.02) -> Ratio:
    """With an interval of this width to both sides."""
    return Ratio(value, value - width, value + width)


def checked(batch: int) -> Ratio:
    return ratio(1.4 + 0.1 * batch)


def fake_study(*speedups: float) -> BatchStudy:
    """γ = 4 in batches of 1, 2, 4, ...: v is 1.5 for one text and 0.1 more for each further one; c is 0.1, o 0.05."""
    sizes = [2**number for number in range(len(speedups))]
    points = [
        BatchSpeedup(
            size, 4, ratio(speedup), ratio(1.6), ratio(0.1), checked(size), ratio(0.05), COUNTS, 0.25, 150, 100
        )
        for size, speedup in zip(sizes, speedups, strict=True)
    ]
    checks = {size: [Check(1, ratio(1.0, 0.0)), Check(2, ratio(1.1)), Check(5, checked(size))] for size in sizes}
    passes = [BatchPass(size, 0.005 * size, ratio(size / 2 + 0.5), checks[size]) for size in sizes]
    where = Machine("a machine", "2.13", "5.23", 1)
    return replace(recorded_batches(), recorded_on=where, target="base", draft="nano", passes=passes, speedups=points)
