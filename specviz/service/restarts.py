"""Whether an engine that died should be started again: one that dies again and again is not, for a while."""

from collections import deque

from specviz.service.limits import Limits


class Restarts:
    """Counts deaths; times are in seconds of one monotonic clock."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._deaths: deque[float] = deque(maxlen=limits.deaths)
        self._rest_until: float | None = None

    @property
    def resting(self) -> bool:
        """Whether no engine should be started now; after the rest, the next `ask` ends it."""
        return self._rest_until is not None

    @property
    def has_deaths(self) -> bool:
        """Whether an engine has died since the last rest."""
        return bool(self._deaths)

    def died(self, now: float) -> None:
        """The engine died: the last one of too many in a short time begins a rest."""
        self._deaths.append(now)
        if len(self._deaths) == self._limits.deaths and now - self._deaths[0] <= self._limits.deaths_window:
            self._rest_until = now + self._limits.rest

    def ask(self, now: float) -> bool:
        """A visitor wants a run: whether there will be an engine for it."""
        if self._rest_until is not None and now >= self._rest_until:
            self._rest_until = None
            self._deaths.clear()
        return not self.resting
