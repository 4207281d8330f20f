"""The parts of the board as HTML. All text of students is escaped, and stands apart from the direction of writing."""

from collections.abc import Sequence
from functools import lru_cache
from html import escape

import segno

from specviz.core.texts import fill
from specviz.data.lessons.story import quiz
from specviz.data.texts import page_texts, quoted
from specviz.game.game import MODEL, GamePlan
from specviz.service.classes.board import Board, ClassPlace
from specviz.service.classes.registry import shown_code
from specviz.ui.shared.parts import per_call

SAYS = page_texts("classes")
MOST_CHARACTERS = 600  # a longer link makes a picture that phones cannot read from a projector


def qr_code(link: str) -> str:
    """The QR code as an image for HTML: SVG, black on white in dark mode too; empty where the link is too long.

    It is a data URI, since Streamlit takes SVG out of HTML. Of the link it holds only dark and light squares.
    """
    if len(link) > MOST_CHARACTERS:
        return ""
    return f'<img class="qr" src="{escape(_drawn(link))}" alt="{escape(SAYS["qr"].format(address=link))}">'


@lru_cache(maxsize=64)  # of short links only: what is remembered stays
def _drawn(link: str) -> str:
    return segno.make_qr(link, error="m").svg_data_uri(border=4, dark="#000", light="#fff", omitsize=True)


SHOWN_GUESSES = 8
SHOWN_BEFORE = 140  # characters of the text


def join_html(code: str, address: str, link: str, joined: int, played: int) -> str:
    return (
        f'<section class="class-join" aria-label="{escape(SAYS["how_to_join"])}">{qr_code(link)}<div>'
        f'<p>{SAYS["scan"]}</p><p class="address">{_text(address)}</p><p>{SAYS["and_type"]}</p>'
        f'<p class="code">{escape(shown_code(code))}</p><p class="joined">{_joined(joined, played)}</p></div></section>'
    )


def scores_html(board: Board) -> str:
    if not board.played:
        return f'<section class="class-part"><p class="big">{_joined(len(board.scores), 0)}</p></section>'
    rows = [
        (SAYS["bin"].format(low=each.low, high=each.high), each.students, f"← {MODEL}" if each.has_model else "")
        for each in board.bins
    ]
    whole = SAYS["whole"].format(mine=per_call(board.mine), model=MODEL, its=per_call(board.model))
    better, even, worse = map(board.count_ahead, (1, 0, -1))
    figures = {"model": MODEL, "better": better, "even": even, "worse": worse, "rounds": board.mine.rounds}
    compared = fill(SAYS["compared"], {"joined": _joined(len(board.scores), board.played), **figures})
    bars = _bars(SAYS["bins"], rows)
    return f'<section class="class-part"><p class="big">{whole}</p><p>{compared}</p>{bars}</section>'


def guesses_html(plan: GamePlan, place: ClassPlace, *, rare: bool) -> str:
    text = f"{plan.prompts[place.text].text}{place.before}" if place.after <= len(place.before) else place.before
    text = text if len(text) <= SHOWN_BEFORE else f"…{text[-SHOWN_BEFORE:]}"
    shown = [guess for guess in place.guesses if rare or guess.students > 1][:SHOWN_GUESSES]
    left = [guess.students for guess in place.guesses if guess not in shown]
    rows = [(_word(guess.word), guess.students, SAYS["fits" if guess.fits else "fits_not"]) for guess in shown]
    if left:
        rows.append((fill(SAYS["words_left"], {"count": len(left)}), sum(left), ""))
    words = {"word": _word(place.target), "other": _word(place.model_word), "model": MODEL}
    wrote = SAYS["wrote_both" if place.model_word else "wrote"].format(**words)
    return (
        f'<section class="class-part"><p class="before">{_text(text)}<span aria-hidden="true"> ▁</span></p>'
        f"{_bars(SAYS['first_words'], rows)}<p>{wrote}</p></section>"
    )


def question_html(number: int, chosen: Sequence[int], *, show_right: bool) -> str:
    asked, right = quiz()[number], SAYS["right"]
    rows = [
        (escape(option.text.technical), students, right if show_right and option.right else "")
        for option, students in zip(asked.options, chosen, strict=True)
    ]
    bars = _bars(fill(SAYS["answers"], {"count": sum(chosen)}), rows)
    return f'<section class="class-part question"><h2>{number + 1}. {escape(asked.text.technical)}</h2>{bars}</section>'


def _joined(joined: int, played: int) -> str:
    if not joined:
        return SAYS["nobody"]
    return fill(SAYS["joined_played"], {"joined": joined, "played": played})


def _bars(caption: str, rows: Sequence[tuple[str, int, str]]) -> str:
    """Each with its label (as HTML), its number of students beside it, and a note."""
    most, drawn = max(1, *(students for _, students, _ in rows)), ""
    for label, students, note in rows:
        bar = f'<span class="bar" style="width:{100 * students / most:.1f}%"></span>' if students else ""
        cells = f'<td class="track">{bar}</td><td class="count">{students}</td><td>{note}</td>'
        drawn += f'<tr><th scope="row">{label}</th>{cells}</tr>'
    return f'<table class="bars"><caption>{caption}</caption>{drawn}</table>'


def _word(text: str) -> str:
    return quoted(_text(text.strip() or "␣"))


def _text(text: str) -> str:
    """Text from outside: escaped, on one line, in a direction of its own."""
    line = "".join(char if char.isprintable() else "↵" if char == "\n" else "" for char in text)
    return f'<bdi translate="no">{escape(line)}</bdi>'
