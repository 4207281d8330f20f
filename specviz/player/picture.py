"""Rounds of a run as an SVG drawing for paper: each mark has a shape of its own, so it needs no colour."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from specviz.core.rounds import Round
from specviz.core.trace import Trace
from specviz.player.tree_rows import tree_rows

STEPS = 3  # of a round: guesses, check, result
WIDTH = 700  # of the drawing; its text has 13 units, so 180 mm give about 9.5 points
LETTER, HEIGHT, LINE = 7.9, 24, 32  # a letter's width, a chip's height, from one line to the next
LEFT = 76  # room for the round's name
INDENT = 26  # of a row of a tree, for each depth
LONGEST = 24  # characters of a token
MARKS = {"accepted": "✓", "rejected": "✗", "discarded": "⋯", "correction": "↻", "bonus": "+", "own": "•", "guess": "?"}
MEANINGS = {
    "accepted": "accepted",
    "rejected": "rejected",
    "discarded": "discarded",
    "correction": "correction",
    "bonus": "bonus",
    "own": "own token",
}
STYLE = """
.picture { display: block; width: 100%; height: auto; }
.picture text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1b1f24; }
.picture .name { font-family: system-ui, sans-serif; }
.picture rect { fill: #fff; stroke: #1b1f24; }
.picture .accepted rect { stroke: #0068a3; stroke-width: 2; }
.picture .rejected rect { stroke: #a33e00; stroke-width: 1.5; stroke-dasharray: 6 3; }
.picture .rejected line { stroke: #a33e00; stroke-width: 1.5; }
.picture .discarded rect { stroke: #5c6675; stroke-dasharray: 1.5 3; }
.picture .discarded text { fill: #4a5361; }
.picture :is(.correction, .bonus, .own) rect { fill: #e8e8e8; stroke: #00664f; stroke-width: 2; }
.picture :is(.correction, .bonus, .own) text { font-weight: 700; }
.picture .guess rect { stroke-dasharray: 4 3; }
"""


@dataclass(frozen=True, slots=True)
class Chip:
    """One token, and what the drawing says of it."""

    kind: str  # a key of MARKS
    text: str

    @property
    def label(self) -> str:
        return f"{MARKS[self.kind]} {self.text}"


@dataclass(frozen=True, slots=True)
class Line:
    """A round: its name, and its chips. A round with a tree has several lines."""

    name: str
    chips: tuple[Chip, ...]
    indent: int = 0


def is_open(step: int) -> bool:
    """Whether the round at a step is not judged yet: then its picture is a question."""
    return step % STEPS < STEPS - 1


def round_picture(trace: Trace, step: int) -> str:
    """The round at a step of the playhead, as it looks there: guesses have a question mark until they are judged.

    Args:
        trace: the run.
        step: counts the three steps of each round, from 0; a later one than the last shows the last.
    """
    index, phase = divmod(min(step, STEPS * len(trace.rounds) - 1), STEPS)
    return _drawn(_lines(trace.rounds[index], judged=phase == STEPS - 1)) if trace.rounds else ""


def result_picture(trace: Trace, step: int) -> str:
    return round_picture(trace, step - step % STEPS + STEPS - 1)


def marks_picture() -> str:
    """The marks and what they mean, on one line."""
    return _drawn([Line("marks", tuple(Chip(kind, word) for kind, word in MEANINGS.items()))])


def _lines(round: Round, *, judged: bool) -> list[Line]:
    kinds = ["discarded" if token.status == "not taken" else token.status for token in round.drafted]
    shown = zip(kinds if judged else ["guess"] * len(kinds), round.drafted, strict=True)
    drafted = tuple(Chip(kind, visible(token.shown)) for kind, token in shown)
    added = round.added
    own = (Chip(added, visible(round.emitted.text)),) if judged and added != "none" else ()
    name = f"round {round.index + 1}"
    if not round.is_tree:
        return [Line(name, (*drafted, *own))]
    path = tuple(chip for chip in drafted if chip.kind == "accepted")
    return [Line(name, (*path, *own)), *_tree(round, drafted, "its tree")] if judged else _tree(round, drafted, name)


def _tree(round: Round, drafted: Sequence[Chip], name: str) -> list[Line]:
    """A line for each row, which begins under the guess that it follows."""
    rows = tree_rows(round)
    return [
        Line("" if number else name, tuple(drafted[node] for node in row), round.depths[row[0]])
        for number, row in enumerate(rows)
    ]


def _drawn(lines: Sequence[Line]) -> str:
    parts, top = list[str](), 0
    for line in lines:
        parts.append(f'<text class="name" x="0" y="{top + 17}">{escape(line.name)}</text>')
        for chip, x, y in _placed(line.chips, top, LEFT + INDENT * line.indent):
            parts.append(_chip(chip, x, y))
            top = y
        top += LINE
    said = "; ".join(": ".join(filter(None, (line.name, _said(line)))) for line in lines)
    return (
        f'<svg class="picture" viewBox="-2 -2 {WIDTH + 4} {top - LINE + HEIGHT + 4}" role="img" '
        f'aria-label="{escape(said)}">{"".join(parts)}</svg>'
    )


def _said(line: Line) -> str:
    return ", ".join(chip.label for chip in line.chips)


def _placed(chips: Sequence[Chip], top: int, left: float) -> Iterator[tuple[Chip, float, int]]:
    """Each chip with its place; what does not fit goes on in the next line."""
    x, y = left, top
    for chip in chips:
        if x > left and x + _width(chip) > WIDTH:
            x, y = left, y + LINE
        yield chip, x, y
        x += _width(chip) + 5


def _chip(chip: Chip, x: float, y: int) -> str:
    wide, middle = _width(chip), y + HEIGHT / 2
    struck = chip.kind == "rejected"
    line = f'<line x1="{x + 24:g}" y1="{middle}" x2="{x + wide - 7:g}" y2="{middle}"/>' if struck else ""
    return (
        f'<g class="{chip.kind}"><rect x="{x:g}" y="{y}" width="{wide:g}" height="{HEIGHT}" rx="5"/>'
        f'<text x="{x + 7:g}" y="{y + 17}" textLength="{wide - 14:g}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(chip.label)}</text>{line}</g>"
    )


def _width(chip: Chip) -> float:
    return round(14 + LETTER * sum(_columns(letter) for letter in chip.label), 1)


def _columns(letter: str) -> int:
    """Of a terminal: letters of East Asian scripts take two, what stands above another letter takes none."""
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def visible(text: str) -> str:
    """A token's text with a sign for what cannot be seen, cut where it is long."""
    signs = {" ": "␣", "\n": "↵", "\t": "⇥"}
    seen = "".join(
        signs.get(letter) or (letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}") for letter in text
    )
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"
