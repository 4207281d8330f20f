"""The code itself: where imports point, how long files are, where state lives, what is escaped, shared types."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scripts.write_payload_types import FILE, _typescript, payload_types
from specviz.ui.session import Session

ROOT = Path(__file__).parents[2]
# From the bottom to the top. A layer may import itself and what stands before it.
LAYERS = ["core", "data", "systems", "models", "decoding", "measure", "lab", "game", "player", "service", "ui", "cli"]
FILES = sorted((ROOT / "specviz").rglob("*.py"))
READ = [*FILES, *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
MOST_LINES, MOST_FUNCTION_LINES = 600, 60
NO_VERBS = re.compile(
    "_*(a|again|and|as|ask|by|hold|if|in|no|not|of|over|put|said|say|says|so|take|that|when|who|whose|why|with)(_|$)"
)


def layer(module: str) -> str:
    """The second name of `specviz.layer.module`; empty for the package itself."""
    return [*module.split("."), ""][1]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def module_of(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def modules_in(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere in the file, types included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)  # a module may be in its package
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def imports(tree: ast.AST) -> set[str]:
    """Those of ours."""
    return {name for name in modules_in(tree) if name.startswith("specviz")}


def test_every_layer_has_its_place_and_a_pages_state_draws_nothing() -> None:
    folders = {path.parent.relative_to(ROOT / "specviz").parts[0] for path in FILES if path.parent.name != "specviz"}
    assert folders == set(LAYERS)
    assert STATES
    for file in STATES:
        assert not {*modules_in(tree_of(file))} & {"streamlit", "specviz.ui.session"}, file


def test_no_class_or_type_has_the_name_of_another() -> None:
    names = Counter(node.name for file in FILES for node in ast.walk(tree_of(file)) if isinstance(node, ast.ClassDef))
    for file in FILES:
        names.update(aliases_in(tree_of(file)))
    assert len(names) > 500
    assert [name for name, count in names.items() if count > 1] == []


def functions_in(tree: ast.AST) -> Iterator[str]:
    """Names of functions and methods, but for properties: these are nouns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "property" not in decorators(node):
            yield node.name


def decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    return {word for each in function.decorator_list for word in re.split(r"\W|_", ast.unparse(each))}


def test_the_name_of_a_function_says_what_it_does() -> None:
    names = [name for file in FILES for name in functions_in(tree_of(file))]
    assert len(names) > 1500
    assert [name for name in names if NO_VERBS.match(name)] == []


def aliases_in(tree: ast.Module) -> Iterator[str]:
    """Names of types that a module defines at its top, but for type variables, which are local to what uses them."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name[0].isupper() and not name.isupper() and "TypeVar(" not in ast.unparse(node.value):
                yield name


def test_imports_point_one_way_and_never_to_what_stands_beside_the_app() -> None:
    assert len(READ) > 100
    for file in READ:
        roots = {module.split(".")[0] for module in modules_in(tree_of(file))}
        assert not roots & {"training", "benchmarks", "scripts"}, file
    for file in FILES:
        own = layer(module_of(file))
        if own in LAYERS:  # the package itself names what the world calls
            above = {*LAYERS[LAYERS.index(own) + 1 :], "ui" if own == "cli" else ""}  # neither screen needs the other
            assert not {layer(module) for module in imports(tree_of(file))} & (above - {""}), file


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


def test_a_file_and_its_functions_are_short_enough_to_read() -> None:
    for file in READ:
        assert file.read_text(encoding="utf-8").count("\n") <= MOST_LINES, file
        functions = [node for node in ast.walk(tree_of(file)) if isinstance(node, ast.FunctionDef)]
        long = {node.name for node in functions if (node.end_lineno or 0) - node.lineno >= MOST_FUNCTION_LINES}
        assert not long, file


UI_FOLDER = ROOT / "specviz" / "ui"
STATES = sorted(UI_FOLDER.glob("*/*_state.py"))
# These set widgets by their keys, or store something before there is a session.
MAY_STORE = {"session.py", "shared/persistent_widgets.py", "shared/run_controls.py", "shared/theme.py"}
STORES = re.compile(r"session_state(\.setdefault|\.update|\.[a-z_]+ = |\[[^\]]+\] = )|in st\.session_state:")


def test_nothing_is_stored_beside_the_session_and_visitors_share_nothing() -> None:
    files = [file for file in UI_FOLDER.rglob("*.py") if file.relative_to(UI_FOLDER).as_posix() not in MAY_STORE]
    assert len(files) > 30
    assert [(file, match[0]) for file in files for match in STORES.finditer(file.read_text())] == []
    one, other = Session(), Session()
    one.watch.form.came.notes.append("a note")
    one.when_it_helps.rows["measured here"] = []
    assert other.watch.form.came.notes == []
    assert other.when_it_helps.rows == {}


def test_every_button_acts_in_a_callback() -> None:
    """What a button returns is lost where its script begins again before it comes to the button."""
    calls = [node for file in READ for node in ast.walk(tree_of(file)) if isinstance(node, ast.Call)]
    buttons = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("button")]
    assert len(buttons) > 15
    alone = {id(node.value) for file in READ for node in ast.walk(tree_of(file)) if isinstance(node, ast.Expr)}
    assert [ast.unparse(call) for call in buttons if id(call) not in alone] == []


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
    for file in UI_FOLDER.rglob("*.py"):
        assert set(places(file.read_text(encoding="utf-8"))) <= OUR_OWN, file
    code = 'st.markdown(f"**{lap.name}** {plain(lap.name)}")\nst.info(x, help=trace.target.name)\nst.text(lap.name)'
    assert list(places(code)) == ["lap.name", "trace.target.name"]


def test_every_table_that_is_written_marks_formulas() -> None:
    for file in FILES:
        code = file.read_text(encoding="utf-8")
        writes = re.search(r"\.to_csv\(|csv\.(writer|DictWriter)\(", code)
        assert not writes or "csv_of" in code or "csv_cells" in code, file


def test_the_javascript_types_are_those_the_script_writes() -> None:
    assert FILE.read_text(encoding="utf-8") == payload_types(), "run python scripts/write_payload_types.py"


@pytest.mark.parametrize("kind", [Any, dict[str, Any], list[object], bytes, dict[bytes, str], tuple[object, ...]])
def test_a_type_that_is_not_precise_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="no type in a payload"):
        _typescript(kind)
