"""The files of sentences: what the program says is in them, nothing else is, and each figure is one that it gives."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from specviz.data.sentences import FOLDER, Sentences, any_of
from specviz.data.texts import read_texts

SPECVIZ = Path(__file__).parents[2] / "specviz"
FIGURES = FOLDER / "figures.yaml"
FILES = sorted({*FOLDER.glob("*.yaml")} - {FIGURES})


def spoken_by() -> dict[str, ast.Module]:
    """The module that says the sentences of each file."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in SPECVIZ.rglob("*.py")]
    calls = [(call, tree) for tree in trees for call in ast.walk(tree) if is_call(call, "Sentences")]
    return {literal: tree for call, tree in calls for literal in texts_in(call.args[0])}


def is_call(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def texts_in(node: ast.AST) -> Iterator[str]:
    yield from (each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str))


def figures_in(text: str) -> set[str]:
    """The names in braces, without what follows a dot."""
    return {name.split(".")[0] for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_file_is_said_by_one_module() -> None:
    assert FILES
    assert {file.stem for file in FILES} == set(spoken_by())


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_module_says_every_sentence_with_the_figures_that_it_names(file: Path) -> None:
    texts = read_texts(file, dict[str, str]).content
    assert {name: figures_in(text) for name, text in texts.items()} == given_in([spoken_by()[file.stem]], "say")


def given_in(trees: list[ast.Module], function: str) -> dict[str, set[str | None]]:
    """The names of the arguments that the calls of this function have, by each text that is its first one."""
    given: dict[str, set[str | None]] = {}
    for call in (node for tree in trees for node in ast.walk(tree)):
        if is_call(call, function) and isinstance(call, ast.Call):
            for name in texts_in(call.args[0]):
                given.setdefault(name, set()).update(keyword.arg for keyword in call.keywords)
    return given


def test_every_figure_is_written_from_what_the_lessons_give() -> None:
    parts = read_texts(FIGURES, dict[str, dict[str, str]]).content
    lessons = [ast.parse((SPECVIZ / f"data/lessons/{name}.py").read_text()) for name in ("facts", "answers")]
    assert {name: set().union(*map(figures_in, texts.values())) for name, texts in parts.items()} == given_in(
        lessons, "written"
    )


def test_shares_and_words_for_several_are_written_as_a_reader_expects(tmp_path: Path) -> None:
    say = Sentences("none")
    say._file = tmp_path / "some.yaml"
    say._file.write_text("few: '{share!p} of {count} {count:prompt|prompts}, {times:.2f}×'\n", encoding="utf-8")
    assert say("few", share=0.456, count=1, times=1.5) == "46 % of 1 prompt, 1.50×"
    assert say("few", share=1, count=2, times=2) == "100 % of 2 prompts, 2.00×"
    assert [any_of([2]), any_of([2, 3]), any_of([2, 3, 4])] == ["2", "2 or 3", "2, 3 or 4"]
