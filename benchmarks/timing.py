"""Timing that works on a busy machine: contestants run alternately, and each ratio is of one turn."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import perf_counter


def take_turns(contestants: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each contestant in each of `repeats` turns, after one warm-up turn."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for turn in range(repeats + 1):
        for name, run in contestants.items():
            began = perf_counter()
            run()
            if turn:
                seconds[name].append(perf_counter() - began)
    return seconds


def ratio(seconds: Mapping[str, list[float]], one: str, other: str) -> float:
    """Median of one / other per turn, so that a change of the machine's speed affects both."""
    return median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))


def report(result: object, path: str | None) -> None:
    """Print JSON, and write it to the file, if one is named."""
    text = json.dumps(result, indent=2)
    print(text)
    if path:
        Path(path).write_text(text + "\n")
    sys.stdout.flush()
