"""A draft that is a tree as rows of guesses: the same on the stage and on paper, before and after it is judged."""

from dataclasses import dataclass

from specviz.core.rounds import Round

MOST_ROWS = 8  # of a tree on the stage; a larger one shows fewer, and a line that says how many more there are


@dataclass(frozen=True, slots=True)
class Fold:
    """What of a large tree is not drawn at first."""

    rows: list[int]  # their numbers, from the top
    best: float | None  # the draft's probability of the most probable path among them; None: not known


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


def fold(round: Round, rows: list[list[int]]) -> Fold:
    """All rows but the most probable ones, where there are too many.

    A row is as probable as the path to its first guess. That path is never more probable than the row that it leaves,
    so a row on screen always has its beginning on screen.
    """
    if len(rows) <= MOST_ROWS:
        return Fold([], None)
    qs = [1.0 if token.draft_prob is None else token.draft_prob for token in round.drafted]
    known = any(q != 1 for q in qs)  # a point mass on each guess says nothing of paths
    probable = _along_paths(round, qs if known else _shares_by_rank(round))
    ranked = sorted(range(len(rows)), key=lambda row: (-probable[rows[row][0]], row))
    hidden = sorted(ranked[MOST_ROWS - 1 :])
    return Fold(hidden, max(probable[rows[row][0]] for row in hidden) if known else None)


def _shares_by_rank(round: Round) -> list[float]:
    """A stand-in for q, where it is not known: a draft puts its more probable guesses for a place first."""
    tried: dict[int | None, int] = {}
    shares: list[float] = []
    for token in round.drafted:
        tried[token.parent] = tried.get(token.parent, 0) + 1
        shares.append(1 / tried[token.parent])
    return shares


def _along_paths(round: Round, factors: list[float]) -> list[float]:
    products: list[float] = []
    for token, factor in zip(round.drafted, factors, strict=True):
        before = products[token.parent] if token.parent is not None and token.parent >= 0 else 1.0
        products.append(before * factor)
    return products
