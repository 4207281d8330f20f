"""The command line: `specviz` or `python -m specviz`.

Exit status: 0 done, 2 bad usage or bad input (one line on standard error), 130 stopped with Ctrl-C, 1 anything else,
a machine that is too busy to be measured among it.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from contextvars import copy_context
from io import TextIOWrapper

from specviz import __version__
from specviz.cli import bench, compare, lab, lessons, models, sweep, traces
from specviz.cli.options import Command, Parser
from specviz.cli.output import safe
from specviz.core.errors import InputError, UnmetError
from specviz.core.files import APP_FOLDER
from specviz.core.operator_settings import check_operator_settings


def _app_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, default=8501, help="the port it listens on")
    parser.add_argument("--host", default="localhost", help="the address it listens on; localhost is this machine only")


def start_app(options: argparse.Namespace) -> None:
    """Replace this process by Streamlit's server, so that signals reach it."""
    with suppress(OSError):  # a folder that cannot be written: the app then runs without plotly.js
        (APP_FOLDER / "static").mkdir(exist_ok=True)  # Streamlit warns if it is missing at start
    command = [sys.executable, "-m", "streamlit", "run", str(APP_FOLDER / "serve.py")]
    os.execv(sys.executable, [*command, "--server.address", options.host, "--server.port", str(options.port)])


APP = Command("app", "start the web app", start_app, _app_options, ("", "--host 0.0.0.0 --port 80"), writes_json=False)
COMMANDS = (
    *models.COMMANDS,
    *traces.COMMANDS,
    compare.COMMAND,
    sweep.COMMAND,
    bench.COMMAND,
    *lessons.COMMANDS,
    lab.COMMAND,
    APP,
)
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        options = _parser().parse_args(arguments)
        check_operator_settings()
        if options.json != "-" and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without such a glyph shows a question mark
        copy_context().run(options.command, options)  # what it sets for itself, as a language, ends with it
        sys.stdout.flush()  # a BrokenPipeError must be raised here, where it is caught
        return 0
    except InputError as error:
        print(f"specviz: {_one_line(error)}", file=sys.stderr)
        return 1 if isinstance(error, UnmetError) else 2
    except BrokenPipeError:  # the program that reads our output has ended, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt as stop:  # its text, where there is one, says what is saved
        saved = f"; {safe(str(stop))}" if str(stop) else "."
        print(f"specviz: stopped before it was done{saved}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError:
        print("specviz: stopped before it was done: the memory is full.", file=sys.stderr)
        return 1
    except Exception as error:
        logging.getLogger(__name__).debug("unexpected", exc_info=True)
        print(f"specviz: unexpected {type(error).__name__}: {_one_line(error)}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="specviz",
        description="Speculative decoding with real models, measured.",
        epilog="specviz COMMAND --help describes a command, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"specviz {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


def _one_line(error: Exception) -> str:
    """The message without line breaks and control characters: a name in it may hold anything."""
    return safe(" ".join(str(error).split()))[:1000]
