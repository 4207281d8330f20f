"""The command line: every option explains itself, text stays text, and options become settings. No model is loaded."""

import argparse
import os
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import InputError, __version__
from specviz.cli.main import _parser, main
from specviz.cli.options import PROGRAM, add_pair, settings_of
from specviz.cli.output import chip, print_line, print_table, safe, visible
from specviz.core.files import APP_FOLDER
from specviz.data.prompts.workloads import ALL_WORKLOADS
from tests.support.commands import MARKUP

ROOT = Path(__file__).parents[2]


def commands() -> dict[str, argparse.ArgumentParser]:
    [action] = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_does_and_its_default(name: str) -> None:
    parser = commands()[name]
    shown = " ".join(parser.format_help().split())
    for action in parser._actions:
        assert action.help, f"{name} {action.dest} has no help"
        if action.option_strings and action.default not in (None, False, argparse.SUPPRESS):
            assert f"(default: {action.default})" in shown


def examples() -> Iterator[tuple[str, str]]:
    for name, parser in commands().items():
        _, _, listed = (parser.epilog or "").partition("examples:\n")
        assert listed, f"{name} has no examples"
        yield from ((name, line.strip()) for line in listed.splitlines())


@pytest.mark.parametrize(("name", "example"), list(examples()))
def test_every_example_is_a_command_of_its_kind(name: str, example: str) -> None:
    assert example.startswith(f"{PROGRAM} {name}")
    options = _parser().parse_args(shlex.split(example.removeprefix(PROGRAM)))
    assert callable(options.command)


def test_a_sweep_names_every_workload_those_of_chats_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Before: those of chats could be given, and nothing said so."""
    assert main(["sweep", "--target", "wren-base", "--draft", "lookup", "--workload", "chats"]) != 0
    refused = capsys.readouterr().err
    help_text = commands()["sweep"].format_help()
    for workload in ALL_WORKLOADS:
        assert re.search(rf"\b{workload.name}\b", refused)
        assert re.search(rf"\b{workload.name}\b", help_text)


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"specviz {__version__}\n"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_a_tree_of_fixed_shape_sets_the_draft_length_and_another_one_is_refused() -> None:
    parser = argparse.ArgumentParser()
    add_pair(parser)

    def draft_length(*given: str) -> int:
        return settings_of(parser.parse_args(["--target", "t", "--draft", "d", *given])).draft_length

    assert (draft_length(), draft_length("--tree", "4,2,1"), draft_length("--tree", "dynamic:9")) == (4, 3, 4)
    assert draft_length("--tree", "2,2", "--draft-length", "2") == 2
    with pytest.raises(InputError, match="tree 2,2 has 2 depths, so draft_length must be 2"):
        draft_length("--tree", "2,2", "--draft-length", "3")


def test_visible_text_replaces_control_characters_and_markup_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    print_table((MARKUP, "b"), [(MARKUP, 1.0), ("\x1b[31m", None)])
    print_line(MARKUP)
    shown = capsys.readouterr().out
    assert shown.count(MARKUP) == 3
    assert "␛[31m" in shown
    assert visible(" a\n\tb\x1b\x9b\u202e") == "␣a↵⇥b␛\\u009b\\u202e"
    assert safe(" a\n\tb\x1b\x00\x7f") == " a\n\tb␛␀\\u007f"
    assert safe("日本 é “✓”") == "日本 é “✓”"


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def shown() -> list[str]:
        for status in ("accepted", "rejected", "discarded", "correction", "bonus", "own"):
            print_line(chip(status, " a"))
        return capsys.readouterr().out.splitlines()

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    plain = shown()
    assert plain == ["✓␣a", "✗␣a", "⋯␣a", "↻␣a", "+␣a", "•␣a"]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for coloured, text in zip(shown(), plain, strict=True):
        assert re.fullmatch(rf"\x1b\[[\d;]+m{re.escape(text)}\x1b\[0m", coloured)
    print_line(chip("accepted", "\x1b[2J"))
    assert capsys.readouterr().out == "\x1b[34m✓␛[2J\x1b[0m\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert shown() == plain


def test_nothing_is_cut_if_narrow(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_table(("name", "value"), [("a" * 30, 1.0)])
    assert "a" * 30 + "  1.000\n" in capsys.readouterr().out


@pytest.mark.parametrize(("given", "address"), [([], "localhost"), (["--host", "0.0.0.0"], "0.0.0.0")])
def test_streamlit_gets_the_app_the_address_and_the_port(
    given: list[str], address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: calls.append((program, arguments)))
    monkeypatch.setattr("specviz.cli.main.APP_FOLDER", tmp_path)
    assert main(["app", "--port", "9000", *given]) == 0
    where = ["--server.address", address, "--server.port", "9000"]
    [(program, arguments)] = calls
    assert program == sys.executable
    assert arguments[1:] == ["-m", "streamlit", "run", str(tmp_path / "serve.py"), *where]
    assert (tmp_path / "static").is_dir()
    assert {"serve.py", "app.py", "pages"} <= {file.name for file in APP_FOLDER.iterdir()}
