"""The code itself: what is escaped."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "specviz").rglob("*.py"))
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
