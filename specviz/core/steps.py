"""Long work in steps: a generator that yields None wherever the work may be paused, and returns what it found."""

from collections.abc import Callable, Generator
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

Steps = Generator[None, None, T]


def result_of(steps: Steps[T]) -> T:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found: T = end.value
            return found


def drop_pauses(steps: Callable[P, Steps[T]]) -> Callable[P, T]:
    """The same function without pauses."""

    @wraps(steps)
    def whole(*arguments: P.args, **named: P.kwargs) -> T:
        return result_of(steps(*arguments, **named))

    return whole
