"""The lesson plans that this app has: its own, and those that whoever runs the server put into a folder."""

import logging
import os
import re
from functools import cache
from pathlib import Path

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.data.lessons.plan import Plan
from specviz.data.lessons.plan_reader import read_plan_file

FOLDER = ASSETS / "lessons"
OWN = ("ten-minutes", "fifty-minutes")
VARIABLE = "SPECVIZ_LESSONS"  # names a folder of plans for everyone
MOST_PLANS = 50  # of that folder
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")  # of a plan, in links and as its file's name

_log = logging.getLogger(__name__)


@cache
def all_plans() -> tuple[Plan, ...]:
    """The app's plans, then the server's, by name. A file that is no plan is left out and logged; read once."""
    plans = {name: read_plan_file(FOLDER / f"{name}.yaml") for name in OWN}
    folder = os.environ.get(VARIABLE)
    for path in sorted(Path(folder).glob("*.yaml"))[:MOST_PLANS] if folder else []:
        try:
            if not NAME.fullmatch(path.stem):
                raise InputError("A plan's file is named with up to 40 of a to z, 0 to 9 and hyphens.")
            plans.setdefault(path.stem, read_plan_file(path))
        except InputError as error:
            _log.error("%s is left out: %s", path, str(error).replace("\n", " "))
    return tuple(plans.values())


def find_plan(name: str) -> Plan | None:
    """The plan of that name; None where there is none."""
    return next((plan for plan in all_plans() if plan.name == name), None)
