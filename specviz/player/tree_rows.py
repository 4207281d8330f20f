"""A draft that is a tree as rows of guesses, on paper and on a terminal: the same before and after it is judged."""

from specviz.core.rounds import Round

MOST_ROWS = 8  # of a tree on the stage; a larger one shows fewer, and a line that says how many more there are


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
