"""How long the service waits before it gives up on a visitor or on the engine, and how long one job may take."""

import logging
import os
from dataclasses import dataclass
from functools import cache

from specviz.core.texts import Sentences

MOST_DIGITS = 9  # of what an operator sets: no job takes so many seconds, no machine has so many megabytes
say = Sentences("service")

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """All in seconds, except `sessions_at_once`, `tokens_at_once` and `deaths`."""

    reconnect: float = 20.0  # a session whose connection ended may come back within this
    sessions_at_once: int = 40  # from one public address that have a job; a class behind one router has one address
    tokens_at_once: int = 18_000  # of all jobs that an engine has, see `Job.tokens`; 25 kB each; 0: one job at a time
    start: float = 300.0  # the engine has imported torch and loaded the default pair (a shared host can be very slow)
    silence: float = 180.0  # longest time between two messages of an engine that has jobs ...
    stop: float = 60.0  # ... while a job is to stop: it does between two steps, such as the loading of a model
    turn: float = 20.0  # a long job that has found something lets one in that does not fit beside it after this long
    shared: bool = False  # ... also if none waits here, because other servers' jobs may: engines behind a URL
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
    return number_set("SPECVIZ_JOB_SECONDS", "seconds")


def number_set(variable: str, unit: str) -> int | None:
    """The whole number above 0 that the operator set; None where there is none, or what is set is no such number."""
    return _number(variable, os.environ.get(variable, ""), unit)


@cache  # so that the log has a wrong one once
def _number(variable: str, text: str, unit: str) -> int | None:
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and int(text):
        return int(text)
    if text:
        _log.warning("%s is %.40r, which is not a whole number of %s: it is ignored.", variable, text, unit)
    return None
