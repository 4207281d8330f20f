"""`--help` of every command: each option says what it does and its default, and each example can be typed."""

import argparse
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz import __version__
from specviz.cli.help_text import PROGRAM
from specviz.cli.main import _parser, main

ROOT = Path(__file__).parents[2]


def commands() -> dict[str, argparse.ArgumentParser]:
    [action] = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(action.choices)


def in_one_line(parser: argparse.ArgumentParser) -> str:
    return " ".join(parser.format_help().split())


@pytest.mark.parametrize("name", commands())
def test_every_option_says_what_it_does_and_its_default(name: str) -> None:
    parser = commands()[name]
    shown = in_one_line(parser)
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


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"specviz {__version__}\n"
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == __version__


def test_a_file_of_prompts_has_one_name() -> None:
    named = {
        option
        for parser in commands().values()
        for action in parser._actions
        for option in action.option_strings
        if "prompts" in option and action.metavar == "F"
    }
    assert named == {"--prompts-file"}
