"""When to stop drafting: a fixed draft length beside the two schedules that choose it, from the recorded sweep. Pure.

Only greedy runs of one draft model without a grammar. The fixed length of a prompt is the one that did best on the
other prompts of its workload, so that no length profits from the prompt's own luck, as on When it helps.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import log
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.files import ASSETS
from specviz.data.batches import Ratio

FILE = ASSETS / "traces" / "sweep.csv"
DRAFT = "wren-nano"
Schedule = Literal["fixed", "heuristic", "confidence"]
SCHEDULES: tuple[Schedule, ...] = ("fixed", "heuristic", "confidence")


@dataclass(frozen=True, slots=True)
class Measured:
    workload: str
    prompt: str
    schedule: str
    draft_length: int
    speedup: float
    drafted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class Stopping:
    machine: str
    prompts: int
    speedups: dict[Schedule, Ratio]
    wasted: dict[Schedule, float]  # share of the drafted tokens that were not accepted: counted
    gain: Ratio  # the confidence stop over the fixed length, prompt by prompt


@cache
def stopping() -> Stopping:
    """From the recorded sweep; InputError if its file is missing or damaged."""
    try:
        with FILE.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if _counts(row)]
        machine, measured = rows[0]["machine"], [_measured(row) for row in rows]
        by_schedule = {schedule: _by_prompt(measured, schedule) for schedule in SCHEDULES}
        return _compared(machine, by_schedule)
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{FILE.name}, the recorded sweep, cannot be read: {type(error).__name__}.") from error


def _counts(row: dict[str, str]) -> bool:
    usual = row["constrained"] == "False" and not row["tree"]
    return usual and row["draft"] == DRAFT and float(row["temperature"]) == 0


def _measured(row: dict[str, str]) -> Measured:
    length, drafted, accepted = (int(row[name]) for name in ("draft_length", "drafted", "accepted"))
    words = (row["workload"], row["preset"], row["draft_schedule"])
    return Measured(*words, length, float(row["speedup"]), drafted, accepted)


def _by_prompt(measured: list[Measured], schedule: Schedule) -> dict[str, Measured]:
    its = [one for one in measured if one.schedule == schedule]
    if schedule != "fixed":
        return {one.prompt: one for one in its}
    lengths = {one.prompt: _best_on_others(one, its) for one in its}
    return {one.prompt: one for one in its if one.draft_length == lengths[one.prompt]}


def _best_on_others(own: Measured, measured: Iterable[Measured]) -> int:
    logs: dict[int, float] = {}
    for one in measured:
        if one.workload == own.workload and one.prompt != own.prompt:
            logs[one.draft_length] = logs.get(one.draft_length, 0.0) + log(one.speedup)
    return max(logs, key=lambda length: logs[length])


def _compared(machine: str, found: dict[Schedule, dict[str, Measured]]) -> Stopping:
    names = sorted(set.intersection(*(set(each) for each in found.values())))
    speedups = {schedule: [each[name].speedup for name in names] for schedule, each in found.items()}
    wasted = {
        schedule: 1 - sum(each[name].accepted for name in names) / sum(each[name].drafted for name in names)
        for schedule, each in found.items()
    }
    gains = [a / b for a, b in zip(speedups["confidence"], speedups["fixed"], strict=True)]
    ratios = {schedule: Ratio.of(each) for schedule, each in speedups.items()}
    return Stopping(machine, len(names), ratios, wasted, Ratio.of(gains))
