"""The code itself: where imports point, and what is escaped."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
# From the bottom to the top. A layer may import itself and what stands before it.
MODELS = ["core", "data", "systems", "models", "decoding", "measure"]
LAYERS = [*MODELS, "lab", "game", "player", "service", "figures", "ui", "cli"]
FILES = sorted((ROOT / "specviz").rglob("*.py"))
READ = [*FILES, *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def modules_in(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in the file, types included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a module may be in its package
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_imports_point_one_way_and_never_to_what_stands_beside_the_app() -> None:
    assert len(READ) > 100
    for file in READ:
        modules = set(modules_in(tree_of(file)))
        assert not {module.split(".")[0] for module in modules} & {"training", "benchmarks", "scripts"}, file
        own = file.relative_to(ROOT).parts[1] if file in FILES else ""
        if own in LAYERS:  # the package itself names what the world calls
            neither = {"ui"} if own == "cli" else set()  # screen needs the other
            used = {[*module.split("."), ""][1] for module in modules if module.startswith("specviz")}
            assert not used & {*LAYERS[LAYERS.index(own) + 1 :], *neither}, file


MARKDOWN = {"markdown", "caption", "write", "info", "warning", "error", "success", "expander", "toast", "metric"}
MARKDOWN |= {"radio", "segmented_control", "pills", "tabs", "button", "checkbox", "toggle", "slider", "text_input"}
MARKDOWN |= {"text_area", "number_input", "file_uploader", "download_button", "link_button", "popover", "status"}
MARKDOWN |= {"download", "heading", "progress", "header", "subheader", "title", "html", "badge", "spinner"}
FROM_OUTSIDE = {"name", "machine", "prompt", "preset", "text", "workload", "target", "draft", "label", "message"}
FROM_OUTSIDE |= {"problem", "created", "piece", "torch", "transformers", "weights_hash"}
ESCAPES = {"plain", "explained", "escape", "fill"}
OUR_OWN = {  # texts of this project
    "row.label",  # of the table of settings
    "statement.text",  # a sentence about a catalogued pair
    "story_trace(RUN).recorded_on.machine",
}


def unescaped(node: ast.AST) -> Iterator[ast.Attribute]:
    """Values of such names below an expression that are not an argument of a function that escapes."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        inner = [] if name in ESCAPES else [*node.args, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.Attribute) and node.attr in FROM_OUTSIDE:
        yield node
        inner = []
    elif isinstance(node, ast.Compare | ast.Lambda):
        inner = []
    else:
        inner = list(ast.iter_child_nodes(node))
    for each in inner:
        yield from unescaped(each)


def places(source: str) -> Iterator[str]:
    """Each such value in a call that reads Markdown or HTML: of the first argument and the help text."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and (getattr(call.func, "attr", "") or getattr(call.func, "id", "")) in MARKDOWN:
            shown = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("help", "label", "body"))]
            yield from (ast.unparse(found) for each in shown for found in unescaped(each))


def test_no_page_shows_a_text_from_outside_as_markup_and_one_that_does_would_be_found() -> None:
    for file in (ROOT / "specviz/ui").rglob("*.py"):
        assert set(places(file.read_text(encoding="utf-8"))) <= OUR_OWN, file
    code = 'st.markdown(f"**{lap.name}** {plain(lap.name)}")\nst.info(x, help=trace.target.name)\nst.text(lap.name)'
    assert list(places(code)) == ["lap.name", "trace.target.name"]


def test_every_table_that_is_written_marks_formulas() -> None:
    for file in FILES:
        code = file.read_text(encoding="utf-8")
        marks = "specviz.core.csv_cells" in code or file.stem == "csv_cells"
        assert not re.search(r"\.to_csv\(|csv\.(writer|DictWriter)\(", code) or marks, file
