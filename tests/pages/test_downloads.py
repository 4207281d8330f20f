"""Every file that a page saves is opened and read: what its button was given is what its name promises."""

import ast
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import streamlit
from syrupy.assertion import SnapshotAssertion

from specviz.core.trace import parse_trace
from specviz.data.lessons.plans import all_plans
from specviz.data.measured.first_run import first_trace
from specviz.game.game import GamePlan
from specviz.measure.endpoints.result import dump_result
from specviz.service.classes.room import shared_rounds
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.classes import membership
from specviz.ui.classes.membership import ClassState
from specviz.ui.session import Session
from specviz.ui.when_it_helps.your_server import YourServer
from tests.support.app_pages import opened, opened_in_app
from tests.support.bench_results import make_bench
from tests.support.fake_turns import a_turn
from tests.support.known import known
from tests.support.seen import short
from tests.unit.test_tried import REQUEST, watching_of

UI = Path(__file__).parents[2] / "specviz" / "ui"
ROWS = 8  # of a table
LONG = re.compile(r"\d+\.\d{5,}")  # a sum, whose last digits are not the same in every Python
PLAN = all_plans()[0].name


def watch() -> None:
    watching = watching_of(REQUEST)
    watching.listed = True
    opened(view="full", session=Session().put(watching))


def ended_game() -> None:
    state = BeTheDraftState(GamePlan(seed=7), name="=Ada")
    state.games[0] += [a_turn([" a", " b", " c"], 2, model=3), a_turn([" =d", " e"], 0, model=1, lookup=1)]
    state.place = len(state.games)
    opened("pages/be_the_draft.py", Session().put(state), seed="7")


def own_bench() -> None:
    session = Session()
    session.of(YourServer).open(dump_result(make_bench({1: 1.5})).encode(), "bench.json")
    opened("pages/when_it_helps.py", session, part="server")


def board() -> None:
    classes, plan = membership.classes(), GamePlan(seed=7)
    teacher = classes.open("", plan)
    student = classes.join(known(classes.look(teacher)).code, "=Ada")
    classes.send_rounds(student, plan, shared_rounds(plan, [[a_turn([" Lily", " ran"], 1, model=2)]]))
    classes.send_answers(student, {0: 1, 2: 0})
    opened("pages/class.py", Session().put(ClassState(teacher=teacher)))


LESSON = [f"specviz-{PLAN}-{what}.html" for what in ("sheet", "key", "lesson")]
PAGES: dict[str, tuple[Callable[[], object], list[str]]] = {
    "watch": (watch, ["specviz-tried.csv", "specviz-trace.json", "specviz-run.html"]),
    "worksheet": (lambda: opened("pages/worksheet.py"), ["specviz-sheet.html", "specviz-answer-key.html"]),
    "the end of a game": (ended_game, ["be-the-draft-story-7.csv"]),
    "a sweep": (lambda: opened("pages/when_it_helps.py"), ["specviz-sweep.csv"]),
    "a bench": (own_bench, ["specviz-bench.csv"]),
    "a class": (board, ["class-rounds.csv", "class-quiz.csv"]),
    "a race": (lambda: opened("pages/race.py"), ["specviz-race.csv", "specviz-race.json", "specviz-story-1.html"]),
    "a lesson": (lambda: opened_in_app("learn", part="teach"), [*LESSON, f"{PLAN}.yaml"]),
}


def rendered(name: str, content: str) -> str:
    """What a reader of the file finds in it: rows, texts, and of a run how it begins."""
    if name.endswith(".html"):
        shown = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", content, flags=re.DOTALL)
        return unescape("\n".join(filter(None, map(str.strip, re.split(r"(?:<[^>]*>\s*)+", shown)))))
    if name.endswith(".json"):
        return str(short(json.loads(content)))
    return LONG.sub(lambda found: f"{float(found[0]):.4g}", "\n".join(content.splitlines()[:ROWS]))


@pytest.mark.parametrize("name", PAGES)
def test_a_saved_file_holds_what_its_name_promises(
    name: str, snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: an answer key that students got, a list of no run and a game without rounds changed no test."""
    offered: dict[str, Any] = {}
    monkeypatch.setattr(streamlit, "download_button", lambda _, data, name, *__, **___: offered.update({name: data}))
    draw, files = PAGES[name]
    draw()
    assert {*files} <= offered.keys(), offered.keys()
    for file in files:
        made = offered[file]() if callable(offered[file]) else offered[file]
        content = made.decode() if isinstance(made, bytes) else made
        assert rendered(file, content) == snapshot(name=file)
        if file == "specviz-trace.json":
            assert parse_trace(content) == first_trace()


def test_every_download_has_a_row_here() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in UI.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    places = [call for call in calls if ast.unparse(call.func) in ("download", "parts.download")]
    assert len(places) == 13, "a new one needs a row"
