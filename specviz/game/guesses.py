"""Two guesses at one place as one draft: a small tree, and its branches as they were written. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from specviz.core.characters import merged
from specviz.core.trace import EmittedToken, Round

TEXT = -1  # the parent of the first tokens
MOST_GUESSES = 2  # for one place


@dataclass(frozen=True, slots=True)
class Guesses:
    """What a person drafts in one round."""

    token_ids: list[int]
    parents: list[int] | None  # of a tree: the token that each one follows, TEXT for the first ones; None: a chain
    depth: int  # tokens of the longest guess


def joined_guesses(lines: Sequence[Sequence[int]]) -> Guesses:
    """The guesses as one draft: where they begin with the same tokens, these are drafted once."""
    token_ids: list[int] = []
    parents: list[int] = []
    node_of: dict[tuple[int, int], int] = {}  # by parent and token
    for line in lines:
        parent = TEXT
        for token_id in line:
            if (parent, token_id) not in node_of:
                node_of[parent, token_id] = len(token_ids)
                token_ids.append(token_id)
                parents.append(parent)
            parent = node_of[parent, token_id]
    is_chain = parents == list(range(-1, len(parents) - 1))
    return Guesses(token_ids, None if is_chain else parents, max(map(len, lines), default=0))


def branches(round: Round) -> list[Round]:
    """The round as chains: one for each guess of a tree, in the order in which they were written.

    The target's own token stands at the end of the first branch that holds the whole accepted path. These rounds are
    for reading: a branch may end without a token of the target.
    """
    if not round.is_tree:
        return [round]
    inner = {path[-2] for path in round.paths if len(path) > 1}
    paths = [path for path in round.paths if path[-1] not in inner]
    most = max(_accepted(round, path) for path in paths)
    found: list[Round] = []
    for path in paths:
        drafted = [replace(round.drafted[place], parent=None) for place in path]
        ends_here = _accepted(round, path) == most and all(one.emitted.id is None for one in found)
        emitted = round.emitted if ends_here else EmittedToken("none")
        found.append(replace(round, drafted=drafted, emitted=emitted))
    return found


def best_branch(round: Round) -> Round:
    """The branch with the most accepted tokens; of equal ones the first."""
    return max(branches(round), key=lambda branch: branch.accepted)


def draft_text(round: Round) -> str:
    """The draft as text; two guesses have " / " between them."""
    texts = ["".join(merged([token.shown for token in branch.drafted])) for branch in branches(round)]
    return texts[0] if len(texts) == 1 else " / ".join(text.strip() for text in texts)


def _accepted(round: Round, path: Sequence[int]) -> int:
    return sum(round.drafted[place].status == "accepted" for place in path)
