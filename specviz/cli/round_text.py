"""A round on the terminal: its tokens with their status, and a draft that is a tree as a tree."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from specviz.cli.output import visible
from specviz.core.rounds import DraftedToken, Round
from specviz.player.tree_rows import MOST_ROWS, tree_rows

if TYPE_CHECKING:
    from rich.text import Text

# Glyph and style: a status is never shown by colour alone.
STYLES = {
    "accepted": ("✓", "blue"),
    "rejected": ("✗", "strike yellow"),
    "discarded": ("⋯", "dim"),
    "not taken": ("⋯", "dim"),
    "correction": ("↻", "bold green"),
    "bonus": ("+", "bold green"),
    "own": ("•", "green"),
}
MARGIN = 9  # columns before the tokens: the round's number stands there


def round_lines(round: Round) -> list["Text"]:
    """The round's number and its tokens. Below a tree's accepted path stands the tree."""
    from rich.text import Text

    rows = tree_rows(round) if round.is_tree else []
    shown = round.accepted_tokens if len(rows) > 1 else round.drafted
    chips = [_chip_of(token) for token in shown]
    if round.added != "none":
        chips.append(chip(round.added, round.emitted.text))
    first = Text(f"{round.index + 1:5}".ljust(MARGIN)).append_text(Text(" ").join(chips))
    return [first, *(_tree_lines(round, rows) if len(rows) > 1 else [])]


def chip(status: str, text: str) -> "Text":
    """One token with its status as glyph and colour."""
    from rich.text import Text

    glyph, style = STYLES[status]
    return Text(f"{glyph}{visible(text)}", style=style)


def _chip_of(token: DraftedToken) -> "Text":
    return chip(token.status, token.shown)


def _tree_lines(round: Round, rows: Sequence[Sequence[int]]) -> list["Text"]:
    """A line for each row; a guess stands in the column of its place. Of a large tree, the rows with a judged guess."""
    from rich.text import Text

    drawn = [row for row in rows if len(rows) <= MOST_ROWS or round.drafted[row[0]].status != "not taken"]
    nodes = sorted(node for row in drawn for node in row)
    widths = [0] * round.depth
    for node in nodes:
        widths[round.depths[node]] = max(widths[round.depths[node]], _chip_of(round.drafted[node]).cell_len)
    lines = [_row_line(round, row, nodes, widths) for row in drawn]
    if len(nodes) < len(round.drafted):
        lines.append(Text(f"{' ' * MARGIN}and {len(round.drafted) - len(nodes)} more, not taken", style="dim"))
    return lines


def _row_line(round: Round, row: Sequence[int], nodes: Sequence[int], widths: Sequence[int]) -> "Text":
    """The branches that pass this row on its left, then its guesses."""
    from rich.text import Text

    line = Text(" " * MARGIN)
    for depth, node in enumerate(round.paths[row[0]][:-1]):
        passes = _joint(round, node, nodes) in "┬├"
        line.append(("│" if passes else " ").ljust(widths[depth] + 3), "dim")
    for node in row:
        token = _chip_of(round.drafted[node])
        line.append(f"{_joint(round, node, nodes)} ", "dim").append_text(token)
        if node != row[-1]:
            line.append(" " * (widths[round.depths[node]] - token.cell_len + 1))
    return line


def _joint(round: Round, node: int, nodes: Sequence[int]) -> str:
    """How a guess is joined to the guesses for the same place above and below it."""
    parent = round.drafted[node].parent
    siblings = [other for other in nodes if round.drafted[other].parent == parent]
    if len(siblings) == 1:
        return "─"
    return "┬" if node == siblings[0] else "└" if node == siblings[-1] else "├"
