"""The log of a server holds little of what visitors send: an error's message may repeat megabytes of it, or come often.

A place is the line of the program that writes a record, with the line where the error in it was raised: so many of one
error hide no other.
"""

import logging
import traceback
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from threading import Lock, Timer
from types import TracebackType

LONGEST = 200  # characters of an error's message, of a line of its traceback, and of a text in a message
LONGEST_MESSAGE = 2_000  # with all its texts
MOST_LINES = 120  # of a traceback; the first and the last are written
MOST_RECORDS = 20  # of one place in `MINUTE`; then one line says how many were left out
MINUTE = 60.0  # seconds
NOWHERE = -1  # a level below that of every handler, so that none writes the record
Error = tuple[type[BaseException], BaseException, TracebackType | None]


@cache
def keep_log_short() -> None:
    """Shorten all records from now on, and the errors in them, and leave out what comes often; once for the process."""
    make, rate = logging.getLogRecordFactory(), Rate()

    def make_short(*args: object, **named: object) -> logging.LogRecord:
        record = make(*args, **named)
        if not rate.has_room(record):
            record.levelno = NOWHERE
            return record
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = short_traceback(record.exc_info)
        if isinstance(record.args, tuple):
            record.args = tuple(shortened(each) if isinstance(each, str) else each for each in record.args)
        record.msg = shortened(record.msg, LONGEST_MESSAGE) if isinstance(record.msg, str) else record.msg
        return record

    logging.setLogRecordFactory(make_short)


@dataclass(slots=True)
class Window:
    """What one place has written since it began to."""

    began: float  # seconds since 1970
    records: int = 0


class Rate:
    """How many records each place of the program writes in a minute. Any thread may ask."""

    def __init__(self) -> None:
        self._windows: dict[Hashable, Window] = {}
        self._lock = Lock()

    def has_room(self, record: logging.LogRecord) -> bool:
        """Whether the record is to be written."""
        place = _place_of(record)
        if record.pathname in ("", __file__):  # a copy of a record, and what is said below
            return True
        with self._lock:
            window = self._windows.get(place)
            if window is None or not 0 <= record.created - window.began < MINUTE:
                window = self._windows[place] = Window(record.created)
            window.records += 1
            if window.records == MOST_RECORDS + 1:
                self._report_later(window, record)
            return window.records <= MOST_RECORDS

    def _report_later(self, window: Window, record: logging.LogRecord) -> None:
        """Say how many were left out once this minute is over, so that it is said where no other record comes."""
        logger, level = logging.getLogger(record.name), record.levelno

        def report() -> None:
            left_out = window.records - MOST_RECORDS
            logger.log(level, "%s:%d: %d records like the last were left out", record.filename, record.lineno, left_out)

        timer = Timer(MINUTE, report)
        timer.daemon = True
        timer.start()


def _place_of(record: logging.LogRecord) -> Hashable:
    raised = record.exc_info[2] if record.exc_info else None
    while raised and raised.tb_next:
        raised = raised.tb_next
    return record.pathname, record.lineno, raised and (raised.tb_frame.f_code.co_filename, raised.tb_lineno)


def short_traceback(error: Error | tuple[None, None, None]) -> str:
    lines = [line for part in traceback.format_exception(*error) for line in part.rstrip("\n").split("\n")]
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - MOST_LINES} lines left out", *lines[-half:]]
    return "\n".join(shortened(line) for line in lines)


def shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
