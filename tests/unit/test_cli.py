"""The command line: every option explains itself, text stays text, and options become settings. No model is loaded."""

import os
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from specviz import __version__
from specviz.cli.main import app, main
from specviz.cli.options import PROGRAM
from specviz.cli.output import chip, print_line, print_table, safe, visible
from specviz.core.files import APP_FOLDER
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import ALL_WORKLOADS
from tests.support.commands import MARKUP, PAIR, PROMPT, parsed

ROOT = Path(__file__).parents[2]


def commands(group: Any, called: str = "") -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{called}{name} ")
        else:
            yield f"{called}{name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


def test_every_option_says_what_it_does() -> None:
    silent = [f"{name} {option.name}" for name, each in COMMANDS.items() for option in each.params if not option.help]
    assert len(COMMANDS) > 13
    assert silent == []


def test_every_example_is_a_command_of_its_kind() -> None:
    for name in COMMANDS.keys() - {"app"}:
        _, _, listed = COMMANDS[name].epilog.partition("examples:\n")
        assert listed, f"{name} has no examples"
        for example in listed.splitlines():
            assert example.startswith(f"  {PROGRAM} {name}")
            parsed(example.removeprefix(f"  {PROGRAM} "))


def test_several_workloads_after_one_option_and_each_with_its_own() -> None:
    """As in README, and as Typer reads them."""
    pair, names = "sweep --target t --draft d", ["story", "copy", "code"]
    assert parsed(f"{pair} --workload story copy --workload code --csv x.csv")["workload"] == names
    assert parsed(f"bench --workload {' '.join(names)}")["workload"] == names


def test_a_sweep_names_every_workload_those_of_chats_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Before: those of chats could be given, and nothing said so."""
    assert main(["sweep", "--target", "wren-base", "--draft", "lookup", "--workload", "chats"]) == 2
    refused = capsys.readouterr().err
    assert main(["sweep", "--help"]) == 0
    help_text = capsys.readouterr().out
    for workload in ALL_WORKLOADS:
        assert re.search(rf"\b{workload.name}\b", refused)
        assert re.search(rf"\b{workload.name}\b", help_text)


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"specviz {__version__}\n"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_a_tree_of_fixed_shape_sets_the_draft_length_and_another_one_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    taken: list[DecodeSettings] = []
    monkeypatch.setattr("specviz.cli.traces.load_pair", lambda _, settings, __: taken.append(settings))

    def draft_length(*given: str) -> int:
        assert main(["run", *PAIR, *PROMPT, *given]) == 1  # nothing was loaded
        return taken[-1].draft_length

    assert (draft_length(), draft_length("--tree", "4,2,1"), draft_length("--tree", "dynamic:9")) == (4, 3, 4)
    assert draft_length("--tree", "2,2", "--draft-length", "2") == 2
    assert (taken[-1].stop_at_eos, taken[-1].top_k) == (True, None)
    draft_length("--ignore-eos")
    assert not taken[-1].stop_at_eos
    capsys.readouterr()
    assert main(["run", *PAIR, *PROMPT, "--tree", "2,2", "--draft-length", "3"]) == 2
    assert "tree 2,2 has 2 depths, so draft_length must be 2" in capsys.readouterr().err


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
