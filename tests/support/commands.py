"""Runs commands in the test's own process. Also the models, the prompts and a hostile trace for these tests."""

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import typer

from specviz.cli.main import app, expand_lists, main
from specviz.core.trace import Trace
from tests.support.fake_traces import fake_trace

PAIR = ["--target", "wren-base", "--draft", "wren-nano"]
SHORT = [*PAIR, "--max-new-tokens", "8"]
PROMPT = ["--prompt", "Once upon a time"]

Cli = Callable[..., tuple[int, str, str]]


def command_line(capsys: pytest.CaptureFixture[str]) -> Cli:
    """A function that runs one command; it returns its status, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return call


def parsed(line: str) -> dict[str, Any]:
    """The values of the options of a command as it is typed, which is not run."""
    command, arguments = typer.main.get_command(app), list(expand_lists(shlex.split(line, comments=True)))
    while hasattr(command, "commands"):  # a group
        command = command.commands[arguments.pop(0)]
    return command.make_context("specviz", arguments).params


MARKUP = "[red]a[/red] [link=https://example.com]b[/link] [/] :smile: 12.5"  # what rich would read
HOSTILE = "\x1b[31mred\x1b]0;title\x07\x9b2J\x7f\u202e<script>alert(1)</script>\r" + MARKUP


def hostile_trace() -> Trace:
    """A trace whose names and texts try to steer the terminal."""
    trace = fake_trace(hostile=True, tokens=24)
    return replace(
        trace,
        target=replace(trace.target, name=HOSTILE),
        recorded_on=replace(trace.recorded_on, machine=HOSTILE),
        prompt=replace(trace.prompt, text=HOSTILE),
        output=replace(trace.output, text=HOSTILE),
    )


def without_progress(err: str) -> str:
    """What a command said on standard error besides its progress."""
    return "".join(line for line in err.splitlines(keepends=True) if not line.startswith("progress: "))
