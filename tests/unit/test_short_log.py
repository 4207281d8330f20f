"""What visitors send does not fill the log."""

import logging

import pytest

from specviz.core.short_log import LONGEST, MOST_LINES, keep_log_short, short_traceback


def logged(caplog: pytest.LogCaptureFixture, message: str) -> str:
    formatter = logging.Formatter("%(message)s")
    try:
        raise ValueError(message)
    except ValueError:
        logging.getLogger("specviz.test").exception("it failed")
    return formatter.format(caplog.records[-1])


def test_an_error_that_repeats_what_was_sent_is_logged_with_its_beginning(caplog: pytest.LogCaptureFixture) -> None:
    factory = logging.getLogRecordFactory()
    logging.setLogRecordFactory(logging.LogRecord)  # a test of a page may have shortened the log already
    try:
        keep_log_short.cache_clear()
        keep_log_short()
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
    finally:
        logging.setLogRecordFactory(factory)
        keep_log_short.cache_clear()


def test_a_traceback_of_few_lines_is_whole() -> None:
    try:
        raise KeyError("missing")
    except KeyError as error:
        text = short_traceback((KeyError, error, error.__traceback__))
    assert text.startswith("Traceback (most recent call last):")
    assert text.endswith("KeyError: 'missing'")
    assert text.count("\n") < MOST_LINES
