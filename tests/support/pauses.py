"""Drives work in steps with a pause at every one, on a clock that only these pauses and looks at it move."""

from collections.abc import Generator
from typing import Any

import pytest

from specviz.decoding import autoregressive, speculative
from specviz.models import pass_timing

PAUSE = 1000.0  # seconds


class Clock:
    """Every look at it takes one second."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module in (autoregressive, speculative, pass_timing):
            monkeypatch.setattr(module, "perf_counter", self._look)

    def _look(self) -> float:
        self.now += 1.0
        return self.now


def with_pauses(steps: Generator[Any, None, Any], clock: Clock) -> tuple[Any, int]:
    """What the work returns, and how many pauses there were."""
    pauses = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, pauses
        clock.now += PAUSE
        pauses += 1
