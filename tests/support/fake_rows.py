"""Sweep rows without models, consistent with themselves."""

from dataclasses import replace
from typing import Any

from specviz.core.metrics import Counts
from specviz.measure.sweep.rows import SweepRow


def counted(**counts: int) -> dict[str, Any]:
    """Counts and rates; where they are not given, of twenty rounds that write 64 tokens."""
    figures = Counts(**({"rounds": 20, "emitted": 64} | counts)).figures
    return {name: its for name, its in figures.items() if name != "emitted"}


ROW = SweepRow(
    target="wren-base",
    target_dtype="float32",
    draft="wren-nano",
    draft_dtype="float32",
    threads=1,
    machine="a test's machine",
    workload="story",
    preset="story-1",
    text_hash="0123abcd",
    constrained=False,
    new_tokens=64,
    plain_tokens=64,
    **counted(drafted=76, accepted=44, rejected=12, discarded=20),
    autoregressive_seconds=0.64,
    speculative_seconds=0.4,
    draft_seconds=0.1,
    verify_seconds=0.28,
    overhead_seconds=0.02,
    speedup=1.6,
    identical=True,
)


def a_row(**changes: Any) -> SweepRow:
    return replace(ROW, **changes)


def row_at(
    workload: str, draft_length: int, speedup: float, rate: float = 0.5, number: int = 1, **changes: Any
) -> SweepRow:
    """A row of a workload's prompt whose every drafted token was judged: both rates are `rate`."""
    accepted, named = round(100 * rate), {"workload": workload, "preset": f"{workload}-{number}"}
    timed = {"draft_length": draft_length, "speedup": speedup, "speculative_seconds": 0.64 / speedup}
    counts = counted(drafted=100, accepted=accepted, rejected=100 - accepted, discarded=0)
    return a_row(**named | timed | counts | changes)


def prompts_at(workload: str, draft_length: int, *speedups: float, **changes: Any) -> list[SweepRow]:
    """A row of each prompt of a workload, with these speedups."""
    return [row_at(workload, draft_length, each, number=n, **changes) for n, each in enumerate(speedups)]
