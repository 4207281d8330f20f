"""What pages say: every text is used, every text that a page asks for is there, and its braces are names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.data.page_texts import PAGES_FILE, PageTexts
from specviz.data.texts import figures_in, read_texts

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "specviz" / "ui").rglob("*.py"))
PARTS = read_texts(PAGES_FILE, PageTexts).content
CODE = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


def asked_for() -> Iterator[tuple[str, str]]:
    """The parts and the names that the code has as constants; a name that is put together is a pattern."""
    for tree in CODE.values():
        says = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "SAYS"]
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SAYS":
                yield ast.literal_eval(says[0].value.args[0]), pattern(node.slice)  # type: ignore[attr-defined]


def pattern(name: ast.expr) -> str:
    if isinstance(name, ast.Constant):
        return re.escape(str(name.value))
    if isinstance(name, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in name.values)
    return ".+"


def test_each_text_that_a_page_asks_for_is_there_and_each_text_is_asked_for() -> None:
    asked = set(asked_for())
    assert len(asked) > 90
    for part, name in asked:
        assert any(re.fullmatch(name, known) for known in PARTS[part]), f"no text {name} in {part}"
    of_leads = {"heading", "lead"}
    for part in {part for part, _ in asked}:
        for known in PARTS[part].keys() - of_leads:
            assert any(re.fullmatch(name, known) for where, name in asked if where == part), f"unused: {known}"


def test_each_figure_and_table_says_what_it_shows_under_its_own_name() -> None:
    calls = [node for tree in CODE.values() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    drawn = [call for call in calls if ast.unparse(call.func) in ("chart", "data_table", "plot.chart")]
    own = [call for call in drawn if len(call.args) > 2 or any(each.arg == "alt" for each in call.keywords)]
    named = [call.args[1] for call in drawn if call not in own]
    keys = {name.value for name in named if isinstance(name, ast.Constant)}
    for call in calls:
        if ast.unparse(call.func) in ("two_charts", "plot.two_charts"):
            pairs = [each.elts[1] for each in call.args if isinstance(each, ast.Tuple)]
            keys |= {name.value for name in pairs if isinstance(name, ast.Constant)}
    assert len(keys) > 25
    assert keys == set(PARTS["shown"])


@pytest.mark.parametrize("part", PARTS)
def test_what_a_text_has_in_braces_is_a_name_or_an_example(part: str) -> None:
    examples = {("helps", "file_help"), ("worksheet", "paste")}  # shown as they are
    for name, text in PARTS[part].items():
        if (part, name) not in examples:
            assert all(each.isidentifier() or not each for each in figures_in(text)), name
