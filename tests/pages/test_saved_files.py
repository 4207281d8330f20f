"""Every file that a page saves is opened and read: what its button was given is what its name promises."""

import ast
import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from specviz.core.trace import parse_trace
from specviz.data.lessons.plans import all_plans, parse_plan
from specviz.data.measured.first_run import first_trace
from specviz.game.game import GamePlan
from specviz.measure.endpoints.result import dump_result
from specviz.measure.sweep.table import read_frame
from specviz.measure.worksheet.exercises import exercises
from specviz.ui.be_the_draft.turns import BeTheDraftState
from specviz.ui.session import Session
from specviz.ui.when_it_helps.sweeps import WhenItHelpsState
from tests.support.app_pages import opened, opened_in_app
from tests.support.bench_results import make_bench
from tests.support.fake_turns import a_turn
from tests.support.known import known
from tests.unit.test_tried import REQUEST, watching_of

UI = Path(__file__).parents[2] / "specviz" / "ui"


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def watch() -> AppTest:
    watching = watching_of(REQUEST)
    watching.listed = True
    return opened(view="full", session=Session().put(watching))


def has_the_runs(text: str) -> None:
    runs = table(text)
    assert [run["run"] for run in runs] == ["0, recorded", "1"]
    assert runs[1]["prompt"] == REQUEST.prompt


def is_the_run(text: str) -> None:
    assert parse_trace(text) == first_trace()


def plays_the_run(text: str) -> None:
    assert known(first_trace()).output.text.strip()[:20] in text
    assert '"rounds":' in text


def worksheet() -> AppTest:
    return opened("pages/worksheet.py", Session())


def asks(text: str) -> None:
    found = exercises(known(first_trace()))
    assert text.count("<li><p>") == len(found) > 3
    assert "class=answer" not in text, "students get no answers"


def answers(text: str) -> None:
    assert text.count("class=answer") == len(exercises(known(first_trace())))


def ended_game() -> AppTest:
    state = BeTheDraftState(GamePlan(seed=7))
    state.games[0] += [a_turn([" a", " b"], 1), a_turn([" =c"], 0)]
    state.place = len(state.games)
    return opened("pages/be_the_draft.py", Session().put(state), seed="7")


def has_the_rounds(text: str) -> None:
    rounds = table(text)
    assert [(each["round"], each["you_drafted"], each["you_accepted"]) for each in rounds] == [
        ("1", "2", "1"),
        ("2", "1", "0"),
    ]


def own_bench() -> AppTest:
    session = Session()
    session.of(WhenItHelpsState).your_server.open(dump_result(make_bench({1: 1.5})).encode(), "bench.json")
    return opened("pages/when_it_helps.py", session, part="server")


def lesson() -> AppTest:
    return opened_in_app("learn", part="teach")


PLAN = all_plans()[0]


def has_no_notes(text: str) -> None:
    assert PLAN.moments[0].question[:20] in text
    assert not any(moment.answer[:40] in text for moment in PLAN.moments)


def has_the_notes(text: str) -> None:
    assert all(moment.title in text for moment in PLAN.moments)
    assert PLAN.moments[0].answer[:20] in text


def is_the_plan(text: str) -> None:
    assert parse_plan(text.encode(), PLAN.name).title == PLAN.title


FILES: list[tuple[Callable[[], AppTest], str, Callable[[str], Any]]] = [
    (watch, "specviz-tried.csv", has_the_runs),
    (watch, "specviz-trace.json", is_the_run),
    (watch, "specviz-run.html", plays_the_run),
    (worksheet, "specviz-sheet.html", asks),
    (worksheet, "specviz-answer-key.html", answers),
    (ended_game, "be-the-draft-story-7.csv", has_the_rounds),
    (lambda: opened("pages/when_it_helps.py"), "specviz-sweep.csv", lambda text: read_frame(text.encode(), "")),
    (own_bench, "specviz-bench.csv", lambda text: table(text)[0]["concurrency"]),
    (lesson, f"specviz-{PLAN.name}-sheet.html", has_no_notes),
    (lesson, f"specviz-{PLAN.name}-key.html", has_the_notes),
    (lesson, f"specviz-{PLAN.name}-lesson.html", has_no_notes),
    (lesson, f"{PLAN.name}.yaml", is_the_plan),
]


@pytest.mark.parametrize("draw", dict.fromkeys(draw for draw, _, _ in FILES))
def test_a_saved_file_holds_what_its_name_promises(
    draw: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: an answer key that students got, a list of no run and a game without rounds changed no test."""
    offered: dict[str, Any] = {}
    monkeypatch.setattr(streamlit, "download_button", lambda _, data, name, *__, **___: offered.update({name: data}))
    draw()
    checks = {name: check for page, name, check in FILES if page is draw}
    assert checks.keys() <= offered.keys()
    for name, check in checks.items():
        made = offered[name]
        content = made() if callable(made) else made
        check(content.decode() if isinstance(content, bytes) else content)


def test_every_download_has_a_row_here() -> None:
    """Those of a class and of a race are opened in tests/browser."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in UI.rglob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    places = [call for call in calls if ast.unparse(call.func) in ("download", "parts.download")]
    assert len(places) == 13, "a new one needs a row"
