"""What the command line prints: text stays text, and colours are only for a terminal."""

import re
import sys

import pytest

from specviz.cli.output import print_table, safe, say, visible
from specviz.cli.round_text import chip
from tests.support.commands import MARKUP


def test_markup_in_a_table_is_shown_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table((MARKUP, "b"), [(MARKUP, 1.0), ("\x1b[31m", None)])
    say(MARKUP)
    shown = capsys.readouterr().out
    assert shown.count(MARKUP) == 3
    assert "␛[31m" in shown


def test_visible_and_safe_replace_control_characters() -> None:
    assert visible(" a\n\tb\x1b\x9b\u202e") == "␣a↵⇥b␛\\u009b\\u202e"
    assert safe(" a\n\tb\x1b\x00\x7f") == " a\n\tb␛␀\\u007f"
    assert safe("日本 é “✓”") == "日本 é “✓”"


def test_colour_only_on_a_terminal_and_never_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown() -> list[str]:
        for status in ("accepted", "rejected", "discarded", "correction", "bonus", "own"):
            say(chip(status, " a"))
        return capsys.readouterr().out.splitlines()

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = shown()
    assert plain == ["✓␣a", "✗␣a", "⋯␣a", "↻␣a", "+␣a", "•␣a"]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for coloured, text in zip(shown(), plain, strict=True):
        assert re.fullmatch(rf"\x1b\[[\d;]+m{re.escape(text)}\x1b\[0m", coloured)
    say(chip("accepted", "\x1b[2J"))
    assert capsys.readouterr().out == "\x1b[34m✓␛[2J\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown() == plain


def test_nothing_is_cut_on_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(("name", "value"), [("a" * 30, 1.0)])
    assert "a" * 30 + "  1.000\n" in capsys.readouterr().out
