"""The log of a server holds little of what visitors send: an error's message may repeat megabytes of it."""

import logging
import traceback
from functools import cache
from types import TracebackType

LONGEST = 200  # characters of an error's message, of a line of its traceback, and of a text in a message
LONGEST_MESSAGE = 2_000  # with all its texts
MOST_LINES = 120  # of a traceback; the first and the last are written
Error = tuple[type[BaseException], BaseException, TracebackType | None]


@cache
def keep_log_short() -> None:
    """Shorten all records from now on, and the errors in them; once for the process."""
    make = logging.getLogRecordFactory()

    def make_short(*args: object, **named: object) -> logging.LogRecord:
        record = make(*args, **named)
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = short_traceback(record.exc_info)
        if isinstance(record.args, tuple):
            record.args = tuple(shortened(each) if isinstance(each, str) else each for each in record.args)
        record.msg = shortened(record.msg, LONGEST_MESSAGE) if isinstance(record.msg, str) else record.msg
        return record

    logging.setLogRecordFactory(make_short)


def short_traceback(error: Error | tuple[None, None, None]) -> str:
    lines = [line for part in traceback.format_exception(*error) for line in part.rstrip("\n").split("\n")]
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - MOST_LINES} lines left out", *lines[-half:]]
    return "\n".join(shortened(line) for line in lines)


def shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"
