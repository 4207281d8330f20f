"""Measured work: in steps with a pause at every one, on a clock that only these and looks at it move; and heard."""

from collections.abc import Callable, Generator
from math import inf
from typing import Any

import pytest

from specviz.decoding import autoregressive, speculative
from specviz.measure import calibration, compare
from specviz.models import pass_timing

PAUSE = 1000.0  # seconds


class Clock:
    """Every look at it takes one second, so repeats do not agree: a calibration is accepted all the same."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(calibration, "AGREE", inf)
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


def listen_to_runs(monkeypatch: pytest.MonkeyPatch, heard: Callable[..., None]) -> None:
    """`heard` is called with the class's name and the arguments of each run that is made to be timed."""

    def listened(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
        def make(*arguments: Any, **options: Any) -> Any:
            heard(name, *arguments, **options)
            return made(*arguments, **options)

        return make

    for name in ("AutoregressiveRun", "SpeculativeRun"):
        monkeypatch.setattr(compare, name, listened(name, getattr(compare, name)))
