"""Each way into the program keeps to its row in docs/security.md.

Each is measured in a process of its own, with `resource` limits: it is given the largest that it takes and every
harmful file or text, one after the other. A refusal is a sentence. The limit of memory is the row's; that of a
processor's time is far above what a slow machine needs.
"""

import re

import pytest

from tests.support.child import each_in_a_child, in_a_child
from tests.support.door_contents import COMMAND, OPTIONS
from tests.support.doors import SECONDS, budgets
from tests.support.grids import grid
from tests.support.measured_doors import DOORS

READ = [name for name, each in DOORS.items() if each.read]
SMALL = ("a trace", "a sweep", "a bench file", "what is sent for a class")  # a kind of door each; ten seconds each


@pytest.mark.parametrize("name", grid(READ, SMALL))
def test_a_door_keeps_its_budget(name: str) -> None:
    door, budget = DOORS[name], budgets()[name]
    contents = door.contents()
    outcomes, megabytes = each_in_a_child(door.setup, door.read, contents, SECONDS)
    assert len(outcomes) == len(contents), outcomes
    kind, said = outcomes[0]
    assert kind == "read", said
    assert re.fullmatch(door.says, said, re.DOTALL), said
    for kind, said in outcomes:
        assert kind == "read" or re.search(r"[.?…]$", said.strip()), said
        assert "Traceback" not in said
    assert megabytes < budget.megabytes


ENDLESS = {
    "show": (COMMAND, "cli('show', '/dev/zero')"),
    "export": (COMMAND, "cli('export', '/dev/zero', '--out', 'out')"),
    "import": (COMMAND, "cli('import', '/dev/zero', '--from', 'vllm')"),
    "import with a prompt": (COMMAND, "cli('import', 'file', '--from', 'vllm', '--prompt-file', '/dev/zero')"),
    "lesson": (COMMAND, "cli('lesson', 'check', '/dev/zero')"),
    "prompt": (OPTIONS, "prompt_of(Namespace(prompt=None, prompt_file=Path('/dev/zero')))"),
    "schema": (OPTIONS, "grammar_of(Namespace(json_schema=Path('/dev/zero'), regex=None))"),
    "prompts": (
        "from pathlib import Path\nfrom specviz.measure.sweep.prompt_files import read_prompt_file",
        "read_prompt_file(Path('/dev/zero'))",
    ),
    "sweep": (
        "from pathlib import Path\nfrom specviz.measure.sweep.table import SweepFile",
        "SweepFile(Path('/dev/zero'))",
    ),
}


@pytest.mark.parametrize("name", grid(ENDLESS, ("prompt", "schema", "sweep")))
def test_a_file_without_an_end_is_refused(name: str) -> None:
    """Before: a prompt, a schema or a sweep was read until there was no memory left."""
    setup, read = ENDLESS[name]
    found = in_a_child(setup, read, b"")
    assert re.search(r"larger than|more than|too large|no lesson plan yet|not valid", found.said), found.said
    assert found.megabytes < 400


BOMBS = (
    "(" * 900 + "a" + ")*" * 900,
    "(a{1000}){1000}",
    "(.{0,500}x){200}",
    "(" + "|".join(["a*b*c*d*"] * 2_000) + ")*",
)


def test_hostile_expressions_are_checked_in_little_memory() -> None:
    read = "bool(grammar_of(Namespace(json_schema=None, regex=content.decode())))"
    outcomes, megabytes = each_in_a_child(OPTIONS, read, [regex.encode() for regex in BOMBS], 60)
    assert len(outcomes) == len(BOMBS), outcomes
    assert [said for kind, said in outcomes if said != "True" and not said.endswith(".")] == []
    assert megabytes < 400
