"""A lesson on paper: the students' sheet with questions, and the key with the answers, each one HTML file."""

from html import escape
from urllib.parse import urlencode

import segno

from specviz.core.trace import Round, Trace
from specviz.data.lessons.plans import WATCH, LessonPlan, Moment
from specviz.data.links.page_names import TITLES
from specviz.data.texts import asset, page_texts
from specviz.player.html_file import html_file

SAYS = page_texts("sheet")
MOST_LINK = 600  # characters: a longer one makes a QR code too fine for a phone
QUIET = 4  # modules of white around a QR code, which readers need
# up to so many moments: lines for each answer, and their height in mm, so that a sheet is one page also on Letter
ROOM = ((4, 5, 7.0), (6, 3, 7.0), (10**9, 2, 6.1))


def sheet_html(plan: LessonPlan, address: str | None = None) -> str:
    """The students' sheet: a name line, each question with room for an answer, the link and its QR code.

    The answers are not in the file. Without the address where students open the lesson, it has no link and no code.
    """
    lines, height = next((lines, height) for most, lines, height in ROOM if len(plan.moments) <= most)
    code = ""
    if address and len(address) <= MOST_LINK:
        drawn = segno.make_qr(address, error="m")
        code = drawn.svg_inline(border=QUIET, omitsize=True, svgclass=None, lineclass=None)
    marks = [_chip(kind, SAYS[f"mark_{kind}"]) for kind in MARKS if kind != "guess"]
    parts = {
        "key": False,
        "title": plan.title,
        "moments": [(moment, _open_round(plan, at)) for at, moment in enumerate(plan.moments)],
        "address": address,
        "code": code,
        "marks": _drawn([_line(SAYS["marks"], marks)]) if any(moment.screen.run for moment in plan.moments) else "",
        "lines": lines,
        "height": height,
    }
    return _page(plan, parts)


def key_html(plan: LessonPlan) -> str:
    """The key for the teacher: what to do, the answers, what students usually get wrong, and each round's result."""
    screens = [moment.screen for moment in plan.moments]
    pictures = [result_picture(screen.run, screen.step) if screen.run else "" for screen in screens]
    moments = [*zip(plan.moments, pictures, strict=True)]
    return _page(plan, {"key": True, "title": SAYS["key_title"].format(title=plan.title), "moments": moments})


def _page(plan: LessonPlan, parts: dict[str, object]) -> str:
    known = {"plan": plan, "say": SAYS, "other_page": other_page, "style": asset("offline/sheet.css")}
    return html_file("offline/sheet.html", parts | known, "light", policy="; style-src-attr 'unsafe-inline'")


def lesson_address(base: str, plan: LessonPlan) -> str:
    """Where students open a lesson that the server has; `base` is the address of Watch."""
    return f"{base}?{urlencode({'lesson': plan.name, 'moment': 1})}"


def _open_round(plan: LessonPlan, at: int) -> str:
    """The guesses that are on screen, where they are not judged yet and the moment before does not show the same."""
    screens = [moment.screen for moment in plan.moments[max(0, at - 1) : at + 1]]
    shown = [each if each.step % STEPS < STEPS - 1 else None for each in screens]  # else the result is on screen
    pictures = [round_picture(each.run, each.step) if each and each.run else "" for each in shown]
    return pictures[-1] if len(pictures) < 2 or pictures[0] != pictures[1] else ""


def other_page(moment: Moment) -> str | None:
    """The title of the page that a moment is; None on Watch."""
    page = moment.screen.page
    return None if page == WATCH else TITLES.get(page)


# ---- rounds on paper: each mark has a shape of its own, so it needs no colour

STEPS = 3  # of a round: guesses, check, result
LONGEST = 24  # characters of a token
MARKS = {"accepted": "✓", "rejected": "✗", "discarded": "⋯", "correction": "↻", "bonus": "+", "own": "•", "guess": "?"}


def round_picture(trace: Trace, step: int) -> str:
    """The round at a step of the playhead, as it looks there: guesses have a question mark until they are judged.

    Steps count the three of each round, from 0; a later one than the last shows the last. A round with a tree has a
    line for each row, which begins under the guess that it follows.
    """
    if not trace.rounds:
        return ""
    index, phase = divmod(min(step, STEPS * len(trace.rounds) - 1), STEPS)
    round, judged = trace.rounds[index], phase == STEPS - 1
    drafted = [
        _chip(
            ("discarded" if token.status == "not taken" else token.status) if judged else "guess", visible(token.shown)
        )
        for token in round.drafted
    ]
    own = [_chip(round.added, visible(round.emitted.text))] if judged and round.added != "none" else []
    name = SAYS["round"].format(number=round.index + 1)
    if not round.is_tree:
        return _drawn([_line(name, drafted + own)])
    path = [chip for chip, token in zip(drafted, round.drafted, strict=True) if token.status == "accepted"]
    names = [SAYS["tree"] if judged else name]
    rows = [
        _line("".join(names[number:]), [drafted[node] for node in row], round.depths[row[0]])
        for number, row in enumerate(tree_rows(round))
    ]
    return _drawn([_line(name, path + own)] * judged + rows)


def result_picture(trace: Trace, step: int) -> str:
    return round_picture(trace, step - step % STEPS + STEPS - 1)


def _drawn(lines: list[str]) -> str:
    return f'<div class="picture">{"".join(lines)}</div>'


def _line(name: str, chips: list[str], depth: int = 0) -> str:
    return f'<b>{escape(name)}</b><p style="padding-left: {1.6 * depth:g}em">{" ".join(chips)}</p>'


def _chip(kind: str, text: str) -> str:
    return f'<span class="chip {kind}">{MARKS[kind]} <span translate="no">{escape(text)}</span></span>'


def visible(text: str) -> str:
    """A token's text with a sign for what cannot be seen, cut where it is long."""
    signs = {" ": "␣", "\n": "↵", "\t": "⇥"}
    seen = "".join(
        signs.get(letter) or (letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}") for letter in text
    )
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"


def tree_rows(round: Round) -> list[list[int]]:
    """The guesses of a tree in rows, from the top; each row is a chain.

    The first child of a guess continues its row. Each other child opens a row below all that stands before it, so no
    two branches cross. Children stand in the order in which the target tries them, whatever comes of it: nothing moves
    when the tree is judged.
    """
    children: list[list[int]] = [[] for _ in range(len(round.drafted) + 1)]  # entry 0: those of the text
    for node, token in enumerate(round.drafted):
        children[(-1 if token.parent is None else token.parent) + 1].append(node)
    rows: list[list[int]] = []
    waiting = children[0][::-1]
    while waiting:
        row = [waiting.pop()]
        while children[row[-1] + 1]:
            row.append(children[row[-1] + 1][0])
        for node in row:
            waiting += children[node + 1][:0:-1]
        rows.append(row)
    return rows
