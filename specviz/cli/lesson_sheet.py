"""`specviz lesson sheet`: the students' sheet of a lesson plan, or its key, as an HTML file to print."""

import argparse
from pathlib import Path

from specviz.cli.export import add_address, plan_called
from specviz.cli.output import say, write_file
from specviz.core.errors import InputError
from specviz.player.sheet import key_html, lesson_address, sheet_html


def add_sheet_options(parser: argparse.ArgumentParser) -> None:
    """Add what only the sheet needs."""
    parser.add_argument("-o", "--out", type=Path, metavar="FILE.html", help="sheet: the file to write")
    parser.add_argument("--key", action="store_true", help="sheet: write the teacher's key instead")
    add_address(parser)


def write_sheet(options: argparse.Namespace) -> None:
    """Write the sheet, or the key, of the plan that is named.

    Raises:
        InputError: there is no such plan, or no file to write is named.
    """
    if options.out is None:
        raise InputError("lesson sheet needs --out FILE.html.")
    plan = plan_called(str(options.plan))
    address = lesson_address(options.address, plan) if options.address else None
    write_file(options.out, key_html(plan) if options.key else sheet_html(plan, address))
    without = "" if options.key or address else ", without a link: --address gives it one"
    say(f"wrote {options.out}{without}")
