"""Runs a notebook's cells without Jupyter: each is executed in turn, and the value of its last line is kept."""

import ast
import json
from pathlib import Path
from typing import Any


def values_of(path: Path) -> list[Any]:
    """What each code cell would show: the value of its last line, None where that is no expression."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    return [_value("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def _value(source: str, names: dict[str, Any]) -> Any:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)
