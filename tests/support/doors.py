"""Every way into the program: the table of docs/security.md, and what the code has."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "specviz").rglob("*.py")), *sorted((ROOT / "pages").glob("*.py")), ROOT / "app.py"]
FILES += [ROOT / "serve.py", *sorted((ROOT / "cloud").glob("*.py"))]
HEADING = "## Every way in"
SECONDS = 300  # of a processor


@dataclass(frozen=True, slots=True)
class Budget:
    """A row of the table: what a door may cost."""

    largest: str
    megabytes: int  # that a process may grow
    test: str  # empty: that of all


@cache
def budgets() -> dict[str, Budget]:
    """The rows of the table, by their first cells."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition(HEADING)[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: Budget(row[1], int(row[2]), "".join(row[3:]).strip("`")) for row in cells}


# ---- in the code

WIDGETS = {"file_uploader", "text_area", "text_input", "chat_input", "camera_input", "audio_input", "data_editor"}
CONTEXT = {"query_params", "cookies"}  # of Streamlit: what a browser says with its address and its headers
Assigned = ast.Assign | ast.AnnAssign
READS = re.compile(
    r"\b(?:json\.loads|yaml\.compose|csv\.reader|outside|reader|values_in|content_of|text_of|find_values)\("
)
COMPONENT = re.compile(r"on_\w+_change")


def doors_in_code() -> set[str]:
    """Each as the file, what it is, and its name there."""
    return {f"{_name(file)}: {door}" for file in FILES for door in _doors(ast.parse(file.read_text(encoding="utf-8")))}


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix().removeprefix("specviz/")


def _doors(tree: ast.Module) -> Iterator[str]:
    options = [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CONTEXT:
            yield node.attr
        elif (
            isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("classes()") and node.attr != "limits"
        ):
            yield f"class action {node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and COMPONENT.fullmatch(node.value):
            yield node.value
        elif isinstance(node, ast.Subscript) and re.match(r"Annotated\[(tuple\[)?Path", ast.unparse(node)):
            yield f"file {_option(node)}"
        elif isinstance(node, ast.Call):
            yield from _doors_of_a_call(node, options)


def _doors_of_a_call(call: ast.Call, options: list[Assigned]) -> Iterator[str]:
    function = ast.unparse(call.func)
    last = function.rpartition(".")[2]
    named = {word.arg: word.value for word in call.keywords if word.arg}
    if last in WIDGETS:
        yield f"{last} {_key(call, options)}"
    if "accept_new_options" in named:
        yield f"a name that is typed, {_key(call, options)}"
    yield from (name for name in named if COMPONENT.fullmatch(name))
    if function == "keep":
        yield f"keep {ast.literal_eval(call.args[0])}"
    if READS.fullmatch(f"{function}("):
        yield "reads"
    if function == "instead":
        yield f"guards {ast.unparse(call.args[0])}.{ast.literal_eval(call.args[1])}"
    if function == "Middleware":
        yield f"middleware {ast.unparse(call.args[0])}"
    if function == "Path" and "options" in ast.unparse(call):
        yield f"file {ast.unparse(call.args[0])}"


def _option(annotated: ast.Subscript) -> str:
    """The first word that an option or an argument is called by."""
    [call] = [node for node in ast.walk(annotated) if isinstance(node, ast.Call)]
    named = {word.arg: word.value for word in call.keywords}
    return ast.literal_eval(call.args[0] if call.args else named["metavar"])


def _key(call: ast.Call, options: list[Assigned]) -> str:
    """What the widget is called: its key, or the first text in what makes it."""
    for word in call.keywords:
        value = word.value
        if word.arg is None and (given := _given(ast.unparse(value), call, options)):
            value = given
        elif word.arg != "key" and not (word.arg is None and "bind_" in ast.unparse(value)):
            continue
        texts = [each for each in ast.walk(value) if isinstance(each, ast.Constant | ast.Name)]
        return next((str(each.value if isinstance(each, ast.Constant) else each.id) for each in texts[::-1]), "unknown")
    return "chosen"


def _given(name: str, call: ast.Call, options: list[Assigned]) -> ast.expr | None:
    """The key among the options of this name that were last written above the call."""
    above = [each for each in options if each.lineno <= call.lineno and name == _target(each)]
    written = max(above, key=lambda each: each.lineno).value if above else None
    if isinstance(written, ast.BinOp) and isinstance(written.left, ast.Call):  # bind_value("its key") | {...}
        return written.left.args[0]
    if not isinstance(written, ast.Dict):
        return None
    named = {ast.literal_eval(key): value for key, value in zip(written.keys, written.values, strict=True) if key}
    return named.get("key")


def _target(assigned: Assigned) -> str:
    return ast.unparse(assigned.target if isinstance(assigned, ast.AnnAssign) else assigned.targets[-1])
