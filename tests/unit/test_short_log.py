"""What visitors send does not fill the log."""

import logging
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import Mock

import pytest

from specviz.core import short_log
from specviz.core.short_log import LONGEST, MINUTE, MOST_RECORDS, keep_log_short


def logged(caplog: pytest.LogCaptureFixture, message: str) -> str:
    formatter = logging.Formatter("%(message)s")
    try:
        raise ValueError(message)
    except ValueError:
        logging.getLogger("specviz.test").exception("it failed")
    return formatter.format(caplog.records[-1])


@pytest.fixture
def short() -> Iterator[None]:
    """The log of a server, whatever a test of a page has done to it before."""
    factory = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)
    keep_log_short.cache_clear()
    keep_log_short()
    yield
    logging.setLogRecordFactory(factory)
    keep_log_short.cache_clear()


@pytest.mark.usefixtures("short")
def test_an_error_that_repeats_what_was_sent_is_logged_with_its_beginning(caplog: pytest.LogCaptureFixture) -> None:
    text = logged(caplog, "x" * 4_000_000)
    assert len(text) < 1_500
    assert f"ValueError: {'x' * (LONGEST - 12)}… (4,000,012 characters)" in text
    assert "test_short_log.py" in text
    lines = logged(caplog, "x\n" * 1_000_000)
    assert len(lines) < 2_000
    assert "lines left out" in lines
    logging.getLogger("specviz.test").warning("sent: %s, %d", "y" * 1_000_000, 7)
    assert len(caplog.records[-1].getMessage()) < 300
    assert caplog.records[-1].getMessage().endswith("(1,000,000 characters), 7")
    logging.getLogger("specviz.test").warning("z" * 1_000_000)
    assert len(caplog.records[-1].getMessage()) < 2_100
    assert logged(caplog, "short").endswith("ValueError: short")


class Clock:
    """The time of the log, and what is to be done later; a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.later = 1_000.0, list[tuple[float, Callable[[], None]]]()
        monkeypatch.setattr(short_log, "Timer", self.timer)
        make = logging.getLogRecordFactory()

        def at_its_time(*args: object, **named: object) -> logging.LogRecord:
            record = make(*args, **named)
            record.created = self.now
            return record

        logging.setLogRecordFactory(at_its_time)
        keep_log_short.cache_clear()
        keep_log_short()

    def timer(self, seconds: float, act: Callable[[], None]) -> Any:
        return Mock(start=lambda: self.later.append((self.now + seconds, act)))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        due = [act for when, act in self.later if when <= self.now]
        self.later = [each for each in self.later if each[0] > self.now]
        for act in due:
            act()


@pytest.fixture
def clock(short: None, monkeypatch: pytest.MonkeyPatch) -> Clock:
    logging.setLogRecordFactory(logging.LogRecord)
    return Clock(monkeypatch)


def test_one_place_writes_so_many_records_a_minute_and_then_how_many_were_left_out(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """Before: a request of a few bytes wrote a traceback each, 2.8 MB a second."""
    log = logging.getLogger("specviz.test")

    def said() -> list[str]:
        texts = [record.getMessage() for record in caplog.records]
        caplog.clear()
        return texts

    def flood(text: str) -> None:
        for number in range(5_000):
            log.warning("%s %d", text, number)

    flood("a")
    log.warning("from another place")
    assert said() == [*(f"a {number}" for number in range(MOST_RECORDS)), "from another place"]
    clock.wait(MINUTE - 1)
    flood("b")
    assert said() == []
    clock.wait(1)
    (left_out,) = said()
    assert left_out.startswith("test_short_log.py:")
    assert left_out.endswith(f" {10_000 - MOST_RECORDS} records like the last were left out")
    flood("c")
    assert said() == [f"c {number}" for number in range(MOST_RECORDS)]
    clock.wait(-10_000)  # the machine's clock is put back
    log.warning("from another place")
    flood("d")
    assert len(said()) == MOST_RECORDS + 1
