"""Timing that can be trusted on a noisy machine: contestants take turns, ratios are taken turn by turn."""

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
    """Median of one / other, taken turn by turn so that drift of the machine's speed cancels."""
    return median(a / b for a, b in zip(seconds[one], seconds[other], strict=True))


def report(result: object, path: str | None) -> None:
    """Print JSON, and write it to a file where one is named."""
    text = json.dumps(result, indent=2)
    print(text)
    if path:
        Path(path).write_text(text + "\n")
    sys.stdout.flush()
