"""How many seconds of the engine one job may take: an operator's setting, for servers that anyone can use."""

import logging
import os
from functools import cache

VARIABLE = "SPECVIZ_JOB_SECONDS"
MOST_DIGITS = 9
SPENT = "This server gives one job {seconds:,.0f} seconds, and they are over: what was found by then is shown."

_log = logging.getLogger(__name__)


class BudgetSpent(Exception):
    """Thrown into a job's steps once its time is over. A handler may send what it has, and raises it again."""

    def __init__(self, seconds: float) -> None:
        super().__init__(SPENT.format(seconds=seconds))


def seconds_a_job() -> int | None:
    """Seconds of the engine that one job may take; None where the operator set no limit, or one that is no number."""
    return _seconds(os.environ.get(VARIABLE, ""))


@cache  # so that the log has a wrong one once
def _seconds(text: str) -> int | None:
    if text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS and int(text):
        return int(text)
    if text:
        _log.warning("%s is %.40r, which is not a whole number of seconds: it is ignored.", VARIABLE, text)
    return None
