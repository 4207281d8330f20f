"""`specviz export`: a saved trace as one HTML file that plays it, with no network."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.cli.output import say, write_file
from specviz.core.trace import read_trace
from specviz.player.offline import offline_page

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = commands.add_parser("export", help="write a saved trace as one HTML page that plays it offline")
    parser.add_argument("trace", type=Path, metavar="TRACE.json")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="PAGE.html", help="the file to write")
    parser.set_defaults(command=export, json=None)


def export(options: argparse.Namespace) -> None:
    """Write the page and say how large it is."""
    page = offline_page(read_trace(options.trace))
    write_file(options.out, page)
    say(f"wrote {options.out}: {len(page.encode()) / 1000:,.0f} KB, plays without a network")
