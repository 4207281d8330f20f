"""The command line: `specviz` or `python -m specviz`. Every command has its own file in this folder.

Exit status: 0 done, 2 bad usage or bad input (one line on standard error), 130 stopped with Ctrl-C, 1 anything else.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from specviz import __version__
from specviz.cli import app, calibrate, compare, export, import_run, lesson, models, run, show, sweep
from specviz.cli.options import Parser
from specviz.cli.output import safe
from specviz.core.errors import InputError

# in the order of the help text
COMMANDS = (models, run, compare, sweep, show, import_run, export, lesson, calibrate, app)
INTERRUPTED = 130  # what shells report for a program that Ctrl-C ended: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        options = _parser().parse_args(arguments)
        if options.json != "-" and isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without such a glyph shows a question mark
        options.command(options)
        sys.stdout.flush()  # a BrokenPipeError must be raised here, where it is caught
        return 0
    except InputError as error:
        print(f"specviz: {_one_line(error)}", file=sys.stderr)
        return 2
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
