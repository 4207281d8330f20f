"""When to stop drafting: a fixed draft length beside the two schedules that choose it, from the recorded sweep. Pure.

Only greedy runs of one draft model without a grammar. The fixed length of a prompt is the one that did best on the
other prompts of its workload, so that no length profits from the prompt's own luck, as on When it helps.
"""

import csv
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


Row = dict[str, str]  # one prompt at one setting, as the file has it


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
        return _compared(rows[0]["machine"], {schedule: _by_prompt(rows, schedule) for schedule in SCHEDULES})
    except (OSError, ValueError, LookupError) as error:
        raise InputError(f"{FILE.name}, the recorded sweep, cannot be read: {type(error).__name__}.") from error


def _counts(row: Row) -> bool:
    usual = row["constrained"] == "False" and not row["tree"]
    return usual and row["draft"] == DRAFT and float(row["temperature"]) == 0


def _by_prompt(rows: list[Row], schedule: Schedule) -> dict[str, Row]:
    its = [row for row in rows if row["draft_schedule"] == schedule]
    chosen = its if schedule != "fixed" else [row for row in its if row["draft_length"] == _best_on_others(row, its)]
    return {row["preset"]: row for row in chosen}


def _best_on_others(own: Row, rows: list[Row]) -> str:
    logs: dict[str, float] = {}
    for row in rows:
        if row["workload"] == own["workload"] and row["preset"] != own["preset"]:
            logs[row["draft_length"]] = logs.get(row["draft_length"], 0.0) + log(float(row["speedup"]))
    return max(logs, key=logs.__getitem__)


def _compared(machine: str, found: dict[Schedule, dict[str, Row]]) -> Stopping:
    names = sorted(set.intersection(*(set(each) for each in found.values())))

    def sums(rows: dict[str, Row], column: str) -> int:
        return sum(int(rows[name][column]) for name in names)

    speedups = {schedule: [float(rows[name]["speedup"]) for name in names] for schedule, rows in found.items()}
    wasted = {schedule: 1 - sums(rows, "accepted") / sums(rows, "drafted") for schedule, rows in found.items()}
    gains = [a / b for a, b in zip(speedups["confidence"], speedups["fixed"], strict=True)]
    ratios = {schedule: Ratio.of(each) for schedule, each in speedups.items()}
    return Stopping(machine, len(names), ratios, wasted, Ratio.of(gains))
