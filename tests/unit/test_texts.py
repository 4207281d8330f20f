"""The texts as files, the glossary and the tour: what the check finds, what uses them, that they say what runs show."""

import ast
import re
import shutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import get_args

from scripts.check_texts import CHECKS, text_problems
from specviz.core.files import TEXTS
from specviz.core.texts import Sentences, figures_in
from specviz.data.lessons.facts import figure_texts
from specviz.data.lessons.story import tour_of
from specviz.data.measured.first_run import first_trace
from specviz.data.texts import pages
from specviz.measure.endpoints.findings import Doubt
from specviz.measure.endpoints.pairs import Cut
from specviz.player.data import stage_data
from specviz.ui.watch.on_stage import move_tour
from specviz.ui.watch.watch_state import WatchState
from tests.unit.test_structure import FILES, ROOT


def test_nothing_is_wrong_with_the_texts_and_each_file_is_checked(tmp_path: Path) -> None:
    assert text_problems() == []
    folder = Path(shutil.copytree(TEXTS, tmp_path / "texts"))
    files = [*folder.glob("*.yaml"), *folder.glob("sentences/*.yaml")]  # tables and lesson plans are read elsewhere
    assert len(files) > len(CHECKS)
    for file in files:
        file.write_text("")
    assert sorted(text_problems(folder)) == sorted(f"{file.name} is empty." for file in files)


@cache
def code() -> dict[str, ast.Module]:
    return {file.relative_to(ROOT).as_posix(): ast.parse(file.read_text(encoding="utf-8")) for file in FILES}


@cache
def calls_in(tree: ast.Module) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def given_by(function: str, trees: Iterable[ast.Module]) -> dict[str, set[str | None]]:
    """The names of the arguments that the calls of this function have, by each text in its first one."""
    given: dict[str, set[str | None]] = {}
    for call in chain.from_iterable(map(calls_in, trees)):
        name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
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
            named: dict[str, set[str | None]] = {key: {"loads"} for key in get_args(Doubt)}
            given |= named | {cut: {"pairs"} for cut in get_args(Cut) if cut}
        assert wanted == given, name
    lessons = [code()[f"specviz/data/lessons/{name}.py"] for name in ("facts", "questions")]
    parts = {name: named_in(*texts.values()) for name, texts in figure_texts().items()}
    assert parts == given_by("written", lessons)


def pattern(name: ast.expr) -> str:
    """What a name can be: one that is put together has any text in its holes."""
    parts = name.values if isinstance(name, ast.JoinedStr) else [name]
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)


def test_each_text_that_a_page_asks_for_is_there() -> None:
    asked = 0
    for tree in code().values():
        says = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and ast.unparse(node.targets) == "SAYS"]
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "SAYS":
                part, name, asked = ast.literal_eval(says[0].value.args[0]), pattern(node.slice), asked + 1
                assert any(re.fullmatch(name, text) for text in pages()[part]), f"no text {name} in {part}"
    assert asked > 90


def test_a_place_in_the_tour_is_remembered_and_a_wrong_one_is_not() -> None:
    watching = WatchState()
    place = watching.tour
    # the end is a place too: its card is on screen until the visitor closes it
    for begin, moved, closed in ((1, 3, 3), (3, 7, 0)):
        place.begin(begin)
        for to, found in ((moved, (moved, True, False)), (0, (closed, False, True))):
            watching.redraw = False
            move_tour(watching, to)
            assert (place.at, place.open, watching.redraw) == found
    assert place.started == 2


def test_a_run_that_does_not_show_it_has_no_tour_and_none_is_sent_unasked() -> None:
    trace = first_trace()
    assert tour_of(trace)
    assert tour_of(replace(trace, rounds=trace.rounds[:4])) is tour_of(replace(trace, rounds=trace.rounds[5:6])) is None
    assert "tour" not in stage_data(trace, run_id="first", source="recorded", running=False)
