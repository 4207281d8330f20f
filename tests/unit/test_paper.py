"""What a class gets as a file, whole: the students' sheet, the teacher's key, and the table of a game."""

import re
from dataclasses import replace

from syrupy.assertion import SnapshotAssertion

from specviz.core.rounds import DraftedToken, EmittedToken, Round
from specviz.core.trace import Trace
from specviz.data.lessons.plans import LessonPlan, Moment, Screen
from specviz.game.game import LOOKUP, MODEL, GamePlan
from specviz.game.saved import game_csv
from specviz.player.sheet import (
    key_html,
    lesson_address,
    marks_picture,
    other_page,
    result_picture,
    round_picture,
    sheet_html,
)
from tests.support.fake_traces import run_of
from tests.support.fake_turns import a_round, a_tree_turn, a_turn

MOMENTS = (
    Moment("Guess", 2, Screen.from_link("./?run=first&step=4"), "What <next>?", "It is & was.", "Too far.", "Click ▶."),
    Moment("The same", 3, Screen.from_link("./?run=first&step=4"), "And then?", "Nothing."),
    Moment("Judged", 4, Screen.from_link("./?run=first&step=5"), "Why?", "So.", do="Wait."),
    Moment("Play", 5, Screen.from_link("./be_the_draft?seed=1"), "Who wins?", "You.", "The target."),
)
PLAN = LessonPlan("A <b>lesson</b>", 15, ("One & all", "Two"), MOMENTS, "mine")
DROPPED = re.compile(r"<style>.*?</style>|<svg.*?</svg>", re.DOTALL)  # the browser's tests look at them


def lines_of(page: str) -> list[str]:
    return re.sub(r"(</(?:p|h\d|li|dd|div|header|section|ul|dl|head)>)", r"\1\n", DROPPED.sub("…", page)).splitlines()


def test_the_sheet(snapshot: SnapshotAssertion) -> None:
    assert lines_of(sheet_html(PLAN, lesson_address("https://host/", PLAN))) == snapshot


def test_the_key(snapshot: SnapshotAssertion) -> None:
    assert lines_of(key_html(PLAN)) == snapshot


def test_a_sheet_has_less_room_for_each_answer_where_it_has_more_moments(snapshot: SnapshotAssertion) -> None:
    rooms = {}
    for count in (1, 4, 5, 6, 7):
        sheet = sheet_html(LessonPlan("Many", 60, ("All",), MOMENTS[3:] * count))
        assert "QR code" not in sheet
        assert 'class="marks"' not in sheet, "no moment shows a run"
        heights = re.findall(r'<div class="line" style="height: ([^"]+)"', sheet)
        rooms[count] = f"{len(heights) // count} lines of {heights[0]}"
    assert rooms == snapshot


def test_a_link_has_a_code_up_to_600_characters() -> None:
    address = "https://host/".ljust(600, "x")
    assert "<svg" in sheet_html(PLAN, address)
    assert "<svg" not in sheet_html(PLAN, f"{address}x")
    assert f"{address}x" in sheet_html(PLAN, f"{address}x")


def run() -> Trace:
    words = ["accepted", "rejected", "discarded"]
    chain = [
        DraftedToken(at, text, word)
        for at, (text, word) in enumerate(zip([" a\n", "\t<b>", "c" * 30], words, strict=True))
    ]  # type: ignore[arg-type]
    fates = [("accepted", -1), ("rejected", -1), ("not taken", 0), ("accepted", 0)]
    tree = [DraftedToken(10 + at, f"t{at}", fate, parent=parent) for at, (fate, parent) in enumerate(fates)]  # type: ignore[arg-type]
    rounds = [
        Round(0, 0.1, 1.0, 0.0, chain, EmittedToken("correction", 9, "d" * 24)),
        Round(1, 0.1, 1.0, 0.0, tree, EmittedToken("bonus", 19, "\x07")),
        Round(2, 0.1, 1.0, 0.0, chain[:1], EmittedToken("none")),
    ]
    return run_of(rounds)


def test_a_round_is_open_until_it_is_judged(snapshot: SnapshotAssertion) -> None:
    trace = run()
    pictures = [lines_of(round_picture(trace, step)) for step in range(9)]
    assert pictures[0] == pictures[1]
    assert pictures[3] == pictures[4]
    assert [pictures[step] for step in (0, 2, 3, 5, 6, 8)] == snapshot
    assert [lines_of(result_picture(trace, step)) for step in (0, 4, 8)] == [pictures[step] for step in (2, 5, 8)]
    assert round_picture(trace, 99) == round_picture(trace, 8)
    assert round_picture(run_of([]), 0) == ""
    assert lines_of(marks_picture()) == snapshot


def test_a_moment_on_another_page_names_it() -> None:
    assert [other_page(moment) for moment in MOMENTS] == [None, None, None, "Be the draft"]


def test_the_table_of_a_game(snapshot: SnapshotAssertion) -> None:
    plan = GamePlan(seed=3, mode="pick")
    rivals = {MODEL: a_round([" a", " b", " c"], 3), LOOKUP: a_round([" a", " b", " c"], 0)}
    games = [
        [replace(a_turn([" a", " b", " c"], 1), rivals=rivals)],
        [a_turn([" it"], 1, model=0)],
        [a_tree_turn([[" the", " dog"], [" the", " cat"]], [" the", " cat", " sat"])],
    ]
    assert game_csv(plan, games, "Ada\n" + "a" * 70).splitlines() == snapshot
