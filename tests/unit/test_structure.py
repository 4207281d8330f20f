"""The code itself: what is escaped, and that each text it says is there, with the figures that the text names."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import get_args

from specviz.core.files import TEXTS
from specviz.core.texts import Sentences, figures_in
from specviz.data.lessons.facts import figure_texts
from specviz.data.texts import pages
from specviz.measure.endpoints.findings import Doubt
from specviz.measure.endpoints.pairs import Cut

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


@cache
def code() -> dict[str, ast.Module]:
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


@cache
def calls_in(tree: ast.Module) -> list[tuple[str, ast.Call]]:
    """With the last part of the function's name."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(getattr(each.func, "id", "") or getattr(each.func, "attr", ""), each) for each in calls]


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


def places(tree: ast.Module) -> Iterator[str]:
    """Each such value in a call that reads Markdown or HTML: of the first argument and the help text."""
    for name, call in calls_in(tree):
        if name in MARKDOWN:
            shown = [*call.args[:1], *(each.value for each in call.keywords if each.arg in ("help", "label", "body"))]
            yield from (ast.unparse(found) for each in shown for found in unescaped(each))


def test_no_page_shows_a_text_from_outside_as_markup_and_one_that_does_would_be_found() -> None:
    for path, tree in code().items():
        assert not path.startswith("specviz/ui/") or set(places(tree)) <= OUR_OWN, path
    made = 'st.markdown(f"**{lap.name}** {plain(lap.name)}")\nst.info(x, help=trace.target.name)\nst.text(lap.name)'
    assert list(places(ast.parse(made))) == ["lap.name", "trace.target.name"]


def test_every_table_that_is_written_marks_formulas() -> None:
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        marks = "specviz.core.csv_cells" in text or file.stem == "csv_cells"
        assert not re.search(r"\.to_csv\(|csv\.(writer|DictWriter)\(", text) or marks, file


# ---- texts


def given_by(function: str, trees: Iterable[ast.Module]) -> dict[str, set[str | None]]:
    """The names of the arguments that the calls of this function have, by each text in its first one."""
    given: dict[str, set[str | None]] = {}
    for name, call in chain.from_iterable(map(calls_in, trees)):
        if name == function and ast.unparse(call.func) in (name, f"plot.{name}", f"parts.{name}"):
            for each in ast.walk(call.args[0]):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    given.setdefault(each.value, set()).update(keyword.arg for keyword in call.keywords)
    return given


def named_in(*texts: str) -> set[str]:
    """The names in braces, without what follows a dot."""
    return {name.split(".")[0] for text in texts for name in figures_in(text)}


# some modules use two of them
OWN_NAMES = {
    "advice": "say_advice", "bench-next": "say_next", "bench-warnings": "say_doubt", "counters": "say_count",
    "own_rule": "say_rule", "records": "say_record", "result": "say_result", "sweep_files": "say_file",
}  # fmt: skip


def test_modules_say_every_sentence_of_their_file_with_the_figures_that_it_names() -> None:
    said: dict[str, list[ast.Module]] = {}
    for tree in code().values():
        for name in given_by("Sentences", [tree]):
            said.setdefault(name, []).append(tree)
    assert {file.stem for file in (TEXTS / "sentences").iterdir()} | {"result"} == set(said)
    for name, trees in said.items():
        texts = Sentences(name, "browser" if name == "result" else "sentences").texts()
        wanted = {key: named_in(text) for key, text in texts.items()}
        function = OWN_NAMES.get(name)
        given = given_by(function, code().values()) if function else given_by("say", trees)
        if name == "bench-warnings":  # the word for a doubt, and for how answers were cut, is the text's name
            given |= {key: {"loads"} for key in get_args(Doubt)} | {cut: {"pairs"} for cut in get_args(Cut) if cut}
        if name == "result":  # the browser says the others
            wanted = {key: named for key, named in wanted.items() if key in given}
        assert wanted == given, name
    lessons = [code()[f"specviz/data/lessons/{name}.py"] for name in ("facts", "questions")]
    parts = {name: named_in(*texts.values()) for name, texts in figure_texts().items()}
    assert parts == given_by("written", lessons)


def test_each_text_that_a_page_asks_for_is_there() -> None:
    asked = 0
    for tree in code().values():
        says = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "SAYS"]
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SAYS":
                part, name, asked = ast.literal_eval(says[0].value.args[0]), pattern(node.slice), asked + 1
                assert any(re.fullmatch(name, text) for text in pages()[part]), f"no text {name} in {part}"
    assert asked > 90


def pattern(name: ast.expr) -> str:
    """What a name can be: one that is put together has any text in its holes."""
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)
