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


def a_class(*rounds: list[SharedRound], name: str = "s{}") -> ClassNow:
    """Each student with these rounds, who has answered with the rest of its number divided by three."""
    students = [
        Student(number, name.format(number), {one.key: one for one in own}, {0: number % 3})
        for number, own in enumerate(rounds, start=1)
    ]
    return ClassNow("ACDEFGHJKM", PLAN, tuple(students), changes=1)


def of_kind(kind: int) -> list[SharedRound]:
    word = ("Lily", "Tom", "Anna")[kind]
    return [a_round(r, 10 * (r - 1), word=word, mine=1 + kind) for r in range(1, ROUNDS + 1)]


# Every third is better than wren-nano, every third worse, the rest even.
THIRTY = a_class(*(of_kind(number % 3) for number in range(1, 31)))


def test_classes_are_counted_once_each_at_their_places() -> None:
    board = board_of(THIRTY)
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
    board = board_of(a_class([same], [other], [replace(same, number=3)]))
    assert sorted(place.students for place in board.places) == [1, 2]


@pytest.mark.parametrize("text", [*HOSTILE, *ALL_NAMES])
def test_what_students_write_stays_text_on_the_board(text: str) -> None:
    one = replace(a_round(), word=text, before=text, place=len(text), written=text, model_word=text)
    board = board_of(a_class([one], [one], name=text.replace("{", "(")))
    for html in (guesses_html(PLAN, board.places[0], rare=True), students_html(board)):
        page = Html(html)
        assert page.tags <= OURS
        assert "\u202e" not in page.text
        assert "".join(c for c in text if c.isprintable())[:20].strip() in page.text.replace("↵", "")


def test_the_board_hides_rare_words_and_the_right_answer_until_they_are_asked_for() -> None:
    words = ["Lily", "Lily", "rude", "other", *(f"word{number}" for number in range(20))]
    board = board_of(a_class(*([a_round(word=word)] for word in words)))
    hidden, shown = (Html(guesses_html(PLAN, board.places[0], rare=rare)).text for rare in (False, True))
    assert ("rude" in hidden, "rude" in shown, "Lily" in hidden, "22 " in hidden) == (False, True, True, True)
    widths = re.findall(r"width:([0-9.]+)%", guesses_html(PLAN, board.places[0], rare=False) + scores_html(board))
    assert max(map(float, widths)) == 100.0
    assert Html(scores_html(board_of(THIRTY))).text.count("10 ") >= 3  # better, about even, worse
    hidden, shown = (
        Html(question_html(board_of(THIRTY).questions[0], show_right=right)).text for right in (False, True)
    )
    assert ("✓" in hidden, "✓" in shown, "30" in hidden) == (False, True, True)


def test_a_qr_code_holds_a_link_as_squares_only() -> None:
    link = 'http://192.168.1.20:8501/be_the_draft?class=ACDEF-GHJKM"><script>'
    html = join_html("ACDEFGHJKM", '192.168.1.20:8501/class"><script>', link, 3, 1)
    assert Html(html).tags <= OURS
    assert "ACDEF-GHJKM" in Html(html).text
    assert re.search(r'<img class="qr" src="data:image/svg', html)
    assert qr_code("x" * 5_000) == ""


def test_the_tables_hold_every_round_and_every_answer() -> None:
    rounds = list(csv.DictReader(io.StringIO(rounds_csv(THIRTY))))
    assert len(rounds) == 30 * ROUNDS
    assert rounds[0] == {
        "student": "1", "name": "s1", "seed": "5", "set": "story", "mode": "type", "prompt": PLAN.prompts[0].name,
        "round": "1", "guess": "Tom ran", "written": "Lily. She", "you_drafted": "3", "you_accepted": "1",
        "you_emitted": "2", "model_drafted": "3", "model_accepted": "1", "model_emitted": "2",
    }  # fmt: skip
    answers = list(csv.DictReader(io.StringIO(answers_csv(THIRTY))))
    assert len(answers) == 30
    assert answers[0]["option"] == "2"
    assert [int(row["right"]) for row in answers[:3]] == [int(n % 3 == quiz()[0].right) for n in (1, 2, 3)]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", '=HYPERLINK("http://evil.test","x")'])
def test_no_cell_of_a_table_is_a_formula(text: str) -> None:
    now = a_class([replace(a_round(), guess=text, written=text)], name=text)
    cells = [
        cell for table in (rounds_csv(now), answers_csv(now)) for row in csv.reader(io.StringIO(table)) for cell in row
    ]
    assert len(cells) > 30
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in cells)


@given(st.text())
def test_any_name_becomes_short_text_on_one_line_and_stays_so(typed: str) -> None:
    name = tidy_name(typed)
    assert len(name) <= MAX_NAME
    assert name == name.strip()
    assert not any(unicodedata.category(char)[0] == "C" or char in "\n\u2028\u2029" for char in name)
    assert tidy_name(name) == name
