"""Where a visitor's state lives: in one typed object, in modules that need no Streamlit."""

import ast
import dataclasses
import re
from pathlib import Path

import pytest

from specviz.ui.session import Session

UI = Path(__file__).parents[2] / "specviz" / "ui"
STATES = sorted(UI.glob("*/state.py"))
# These set widgets by their keys, or store something before there is a session.
MAY_STORE = {
    "session.py",
    "shared/persistent_widgets.py",
    "shared/run_controls.py",
    "shared/theme.py",
}
STORES = re.compile(r"session_state(\.setdefault|\.update|\.[a-z_]+ = |\[[^\]]+\] = )|in st\.session_state:")


def imports(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    modules = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return modules | {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}


def test_every_page_has_a_part_of_the_session() -> None:
    assert len(STATES) == 8
    all_pages = {"view", "chosen_view", "left_view", "hidden", "walk", "own_plans", "plan_problems", "notes"}
    parts = [field.name for field in dataclasses.fields(Session) if field.name not in all_pages]
    modules = {type(getattr(Session(), name)).__module__ for name in parts}
    assert modules == {f"specviz.ui.{file.parent.name}.state" for file in STATES}


@pytest.mark.parametrize("file", STATES, ids=lambda file: file.parent.name)
def test_a_pages_state_needs_neither_streamlit_nor_the_session(file: Path) -> None:
    assert not imports(file) & {"streamlit", "specviz.ui.session"}


def test_no_page_stores_anything_beside_the_session() -> None:
    files = [file for file in UI.rglob("*.py") if file.relative_to(UI).as_posix() not in MAY_STORE]
    assert len(files) > 30
    found = [f"{file.relative_to(UI)}: {match[0]}" for file in files for match in STORES.finditer(file.read_text())]
    assert found == []


def test_two_visitors_share_nothing() -> None:
    one, other = Session(), Session()
    one.watch.form.notes.append("a note")
    one.sweeps.rows["measured here"] = []
    assert other.watch.form.notes == []
    assert other.sweeps.rows == {}
