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


@dataclass(frozen=True, slots=True)
class Budget:
    """A row of the table: what a door may cost."""

    largest: str
    megabytes: int  # that a process may grow
    seconds: int  # of a processor
    test: str


@cache
def budgets() -> dict[str, Budget]:
    """The rows of the table, by their first cells."""
    text = (ROOT / "docs" / "security.md").read_text(encoding="utf-8").partition(HEADING)[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: Budget(row[1], int(row[2]), int(row[3]), row[4].strip("`")) for row in cells}


# ---- in the code

WIDGETS = {"file_uploader", "text_area", "text_input", "chat_input", "camera_input", "audio_input", "data_editor"}
CONTEXT = {"query_params", "cookies"}  # of Streamlit: what a browser says with its address and its headers
READS = re.compile(r"\b(?:json\.loads|yaml\.compose|csv\.reader|outside|reader|values_in|content_of|text_of)\(")
COMPONENT = re.compile(r"on_\w+_change")


def doors_in_code() -> set[str]:
    """Each as the file, what it is, and its name there."""
    return {f"{_name(file)}: {door}" for file in FILES for door in _doors(ast.parse(file.read_text(encoding="utf-8")))}


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix().removeprefix("specviz/")


def _doors(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in CONTEXT:
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and COMPONENT.fullmatch(node.value):
            yield node.value
        elif isinstance(node, ast.Call):
            yield from _doors_of_a_call(node)


def _doors_of_a_call(call: ast.Call) -> Iterator[str]:
    function = ast.unparse(call.func)
    last = function.rpartition(".")[2]
    named = {word.arg: word.value for word in call.keywords if word.arg}
    if last in WIDGETS:
        yield f"{last} {_key(call)}"
    if "accept_new_options" in named:
        yield f"a name that is typed, {_key(call)}"
    yield from (name for name in named if COMPONENT.fullmatch(name))
    if function == "keep":
        yield f"keep {ast.literal_eval(call.args[0])}"
    if function.startswith("classes()."):
        yield f"class action {last}"
    if READS.fullmatch(f"{function}("):
        yield "reads"
    if function == "Middleware":
        yield f"middleware {ast.unparse(call.args[0])}"
    if last == "add_argument" and "type" in named and ast.unparse(named["type"]) == "Path":
        yield f"file {ast.literal_eval(call.args[-1])}"
    if function == "Path" and "options" in ast.unparse(call):
        yield f"file {ast.unparse(call.args[0])}"


def _key(call: ast.Call) -> str:
    """What the widget is called: its key, or the first text in what makes it."""
    for word in call.keywords:
        if word.arg == "key" or (word.arg is None and "with_" in ast.unparse(word.value)):
            texts = [each for each in ast.walk(word.value) if isinstance(each, ast.Constant | ast.Name)]
            return next(
                (str(each.value if isinstance(each, ast.Constant) else each.id) for each in texts[::-1]), "unknown"
            )
    return "chosen"
