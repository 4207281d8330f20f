"""The class's board without a browser, and whatever a teacher or a student may type."""

import csv
import io
import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.core.metrics import Counts
from specviz.data.lessons.story import quiz
from specviz.game.game import ROUNDS, GamePlan
from specviz.service.classes.board import answers_csv, board_of, rounds_csv
from specviz.service.classes.registry import MAX_NAME, tidy_name
from specviz.service.classes.room import ClassNow, SharedRound, Student
from specviz.ui.classes.html import guesses_html, join_html, qr_code, question_html, scores_html, students_html
from tests.support.hostile import ALL_NAMES, NAME
from tests.support.html import Html

PLAN = GamePlan(seed=5)
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eevil", "a\nb", "*md* `x`", NAME]
OURS = {"section", "div", "p", "b", "bdi", "span", "table", "caption", "tr", "th", "td", "h2", "img"}


def counts(emitted: int) -> Counts:
    return Counts(rounds=1, drafted=3, accepted=emitted - 1, emitted=emitted)


def a_round(number: int = 1, place: int = 0, *, word: str = "Lily", mine: int = 2) -> SharedRound:
    said = (f"{word} ran", word, word == "Lily", "Lily. She")
    return SharedRound(0, number, place, "x" * place, *said, counts(mine), counts(2), "Lily")


def a_student(number: int, rounds: list[SharedRound], answers: dict[int, int] | None = None, name: str = "") -> Student:
    return Student(number, name, {one.key: one for one in rounds}, answers or {})


def a_class(*students: Student) -> ClassNow:
    return ClassNow("ACDEFGHJKM", PLAN, students, changes=1)


def thirty() -> ClassNow:
    """Thirty with five rounds each; every third is better than wren-nano, every third worse, the rest even."""
    students = []
    for number in range(1, 31):
        kind = number % 3
        word = ("Lily", "Tom", "Anna")[kind]
        rounds = [a_round(r, 10 * (r - 1), word=word, mine=1 + kind) for r in range(1, ROUNDS + 1)]
        students.append(a_student(number, rounds, {0: kind}, f"s{number}"))
    return a_class(*students)


def test_classes_are_counted_once_each_at_their_places() -> None:
    board = board_of(thirty())
    assert board.played == len(board.scores) == 30
    assert (board.count_ahead(1), board.count_ahead(0), board.count_ahead(-1)) == (10, 10, 10)
    assert sum(each.students for each in board.bins) == 30
    assert {each.low: each.students for each in board.bins if each.students} == {1.0: 10, 2.0: 10, 3.0: 10}
    assert [each.low for each in board.bins if each.has_model] == [2.0]
    assert board.mine.tokens_per_target_call == board.model.tokens_per_target_call == 2.0
    assert [(place.after, place.students) for place in board.places] == [(10 * r, 30) for r in range(ROUNDS)]
    guesses = board.places[0].guesses
    assert [(each.word, each.fits) for each in guesses] == [("Lily", True), ("Anna", False), ("Tom", False)]
    assert {each.students for each in guesses} == {10}
    assert board.questions[0].chosen == (10, 10, 10)
    same, other = a_round(2, place=9), replace(a_round(2, place=9), before="y" * 9)  # a text that rounding changed
    board = board_of(a_class(a_student(1, [same]), a_student(2, [other]), a_student(3, [replace(same, number=3)])))
    assert sorted(place.students for place in board.places) == [1, 2]


@pytest.mark.parametrize("text", [*HOSTILE, *ALL_NAMES])
def test_what_students_write_stays_text_on_the_board(text: str) -> None:
    one = replace(a_round(), word=text, before=text, place=len(text), written=text, model_word=text)
    board = board_of(a_class(a_student(1, [one], name=text), a_student(2, [one], name=text)))
    for html in (guesses_html(PLAN, board.places[0], rare=True), students_html(board)):
        page = Html(html)
        assert page.tags <= OURS
        assert "\u202e" not in page.text
        visible = "".join(c for c in text if c.isprintable())[:20].strip()
        assert visible in page.text.replace("↵", "")


def test_the_board_says_who_is_there_and_hides_rare_words() -> None:
    words = ["Lily", "Lily", "rude", "other", *(f"word{number}" for number in range(20))]
    board = board_of(a_class(*(a_student(n, [a_round(word=word)]) for n, word in enumerate(words, start=1))))
    hidden, shown = (Html(guesses_html(PLAN, board.places[0], rare=rare)).text for rare in (False, True))
    assert ("rude" in hidden, "rude" in shown, "Lily" in hidden) == (False, True, True)
    assert "22 words not shown" in hidden
    html = guesses_html(PLAN, board.places[0], rare=False) + scores_html(board)
    assert max(float(width) for width in re.findall(r"width:([0-9.]+)%", html)) == 100.0
    for now, said in (
        (a_class(), "Nobody has joined yet."),
        (a_class(a_student(1, [])), "1 student has joined, 0 have played."),
        (thirty(), "30 students have joined, 30 have played."),
        (thirty(), "10 better, 10 about even, 10 worse. 150 rounds so far."),
    ):
        assert said in Html(scores_html(board_of(now))).text
    question = board_of(thirty()).questions[0]
    assert "right" not in Html(question_html(question, show_right=False)).text
    assert "✓ right answer" in Html(question_html(question, show_right=True)).text
    assert "30 answers" in Html(question_html(question, show_right=False)).text


def test_a_qr_code_holds_a_link_as_squares_only() -> None:
    link = 'http://192.168.1.20:8501/be_the_draft?class=ACDEF-GHJKM"><script>'
    html = join_html("ACDEFGHJKM", '192.168.1.20:8501/class"><script>', link, 3, 1)
    assert Html(html).tags <= OURS
    assert "ACDEF-GHJKM" in Html(html).text
    assert re.search(r'<img class="qr" src="data:image/svg', html)
    assert qr_code("x" * 5_000) == ""


def test_the_tables_hold_every_round_and_every_answer() -> None:
    rounds = list(csv.DictReader(io.StringIO(rounds_csv(thirty()))))
    assert len(rounds) == 30 * ROUNDS
    assert rounds[0] == {
        "student": "1", "name": "s1", "seed": "5", "set": "story", "mode": "type", "prompt": PLAN.prompts[0].name,
        "round": "1", "guess": "Tom ran", "written": "Lily. She", "you_drafted": "3", "you_accepted": "1",
        "you_emitted": "2", "model_drafted": "3", "model_accepted": "1", "model_emitted": "2",
    }  # fmt: skip
    answers = list(csv.DictReader(io.StringIO(answers_csv(thirty()))))
    assert len(answers) == 30
    assert answers[0]["option"] == "2"
    assert [int(row["right"]) for row in answers[:3]] == [int(n % 3 == quiz()[0].right) for n in (1, 2, 3)]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://evil.test","x")'])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    student = a_student(1, [replace(a_round(), guess=text, written=text)], {0: 0}, name=text)
    for table in (rounds_csv(a_class(student)), answers_csv(a_class(student))):
        for row in csv.reader(io.StringIO(table)):
            assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row)


@given(st.text())
def test_any_name_becomes_short_text_on_one_line_and_stays_so(typed: str) -> None:
    name = tidy_name(typed)
    assert len(name) <= MAX_NAME
    assert name == name.strip()
    assert not any(unicodedata.category(char)[0] == "C" or char in "\n\u2028\u2029" for char in name)
    assert tidy_name(name) == name
