"""Reading a prompt in passes, timed."""

from collections.abc import Iterator
from time import perf_counter


class TimedReading(Iterator[None]):
    """The passes over a prompt, and the seconds they took; what others do between two passes does not count."""

    def __init__(self, steps: Iterator[None], seconds: float = 0.0) -> None:
        self._steps = steps
        self.seconds = seconds

    def __next__(self) -> None:
        began = perf_counter()
        try:
            next(self._steps)
        finally:
            self.seconds += perf_counter() - began
