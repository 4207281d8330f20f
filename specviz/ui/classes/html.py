"""The parts of the board as HTML. All text of students is escaped, and stands apart from the direction of writing."""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

import segno

from specviz.data.lessons.story import quiz
from specviz.game.game import MODEL, GamePlan
from specviz.service.classes.board import Board, ClassPlace, QuizTally
from specviz.service.classes.registry import shown_code
from specviz.ui.shared.parts import per_call, rate_of

MOST_CHARACTERS = 600  # a longer link makes a picture that phones cannot read from a projector


def qr_code(link: str) -> str:
    """The QR code as an image for HTML: SVG, black on white in dark mode too; empty where the link is too long.

    It is a data URI, since Streamlit takes SVG out of HTML. Of the link it holds only dark and light squares.
    """
    return _drawn(link) if len(link) <= MOST_CHARACTERS else ""


@lru_cache(maxsize=64)  # of short links only: what is remembered stays
def _drawn(link: str) -> str:
    picture = segno.make_qr(link, error="m").svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True)
    return f'<img class="qr" src="{escape(picture)}" alt="QR code of the link {escape(link)}">'


SHOWN_GUESSES = 8
SHOWN_BEFORE = 140  # characters of the text


def join_html(code: str, address: str, link: str, joined: int, played: int) -> str:
    return (
        f'<section class="class-join" aria-label="How to join">{qr_code(link)}<div>'
        f'<p>Scan the code with a phone. Or open</p><p class="address">{_text(address)}</p><p>and type</p>'
        f'<p class="code">{escape(shown_code(code))}</p><p class="joined">{_joined(joined, played)}</p></div></section>'
    )


def scores_html(board: Board) -> str:
    if not board.played:
        return f'<section class="class-part"><p class="big">{_joined(len(board.scores), 0)}</p></section>'
    most, mark = max(one.students for one in board.bins), f"← {MODEL}"
    bins = [(f"{each.low:.1f} to {each.high:.1f}", each.students, each.has_model) for each in board.bins]
    rows = [_row(label, students, most, mark if has_model else "") for label, students, has_model in bins]
    better, even, worse = map(board.count_ahead, (1, 0, -1))
    return (
        f'<section class="class-part"><p class="big">The class: <b>{per_call(board.mine)}</b> tokens per target call. '
        f"{MODEL}, at the same places: <b>{per_call(board.model)}</b>.</p>"
        f"<p>{_joined(len(board.scores), board.played)} "
        f"Compared with {MODEL}: {better} better, {even} about even, {worse} worse. "
        f"{board.mine.rounds} {'round' if board.mine.rounds == 1 else 'rounds'} so far.</p>"
        f"{_bars('Students, by tokens per target call', rows)}</section>"
    )


def guesses_html(plan: GamePlan, place: ClassPlace, *, rare: bool) -> str:
    text = f"{plan.prompts[place.text].text}{place.before}" if place.after <= len(place.before) else place.before
    text = text if len(text) <= SHOWN_BEFORE else f"…{text[-SHOWN_BEFORE:]}"
    shown = [guess for guess in place.guesses if rare or guess.students > 1][:SHOWN_GUESSES]
    left = [guess.students for guess in place.guesses if guess not in shown]
    others, most = sum(left), max(sum(left), *(guess.students for guess in place.guesses))
    rows = [_row(_word(g.word), g.students, most, "✓ accepted" if g.fits else "✗ not accepted") for g in shown]
    if left:
        rows.append(_row(f"{len(left)} {'word' if len(left) == 1 else 'words'} not shown", others, most))
    model = f"{MODEL} began with {_word(place.model_word)}." if place.model_word else ""
    return (
        f'<section class="class-part"><p class="before">{_text(text)}<span aria-hidden="true"> ▁</span></p>'
        f"{_bars('First words of the guesses, by how many students', rows)}"
        f"<p>The target wrote {_word(place.target)}. {model}</p></section>"
    )


def question_html(question: QuizTally, *, show_right: bool) -> str:
    asked = quiz()[question.number]
    most, right = max(1, *question.chosen), "✓ right answer"
    rows = [
        _row(escape(option.text.technical), students, most, right if show_right and option.right else "")
        for option, students in zip(asked.options, question.chosen, strict=True)
    ]
    said = "1 answer" if sum(question.chosen) == 1 else f"{sum(question.chosen)} answers"
    title = f"<h2>{question.number + 1}. {escape(asked.text.technical)}</h2>"
    return f'<section class="class-part question">{title}{_bars(said, rows)}</section>'


def students_html(board: Board) -> str:
    if not board.scores:
        return scores_html(board)
    heads = ("student", "name", "rounds", "accepted", "tokens per target call", MODEL, "quiz: right of answered")
    rows = "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
    for score in board.scores:
        student, mine = score.student, score.mine
        cells = [student.number, _text(student.name) if student.name else "–", mine.rounds, rate_of(mine)]
        cells += [per_call(mine), per_call(score.model), f"{score.right} of {len(student.answers)}"]
        rows += f"</tr><tr>{''.join(f'<td>{cell}</td>' for cell in cells)}"
    return f'<section class="class-part"><table class="students"><tr>{rows}</tr></table></section>'


def _joined(joined: int, played: int) -> str:
    if not joined:
        return "Nobody has joined yet."
    here = "1 student has joined" if joined == 1 else f"{joined} students have joined"
    if not played:
        return f"{here}. Nobody has played a round yet."
    return f"{here}, {'1 has' if played == 1 else f'{played} have'} played."


def _bars(caption: str, rows: Iterable[str]) -> str:
    return f'<table class="bars"><caption>{caption}</caption>{"".join(rows)}</table>'


def _row(label: str, students: int, most: int, note: str = "") -> str:
    """One bar, with its number beside it. The label is HTML."""
    share = 100 * students / max(1, most)
    bar = f'<span class="bar" style="width:{share:.1f}%"></span>' if students else ""
    cells = f'<td class="track">{bar}</td><td class="count">{students}</td><td>{note}</td>'
    return f'<tr><th scope="row">{label}</th>{cells}</tr>'


def _word(text: str) -> str:
    return f"“{_text(text.strip() or '␣')}”"


def _text(text: str) -> str:
    """Text from outside: escaped, on one line, in a direction of its own."""
    line = "".join(char if char.isprintable() else "↵" if char == "\n" else "" for char in text)
    return f'<bdi translate="no">{escape(line)}</bdi>'
