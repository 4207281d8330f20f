"""`specviz show`: check a saved trace and print it."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.options import add_json
from specviz.cli.output import say, write_json
from specviz.cli.trace_text import print_trace
from specviz.core.trace import dump_trace, read_trace
from specviz.models.catalogue import changed_weights

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "show", "check a saved trace and print it", "show run.json")
    parser.add_argument("trace", type=Path, metavar="TRACE.json", help="the file")
    add_json(parser)
    parser.set_defaults(command=show)


def show(options: argparse.Namespace) -> None:
    """Print or write the trace, and say if a model here has other weights."""
    trace = read_trace(options.trace)
    if write_json(options.json, dump_trace(trace)):
        print_trace(trace)
        for change in changed_weights(trace):
            say(f"note: {change}")
