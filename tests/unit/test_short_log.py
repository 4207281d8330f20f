"""What visitors send does not fill the log."""

import logging
from collections.abc import Callable, Iterator
from unittest.mock import Mock

import pytest

from specviz.core import short_log
from specviz.core.short_log import LONGEST, MINUTE, MOST_RECORDS, keep_log_short

LOG = logging.getLogger("specviz.test")
NOW = [0.0]


@pytest.fixture(autouse=True)
def short() -> Iterator[None]:
    """The log of a server, whatever a test of a page has done to it before; its time is that of the test."""
    factory, NOW[:] = logging.getLogRecordFactory(), [1_000.0]

    def at_its_time(*args: object, **named: object) -> logging.LogRecord:
        record = logging.LogRecord(*args, **named)
        record.created = NOW[0]
        return record

    logging.setLogRecordFactory(at_its_time)
    keep_log_short.__wrapped__()
    yield
    logging.setLogRecordFactory(factory)


def logged(caplog: pytest.LogCaptureFixture, error: Callable[[], object]) -> str:
    try:
        error()
    except Exception:
        LOG.exception("it failed")
    return logging.Formatter("%(message)s").format(caplog.records[-1])


def fail(message: str) -> None:
    raise ValueError(message)


def test_an_error_that_repeats_what_was_sent_is_logged_with_its_beginning(caplog: pytest.LogCaptureFixture) -> None:
    text = logged(caplog, lambda: fail("x" * 4_000_000))
    assert len(text) < 1_500
    assert f"ValueError: {'x' * (LONGEST - 12)}… (4,000,012 characters)" in text
    assert "test_short_log.py" in text
    assert len(logged(caplog, lambda: fail("x\n" * 1_000_000))) < 2_000
    for sent, most in ((("sent: %s, %d", "y" * 1_000_000, 7), 300), (("z" * 1_000_000,), 2_100)):
        LOG.warning(*sent)
        assert len(caplog.records[-1].getMessage()) < most
    assert logged(caplog, lambda: fail("short")).endswith("ValueError: short")


def test_one_place_writes_so_many_records_a_minute_and_then_how_many_were_left_out(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before: a request of a few bytes wrote a traceback each, 2.8 MB a second."""
    later = list[Callable[[], None]]()
    monkeypatch.setattr(short_log, "Timer", lambda seconds, act: Mock(start=lambda: later.append(act)))

    def flood(text: str) -> None:
        caplog.clear()
        for number in range(5_000):
            LOG.warning("%s %d", text, number)

    flood("a")
    LOG.warning("from another place")
    assert caplog.messages == [*(f"a {number}" for number in range(MOST_RECORDS)), "from another place"]
    NOW[0] += MINUTE - 1
    flood("b")
    assert caplog.messages == []
    later.pop()()
    assert caplog.messages[0].startswith("test_short_log.py:")
    assert f" {10_000 - MOST_RECORDS} records" in caplog.messages[0]
    for passed in (1, -10_000):  # the machine's clock is put back
        NOW[0] += passed
        flood("c")
        assert caplog.messages == [f"c {number}" for number in range(MOST_RECORDS)]


def test_many_of_one_error_hide_no_other(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(100):
        logged(caplog, lambda: fail("the same"))
    assert "ZeroDivisionError" in logged(caplog, lambda: 1 // 0)
    assert len(caplog.records) == MOST_RECORDS + 1
