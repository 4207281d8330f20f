"""A study of batches with round numbers, made as the recorded one was."""

from dataclasses import replace

from specviz.core.metrics import Counts
from specviz.core.trace import Machine
from specviz.data.measured.batches import BatchPass, BatchSpeedup, BatchStudy, Check, Ratio, recorded_batches

COUNTS = Counts(rounds=100, drafted=400, accepted=200, rejected=80, discarded=120, emitted=300)


def ratio(value: float, width: float = 0.02) -> Ratio:
    """With an interval of this width to both sides."""
    return Ratio(value, value - width, value + width)


def fake_point(batch: int, draft_length: int = 4, speedup: float = 1.5, full: float = 1.6) -> BatchSpeedup:
    """v is 1.5 for one text and 0.1 more for each further one; c is 0.1 and o 0.05."""
    return BatchSpeedup(
        batch=batch,
        draft_length=draft_length,
        speedup=ratio(speedup),
        full_speedup=ratio(full),
        cost_ratio=ratio(0.1),
        verification=ratio(1.4 + 0.1 * batch),
        overhead=ratio(0.05),
        counts=COUNTS,
        empty_places=0.25 if batch > 1 else 0.0,
        tokens_per_second=150.0,
        plain_tokens_per_second=100.0,
    )


def fake_passes(batch: int) -> BatchPass:
    """v(2) and v(5)."""
    checks = [Check(1, ratio(1.0, 0.0)), Check(2, ratio(1.1)), Check(5, ratio(1.4 + 0.1 * batch))]
    return BatchPass(batch, 0.005 * batch, ratio(batch / 2 + 0.5), checks)


def fake_study(*speedups: float, different: int = 0) -> BatchStudy:
    """γ = 2 and 4 in batches of 1, 2, 4, ...: the speedups are those of γ = 4; γ = 2 has 0.1 less in all of them."""
    sizes = [2**number for number in range(len(speedups))]
    points = [
        fake_point(size, length, speedup - 0.1 * (length == 2))
        for size, speedup in zip(sizes, speedups, strict=True)
        for length in (2, 4)
    ]
    return replace(
        recorded_batches(),
        recorded_on=Machine("a machine", "2.13", "5.23", 1),
        target="base",
        draft="nano",
        prompts=["story-1", "code-1"],
        compared=80,
        different=different,
        passes=[fake_passes(size) for size in sizes],
        speedups=points,
    )
