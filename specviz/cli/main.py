"""The command line: `specviz` or `python -m specviz`.

Exit status: 0 done, 2 bad usage or bad input (one line on standard error), 130 stopped with Ctrl-C, 1 anything else,
a machine that is too busy to be measured among it.
"""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from contextvars import copy_context
from typing import Annotated

import typer

from specviz import __version__
from specviz.cli import bench, lessons, sweep, traces
from specviz.cli.options import PROGRAM
from specviz.cli.output import safe
from specviz.core.errors import InputError, UnmetError
from specviz.core.files import APP_FOLDER
from specviz.core.operator_settings import check_operator_settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog="specviz COMMAND --help describes a command, with examples.",
)
for commands in (traces, sweep, bench, lessons):
    app.add_typer(commands.group)
app.add_typer(lessons.lesson_group, name="lesson", help="Check a lesson plan, a YAML file, or write its sheet and key.")
app.add_typer(lessons.lab_group, name="lab", help="Write the rules of speculative decoding yourself, and check them.")


def show_version(wanted: bool) -> None:
    if wanted:
        print(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def describe(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="and nothing else")
    ] = False,
) -> None:
    """Speculative decoding with real models, measured."""


@app.command("app")
def start_app(
    port: Annotated[int, typer.Option(help="the port it listens on")] = 8501,
    host: Annotated[str, typer.Option(help="the address it listens on; localhost is this machine only")] = "localhost",
) -> None:
    """Start the web app."""
    with suppress(OSError):  # a folder that cannot be written: the app then runs without plotly.js
        (APP_FOLDER / "static").mkdir(exist_ok=True)  # Streamlit warns if it is missing at start
    command = [sys.executable, "-m", "streamlit", "run", str(APP_FOLDER / "serve.py")]
    # this process becomes Streamlit's server, so that signals reach it
    os.execv(sys.executable, [*command, "--server.address", host, "--server.port", str(port)])


LISTED = "--workload"  # takes several names
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        check_operator_settings()
        given = list(expand_lists(sys.argv[1:] if arguments is None else arguments))
        copy_context().run(run_command, given)  # what it sets for itself, as a language, ends with it
        sys.stdout.flush()  # a BrokenPipeError must be raised here, where it is caught
        return 0
    except typer.Exit as done:
        return done.exit_code
    except typer.TyperException as error:
        print(f"{PROGRAM}: {_one_line(error.format_message())}", file=sys.stderr)
        return 2
    except InputError as error:
        print(f"{PROGRAM}: {_one_line(error)}", file=sys.stderr)
        return 1 if isinstance(error, UnmetError) else 2
    except BrokenPipeError:  # the program that reads our output has ended, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:  # its text, where there is one, says what is saved
        saved = f"; {safe(str(stop))}" if str(stop) else "."
        print(f"{PROGRAM}: stopped before it was done{saved}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print("specviz: stopped before it was done: the memory is full.", file=sys.stderr)
        return 1
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=True)
        print(f"{PROGRAM}: unexpected {type(error).__name__}: {_one_line(error)}", file=sys.stderr)
        return 1


def run_command(arguments: list[str]) -> None:
    with typer.main.get_command(app).make_context(PROGRAM, arguments) as context:
        context.command.invoke(context)


def expand_lists(arguments: Sequence[str]) -> Iterator[str]:
    """`--workload story code` as `--workload story --workload code`."""
    listed = False
    for place, argument in enumerate(arguments):
        if listed and not argument.startswith("-") and arguments[place - 1] != LISTED:
            yield LISTED
        listed = argument == LISTED or (listed and not argument.startswith("-"))
        yield argument


def _one_line(error: Exception | str) -> str:
    """The message without line breaks and control characters: a name in it may hold anything."""
    return safe(" ".join(str(error).split()))[:1000]
