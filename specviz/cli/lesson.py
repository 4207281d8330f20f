"""`specviz lesson check`: whether a file is a lesson plan, and everything that is wrong with it. `sheet` prints one."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specviz.cli.help_text import add_command
from specviz.cli.lesson_sheet import add_sheet_options, write_sheet
from specviz.cli.output import safe, say
from specviz.core.errors import InputError
from specviz.data.lessons.plan_reader import PlanError, read_plan_file
from specviz.models.draft_menu import linked_names

if TYPE_CHECKING:
    from specviz.cli.options import Commands


def add_to(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "lesson",
        "check a lesson plan, a YAML file, or write its sheet and key",
        "lesson check my-plan.yaml",
        "lesson sheet my-plan.yaml -o sheet.html",
        "lesson sheet my-plan.yaml --key -o key.html",
    )
    parser.add_argument("action", choices=list(ACTIONS), help="what to do with the plan")
    parser.add_argument(
        "plan", type=Path, metavar="PLAN.yaml", help="the file; for a sheet also the name of a plan here"
    )
    add_sheet_options(parser)
    parser.set_defaults(command=lambda options: ACTIONS[options.action](options), json=None)


def check(options: argparse.Namespace) -> None:
    """Say what is in the plan, or each of its problems.

    Raises:
        InputError: it is no plan; the problems are on standard error by then.
    """
    try:
        plan = read_plan_file(options.plan, linked_names())
    except PlanError as error:
        for problem in error.problems:
            print(safe(problem), file=sys.stderr)
        count = "1 problem" if len(error.problems) == 1 else f"{len(error.problems)} problems"
        raise InputError(f"{options.plan.name} is no lesson plan yet: {count}, see above.") from error
    moments = "1 moment" if len(plan.moments) == 1 else f"{len(plan.moments)} moments"
    say(f"{plan.title}: {moments}, {plan.minutes} minutes. The plan can be used.")


ACTIONS = {"check": check, "sheet": write_sheet}
