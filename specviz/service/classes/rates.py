"""How often somebody may do something within a time. The caller holds a lock; no threads here."""

from collections import deque


class Tries:
    """Counts tries, by who made them.

    Args:
        seconds: for how long a try counts.
        most_remembered: of those who try; beyond it, who tried least recently is forgotten.
    """

    def __init__(self, seconds: float, most_remembered: int = 10_000) -> None:
        self._seconds, self._most_remembered = seconds, most_remembered
        self._tries: dict[str, deque[float]] = {}

    def spent(self, who: str, most: int, now: float) -> bool:
        """Whether they have had so many tries within the time."""
        return len(self._recent(who, now)) >= most

    def count(self, who: str, now: float) -> None:
        """They try once more."""
        recent = self._recent(who, now)
        recent.append(now)
        self._tries.pop(who, None)
        self._tries[who] = recent  # the latest is last
        while len(self._tries) > self._most_remembered:
            del self._tries[next(iter(self._tries))]

    def forget_old(self, now: float) -> None:
        """Forget those whose tries no longer count."""
        while self._tries and now - next(iter(self._tries.values()))[-1] >= self._seconds:
            del self._tries[next(iter(self._tries))]

    def __len__(self) -> int:
        return len(self._tries)

    def _recent(self, who: str, now: float) -> deque[float]:
        tries = self._tries.get(who, deque())
        while tries and now - tries[0] >= self._seconds:
            tries.popleft()
        if not tries:
            self._tries.pop(who, None)
        return tries
