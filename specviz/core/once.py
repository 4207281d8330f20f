"""What is made once and kept, also where thirty visitors ask for it in the same second."""

from collections.abc import Callable, Hashable
from functools import update_wrapper
from threading import RLock
from typing import Generic, ParamSpec, TypeVar

PARAMETERS = ParamSpec("PARAMETERS")
RESULT = TypeVar("RESULT")


class Once(Generic[PARAMETERS, RESULT]):
    """As functools.cache, which would make it again for each who asks while it is made: here they wait for it."""

    def __init__(self, make: Callable[PARAMETERS, RESULT]) -> None:
        update_wrapper(self, make)
        self._make, self._made = make, dict[Hashable, RESULT]()
        self._making = RLock()

    def __call__(self, *given: PARAMETERS.args, **named: PARAMETERS.kwargs) -> RESULT:
        key = (given, *sorted(named.items())) if named else given
        if key not in self._made:
            with self._making:
                if key not in self._made:
                    self._made[key] = self._make(*given, **named)
        return self._made[key]

    def cache_clear(self) -> None:
        self._made.clear()


cache_once = Once  # the name of the decorator
