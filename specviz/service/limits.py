"""How long the service waits before it gives up on the engine, and how long one job may take."""

from dataclasses import dataclass

from specviz.core.operator_settings import operator_setting
from specviz.core.texts import Sentences

say = Sentences("service")


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """All in seconds, except `sessions_at_once` and `deaths`."""

    sessions_at_once: int = 40  # from one public address that have a job; a class behind one router has one address
    start: float = 300.0  # the engine has imported torch and loaded the default pair (a shared host can be very slow)
    silence: float = 180.0  # longest time between two messages of an engine that has jobs ...
    stop: float = 60.0  # ... while a job is to stop: it does between two steps, such as the loading of a model
    deaths: int = 3  # after this many deaths of the engine ...
    deaths_window: float = 60.0  # ... within this time, no engine is started ...
    rest: float = 60.0  # ... for this long
    pause: float = 1.0  # before the driver goes on after an error in itself


class BudgetSpent(Exception):
    """Thrown into a job's steps once its time is over. A handler may send what it has, and raises it again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(say("spent", seconds=seconds))


def seconds_a_job() -> int | None:
    """Seconds of the engine that one job may take; None where the operator set no limit."""
    seconds = operator_setting("SPECVIZ_JOB_SECONDS")
    return int(seconds) if seconds else None
