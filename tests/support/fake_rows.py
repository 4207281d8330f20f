"""Sweep rows without models, consistent with themselves."""

from dataclasses import replace
from typing import Any

from specviz.measure.sweep.rows import SweepRow

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
    max_new_tokens=64,
    draft_length=4,
    temperature=0.0,
    top_k=None,
    top_p=None,
    seed=0,
    stop_at_eos=True,
    draft_schedule="fixed",
    new_tokens=64,
    plain_tokens=64,
    rounds=20,
    drafted=76,
    accepted=44,
    rejected=12,
    discarded=20,
    acceptance_rate=44 / 76,
    per_judgement_rate=44 / 56,
    tokens_per_target_call=3.2,
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
    drafted = 100
    return a_row(
        workload=workload,
        preset=f"{workload}-{number}",
        draft_length=draft_length,
        speedup=speedup,
        speculative_seconds=0.64 / speedup,
        drafted=drafted,
        accepted=round(rate * drafted),
        rejected=drafted - round(rate * drafted),
        discarded=0,
        acceptance_rate=round(rate * drafted) / drafted,
        per_judgement_rate=round(rate * drafted) / drafted,
        **changes,
    )


def prompts_at(workload: str, draft_length: int, *speedups: float, **changes: Any) -> list[SweepRow]:
    """A row of each prompt of a workload, with these speedups."""
    return [row_at(workload, draft_length, each, number=n, **changes) for n, each in enumerate(speedups)]
