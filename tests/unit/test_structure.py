"""The house: imports point one way, and no file or function is too long to read."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# From the bottom to the top. A layer may import itself and what stands before it.
LAYERS = ["core", "data", "models", "decoding", "measure", "game", "player", "service", "ui", "cli"]
FILES = sorted((ROOT / "specviz").rglob("*.py"))
READ = [*FILES, *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
MOST_LINES = 400
MOST_FUNCTION_LINES = 50


def layer(module: str) -> str:
    """The second name of `specviz.layer.module`; empty for the package itself."""
    return [*module.split("."), ""][1]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module of ours that is imported anywhere in the file, types included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("specviz"):
            yield str(node.module)
            for alias in node.names:  # a module may be imported from its package
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("specviz"))


def test_every_folder_is_a_layer() -> None:
    folders = {path.parent.relative_to(ROOT / "specviz").parts[0] for path in FILES if path.parent.name != "specviz"}
    assert folders == {*LAYERS, "training"}


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_imports_point_one_way(file: Path) -> None:
    own = layer(module_of(file))
    if own not in LAYERS:
        return  # the package itself names what the world calls; training stands apart
    found = {layer(module) for module in imports(tree_of(file))} & {*LAYERS, "training"}
    above = {*LAYERS[LAYERS.index(own) + 1 :], "training"}
    if own == "cli":
        above.add("ui")  # neither screen needs the other
    assert found & above == set()


def test_no_module_is_part_of_a_circle() -> None:
    known = {module_of(file).removesuffix(".__init__"): file for file in FILES}
    needs = {
        name: {module for module in imports(tree_of(file)) if module in known} - {name}
        for name, file in known.items()
        if not file.name.startswith("__init__")  # a package only names what is inside it
    }
    while needs:
        free = {name for name, needed in needs.items() if not needed & set(needs)}
        assert free, f"a circle among {sorted(needs)}"
        for name in free:
            del needs[name]


def test_the_app_never_imports_training() -> None:
    assert len(READ) > 100
    for file in READ:
        if "training" not in file.parts:
            assert not any("specviz.training" in module for module in imports(tree_of(file)))


@pytest.mark.parametrize("file", READ, ids=module_of)
def test_a_file_and_its_functions_are_short_enough_to_read(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count("\n") <= MOST_LINES
    long = [
        node.name
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > MOST_FUNCTION_LINES
    ]
    assert long == []
