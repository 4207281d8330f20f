"""Each way into the program keeps to its row in docs/security.md, in a process of its own with `resource` limits.

It is given the largest that it takes and every harmful file or text, one after the other. A refusal is a sentence. The
limit of memory is the row's; that of a processor's time is far above what a slow machine needs.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from specviz.ui.shared import below_streamlit as below
from specviz.ui.shared import guard
from specviz.ui.shared.guard import SAYS
from tests.support.app_pages import opened
from tests.support.doors import DOORS, OTHERS
from tests.support.grids import grid

QUICK = ("a trace", "a sweep as CSV")


def read_each(name: str) -> list[list[str]]:
    """Of each part "read" or "refused", and what is said of it. The process grows no more than it may."""
    door = (DOORS | OTHERS)[name]
    packed = b"".join(len(part).to_bytes(4, "big") + part for part in [door.first(), *door.others()])
    command = [sys.executable, "-m", "tests.support.doors", name]
    done = subprocess.run(command, input=packed, capture_output=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr.decode()[-300:] or f"ended by {done.returncode}"
    outcomes, megabytes = json.loads(done.stdout)
    assert megabytes < door.megabytes
    return outcomes


@pytest.mark.parametrize("name", grid([name for name in DOORS if not DOORS[name].test], QUICK))
def test_a_door_keeps_its_budget(name: str) -> None:
    outcomes = read_each(name)
    kind, said = outcomes[0]
    assert kind == "read", said
    assert re.fullmatch(DOORS[name].says, said, re.DOTALL), said
    for kind, said in outcomes:
        assert kind == "read" or re.search(r"[.?…]$", said.strip()), said
        assert "Traceback" not in said


def test_a_file_without_an_end_is_refused() -> None:
    """Before: a prompt, a schema or a sweep was read until there was no memory left."""
    for kind, said in read_each("a file without an end"):
        assert kind == "refused"
        assert re.search(r"larger than|more than|too large|no lesson plan yet|not valid", said), said


def test_hostile_expressions_are_checked_in_little_memory() -> None:
    assert [said for _, said in read_each("an expression") if said != "True" and not said.endswith(".")] == []


def test_the_page_says_why_a_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before: beside the uploader stood "Request failed with status code 413", and no reason."""
    session = Mock()
    monkeypatch.setattr(below, "session_called", lambda name: session if name in ("ada", below.session_id()) else None)
    guard.tell_page("ada", "full_server")
    session.request_rerun.assert_called_once()
    page = opened()
    assert [toast.value for toast in page.toast] == [SAYS["full_server"]]
    assert not page.run().toast, "once"
