"""A lesson on paper: the students' sheet with questions, and, as a file of its own, the key with the answers.

Both are one HTML file each, with print styles for A4 and Letter inside, and load nothing.
"""

from html import escape
from urllib.parse import urlencode

import segno

from specviz.data.lessons.plans import Moment, Plan
from specviz.player.picture import STYLE as PICTURE_STYLE
from specviz.player.picture import is_open, marks_picture, result_picture, round_picture

PAGE_NAMES = {"learn": "Learn", "race": "Race", "helps": "When it helps", "worksheet": "Worksheet"}
PAGE_NAMES |= {"proof": "Same quality", "play": "Be the draft", "class": "Class board"}
MOST_LINK = 600  # characters: a longer one makes a QR code too fine for a phone
QUIET = 4  # modules of white around a QR code, which readers need
# up to so many moments: lines for each answer, and their height in mm, so that a sheet is one page also on Letter
ROOM = ((4, 5, 7.0), (6, 3, 7.0), (10**9, 2, 6.1))
STYLE = """
@page { margin: 10mm 14mm; }
* { box-sizing: border-box; }
body {
  max-width: 186mm; margin: 1rem auto; padding: 0 1rem; background: #fff; color: #1b1f24;
  font: 10pt/1.3 system-ui, sans-serif; overflow-wrap: anywhere;
}
header { display: flex; gap: 6mm; align-items: start; justify-content: space-between; }
h1 { margin: 0 0 1mm; font-size: 15pt; }
h2 { display: inline; margin: 0 0.4em 0 0; font-size: inherit; }
p { margin: 0 0 1mm; }
.title { flex: 1; }
.name { display: flex; gap: 4mm; margin: 4mm 0 1mm; }
.name span { flex: 1; border-bottom: 1px solid #59636f; } .name span + b + span { flex: 0.4; }
.code { flex: none; width: 27mm; } .code svg { display: block; width: 27mm; height: 27mm; }
.link { font-size: 8.5pt; }
.marks { max-width: 165mm; margin-bottom: 1.5mm; }
.moment { margin: 0 0 2mm; break-inside: avoid; }
.moment .picture { margin: 0.5mm 0; max-width: 165mm; }
.line { border-bottom: 1px solid #59636f; }
.minutes { color: #4a5361; }
dl { margin: 1mm 0 0; } dt { float: left; margin-right: 2mm; font-weight: 600; } dd { margin: 0 0 1mm; }
@media print {
  body { max-width: none; margin: 0; padding: 0; }
}
"""


def sheet_html(plan: Plan, address: str | None = None) -> str:
    """The students' sheet: a name line, each question with room for an answer, the link and its QR code.

    Args:
        plan: the lesson. Its answers are not in the file.
        address: where students open the lesson; without it the sheet has no link and no code.
    """
    moments = "".join(_question(plan, at) for at in range(len(plan.moments)))
    name = '<div class="name"><b>Name</b><span></span><b>Date</b><span></span></div>'
    marks = f'<div class="marks">{marks_picture()}</div>' if any(moment.screen.run for moment in plan.moments) else ""
    link = f'<p class="link">{escape(address)}</p>' if address else ""
    title = f"<h1>Speculative decoding: {escape(plan.title)}</h1>"
    head = f'<header><div class="title">{title}{link}{name}</div>{_code(address)}</header>'
    return _page(plan.title, f"{head}{marks}<main>{moments}</main>")


def key_html(plan: Plan) -> str:
    """The key for the teacher: what to do, the answers, what students usually get wrong, and each round's result."""
    goals = "".join(f"<li>{escape(goal)}</li>" for goal in plan.goals)
    moments = "".join(_answer(number, moment) for number, moment in enumerate(plan.moments, start=1))
    title = f"{plan.title}: key and notes for the teacher"
    return _page(title, f"<h1>{escape(title)}</h1><p>{plan.minutes} minutes</p><ul>{goals}</ul><main>{moments}</main>")


def lesson_address(base: str, plan: Plan) -> str:
    """Where students open a lesson that the server has; `base` is the address of Watch."""
    return f"{base}?{urlencode({'lesson': plan.name, 'moment': 1})}"


def _question(plan: Plan, at: int) -> str:
    moment = plan.moments[at]
    return (
        f'<section class="moment"><div>{_title(at + 1, moment)} {escape(moment.question)} {_where(moment)}</div>'
        f"{_open_round(plan, at)}{_room(len(plan.moments))}</section>"
    )


def _room(moments: int) -> str:
    lines, height = next((lines, height) for most, lines, height in ROOM if moments <= most)
    return f'<div class="line" style="height: {height}mm"></div>' * lines


def _open_round(plan: Plan, at: int) -> str:
    """The guesses that are on screen, where they are not judged yet and the moment before does not show the same."""
    pictures = [
        round_picture(moment.screen.run, moment.screen.step)
        if moment.screen.run and is_open(moment.screen.step)
        else ""
        for moment in plan.moments[max(0, at - 1) : at + 1]
    ]
    return pictures[-1] if len(pictures) < 2 or pictures[0] != pictures[1] else ""


def _answer(number: int, moment: Moment) -> str:
    run = moment.screen.run
    picture = result_picture(run, moment.screen.step) if run else ""
    facts = {"Do": moment.do, "Ask": moment.question, "Answer": moment.answer, "Often wrong": moment.mistakes}
    listed = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts.items() if text)
    minutes = f' <span class="minutes">({moment.minutes} min)</span> {_where(moment)}'
    return f'<section class="moment">{_title(number, moment)}{minutes}<dl>{listed}</dl>{picture}</section>'


def _title(number: int, moment: Moment) -> str:
    return f"<h2>{number}. {escape(moment.title)}</h2>"


def _where(moment: Moment) -> str:
    page = PAGE_NAMES.get(moment.screen.page)
    return f'<span class="minutes">(On the page “{page}”.)</span>' if page else ""


def _code(address: str | None) -> str:
    if not address or len(address) > MOST_LINK:
        return ""
    drawn = segno.make_qr(address, error="m").svg_inline(border=QUIET, omitsize=True, svgclass=None, lineclass=None)
    return f'<div class="code" role="img" aria-label="QR code of the link">{drawn}</div>'


def _page(title: str, body: str) -> str:
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}"><title>{escape(title)}</title>'
        f"<style>{STYLE}{PICTURE_STYLE}</style></head><body>{body}</body></html>\n"
    )
