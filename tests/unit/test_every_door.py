"""Every way into the program has a row in docs/security.md; `tests/pages/test_door_budgets.py` measures them."""

import ast

import pytest

from tests.support.doors import ROOT, budgets, doors_in_code
from tests.support.measured_doors import DOORS, MEASURED

# What the search finds, and what reads nothing that a visitor or a file of a person says.
NO_DOORS = {
    "core/files.py: reads": "reads for the doors",
    "core/outside.py: reads": "reads for the doors",
    "cli/lessons.py: file --notes": "is written",
    "cli/lessons.py: file --out": "is written",
    "cli/traces.py: file --out": "is written",
    "cli/sweep.py: file --plots": "is written",
    "data/lessons/answers.py: reads": "a file of the app",
    "data/lessons/roofline.py: reads": "a file of the app",
    "ui/play/board.py: reads": "a file of the app",
    "measure/race.py: reads": "a file of the app",
    "models/bundled.py: reads": "a file of the app",
    "models/catalogue.py: reads": "a model's files",
    "models/configuration.py: reads": "a model's files",
    "models/heads.py: reads": "a model's files",
    "models/hub.py: reads": "a model's files",
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


@pytest.mark.parametrize("name", budgets())
def test_the_test_of_a_row_exists(name: str) -> None:
    file, _, test = budgets()[name].test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert test in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert bool(DOORS[name].read) == (budgets()[name].test == MEASURED)
