"""The code itself: what comes from files, models and prompts is escaped where a page reads markup, and in every CSV."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UI = sorted((ROOT / "specviz" / "ui").rglob("*.py"))
MARKDOWN = {"markdown", "caption", "write", "info", "warning", "error", "success", "expander", "toast", "metric"}
MARKDOWN |= {"radio", "segmented_control", "pills", "tabs", "button", "checkbox", "toggle", "slider", "text_input"}
MARKDOWN |= {"text_area", "number_input", "file_uploader", "download_button", "link_button", "popover", "status"}
MARKDOWN |= {"progress", "header", "subheader", "title", "html", "badge", "spinner"}
FROM_OUTSIDE = {"name", "machine", "prompt", "preset", "text", "workload", "target", "draft", "label", "message"}
FROM_OUTSIDE |= {"problem", "created", "piece", "torch", "transformers", "weights_hash"}
ESCAPES = {"plain", "explained", "escape", "fill"}
OUR_OWN = {  # texts of this project
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
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in MARKDOWN:
            shown = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("help", "label", "body"))]
            yield from (ast.unparse(found) for each in shown for found in unescaped(each))


@pytest.mark.parametrize("file", UI, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_page_shows_a_text_from_outside_as_markup(file: Path) -> None:
    assert set(places(file.read_text(encoding="utf-8"))) <= OUR_OWN


def test_what_is_looked_for_would_be_found() -> None:
    code = 'st.markdown(f"**{lap.name}** {plain(lap.name)}")\nst.info(x, help=trace.target.name)\nst.text(lap.name)'
    assert list(places(code)) == ["lap.name", "trace.target.name"]


@pytest.mark.parametrize("file", sorted((ROOT / "specviz").rglob("*.py")), ids=lambda file: str(file.relative_to(ROOT)))
def test_every_table_that_is_written_marks_formulas(file: Path) -> None:
    code = file.read_text(encoding="utf-8")
    if re.search(r"\.to_csv\(|csv\.(writer|DictWriter)\(", code):
        assert "specviz.core.csv_cells" in code
