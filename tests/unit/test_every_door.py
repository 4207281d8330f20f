"""Every way into the program has a row in docs/security.md; `tests/pages/test_door_budgets.py` measures them."""

import ast

import pytest

from specviz.cli.options import MOST_TEXT
from specviz.core.short_log import LONGEST, MOST_LINES
from specviz.core.trace import FILE, UPLOAD
from specviz.data.lessons.story import quiz
from specviz.game.game import PROMPTS, ROUNDS
from specviz.measure.sweep import table
from specviz.service.classes.registry import ALPHABET, LENGTH, MAX_NAME, ClassLimits
from specviz.service.classes.room import MAX_GUESS
from specviz.service.run_store import IN_MEMORY, ON_DISK, TOKENS_IN_MEMORY
from specviz.ui.lesson import place
from specviz.ui.shared.middleware import ADDRESS_BYTES, ALL_BYTES, MOST_FILES, MOST_WIDGETS, SESSION_BYTES
from tests.support.door_contents import MEGA
from tests.support.doors import ROOT, budgets, doors_in_code
from tests.support.measured_doors import DOORS, MEASURED

LIMITS = ClassLimits()
SAID = [
    f"a trace at most {UPLOAD.rounds:,} rounds; a CSV at most {table.UPLOAD.rows:,} rows, {table.UPLOAD.workloads}",
    f"a trace, a record or a CSV has at most {FILE.megabytes} MB, and a prompt or a schema {MOST_TEXT // MEGA} MB",
    f"more than {MOST_FILES} names of files or {MOST_WIDGETS:,} widgets",
    f"room for {MOST_FILES} uploaded files with {SESSION_BYTES // MEGA} MB together",
    f"a public address for {ADDRESS_BYTES // MEGA} MB, all sessions for {ALL_BYTES // MEGA} MB",
    f"at most {MOST_LINES} lines of its traceback, and {LONGEST} characters of each",
    f"{LENGTH} signs of {len(ALPHABET)}",
    f"{LIMITS.classes} classes on a server, {LIMITS.classes_of_one_address} from one public address",
    f"{LIMITS.students} students in a class; {PROMPTS * ROUNDS} rounds and {len(quiz())} answers of a student",
    f"names of {MAX_NAME} characters; {MAX_GUESS} characters of a guess",
    f"have {place.MOST} places, {place.MOST_OF_ONE} of one public address",
    f"the newest {IN_MEMORY} in memory, at most {TOKENS_IN_MEMORY:,} tokens together; the newest {ON_DISK} on the disk",
]

# What the search finds, and what reads nothing that a visitor or a file of a person says.
NO_DOORS = {
    "core/files.py: reads": "reads for the doors",
    "core/outside.py: reads": "reads for the doors",
    "cli/lessons.py: file --notes": "is written",
    "cli/lessons.py: file --out": "is written",
    "cli/traces.py: file --out": "is written",
    "cli/sweep.py: file --plots": "is written",
    "data/lessons/questions.py: reads": "a file of the app",
    "ui/play/board.py: reads": "a file of the app",
    "ui/shared/parts.py: file_uploader key": "draws those of the pages",
    "measure/race.py: reads": "a file of the app",
    "player/live.py: reads": "files of the app",
    "models/catalogue.py: reads": "a model's files",
    "models/heads.py: reads": "a model's files",
    "models/hub.py: reads": "a model's files",
    "models/loading.py: reads": "a file of the app",
    "serve.py: middleware Guards": "adds headers",
    "serve.py: middleware Previews": "adds titles",
}


def test_every_door_in_the_code_has_a_row_and_every_row_its_doors() -> None:
    found = doors_in_code()
    rows = [place for each in DOORS.values() for place in each.code]
    assert len(found) > 60
    assert len(rows) == len(set(rows))
    assert found - NO_DOORS.keys() - set(rows) == set(), "a new way in: give it a row in docs/security.md"
    assert {*rows, *NO_DOORS} - found == set(), "a way in that is gone"


def test_the_table_has_these_rows_with_what_the_code_takes() -> None:
    assert {name: budget.largest for name, budget in budgets().items()} == {
        name: each.largest for name, each in DOORS.items()
    }


def test_the_figures_in_the_text_are_those_of_the_code() -> None:
    text = " ".join((ROOT / "docs" / "security.md").read_text(encoding="utf-8").split())
    assert [each for each in SAID if each not in text] == []


@pytest.mark.parametrize("name", budgets())
def test_the_test_of_a_row_exists(name: str) -> None:
    file, _, test = budgets()[name].test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert bool(DOORS[name].read) == (budgets()[name].test == MEASURED)
