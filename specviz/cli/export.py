"""`specviz export`: a saved trace, or a whole lesson, as one HTML file that plays it with no network."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.output import say, write_file
from specviz.core.errors import InputError
from specviz.core.trace import read_trace
from specviz.data.lessons.plan import Plan
from specviz.data.lessons.plan_reader import read_plan_file
from specviz.data.lessons.plans import all_plans, find_plan
from specviz.player.offline import offline_page
from specviz.player.offline_lesson import lesson_page
from specviz.player.sheet import key_html

if TYPE_CHECKING:
    from specviz.cli.options import Commands

LESSON = "lesson"


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "export",
        "write a saved trace, or a lesson, as one HTML page that plays offline",
        "export run.json -o run.html",
        "export lesson ten-minutes -o lesson.html --notes notes.html",
    )
    what = "a trace file; or the word “lesson” and a plan: its name, or a YAML file"
    parser.add_argument("what", nargs="+", metavar="TRACE.json | lesson PLAN", help=what)
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="PAGE.html", help="the file to write")
    parser.add_argument("--notes", type=Path, metavar="FILE.html", help="lesson: also write the notes and the key")
    add_address(parser)
    parser.set_defaults(command=export, json=None)


def add_address(parser: argparse.ArgumentParser) -> None:
    """Add the option for the server's address."""
    known = "lesson: the address of specviz that students can reach, for links and the QR code"
    parser.add_argument("--address", type=_address, metavar="URL", help=known)


def export(options: argparse.Namespace) -> None:
    """Write the page and say how large it is."""
    if len(options.what) == 1:
        page = offline_page(read_trace(Path(options.what[0])))
    elif len(options.what) == 2 and options.what[0] == LESSON:
        page = _lesson(options)
    else:
        raise InputError("export takes one trace file, or the word “lesson” and one plan.")
    write_file(options.out, page)
    say(f"wrote {options.out}: {len(page.encode()) / 1000:,.0f} KB, plays without a network")


def plan_called(name: str) -> Plan:
    """The plan of this app with that name, else the one in that file.

    Raises:
        InputError: there is neither, or the file is no plan.
    """
    if plan := find_plan(name):
        return plan
    if not Path(name).is_file():
        known = ", ".join(plan.name for plan in all_plans())
        raise InputError(f"There is no plan and no file named {name}. The plans here are {known}.")
    return read_plan_file(Path(name))


def _lesson(options: argparse.Namespace) -> str:
    plan = plan_called(options.what[1])
    if options.notes:
        write_file(options.notes, key_html(plan))
        say(f"wrote {options.notes}: notes and key for the teacher")
    return lesson_page(plan, options.address)


def _address(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no address: it begins with https:// or http://")
    return text.split("?")[0].removesuffix("/") + "/"
