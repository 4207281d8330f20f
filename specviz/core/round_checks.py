"""Whether one round of a trace agrees with itself: the statuses of its drafted tokens, and what the target added."""

from collections.abc import Iterator
from itertools import pairwise

from specviz.core.rounds import DraftedToken, Round


def round_problems(round: Round) -> Iterator[str]:
    """Fields that contradict each other, each as the end of a sentence that begins with the round."""
    kind = round.emitted.kind
    if kind == "none" and round.emitted.id is not None:
        yield f"emits kind {kind!r} with id {round.emitted.id}"
    if kind == "none" and not round.accepted:
        yield "emits nothing"
    yield from _tree_problems(round) if round.is_tree else _chain_problems(round)


def _chain_problems(round: Round) -> Iterator[str]:
    if any(token.parent is not None for token in round.drafted):
        yield "has tokens with a parent and tokens without one"
    statuses = [token.status for token in round.drafted]
    in_order = ["accepted"] * round.accepted + ["rejected"] * round.rejected + ["discarded"] * round.discarded
    if statuses != in_order or round.rejected > 1:
        yield "has statuses out of order"
    kind = round.emitted.kind
    if (kind == "correction") != (round.rejected == 1):
        yield f"emits kind {kind!r} with {round.rejected} rejected"
    if round.discarded and not round.rejected and kind != "none":
        yield "discards tokens without a rejection or an end of text"


def _tree_problems(round: Round) -> Iterator[str]:
    """The accepted nodes are one path; only its nodes' children were judged; siblings are different tokens."""
    if problem := _wrong_parent(round.drafted):
        yield problem
        return
    path = [-1, *(place for place, token in enumerate(round.drafted) if token.status == "accepted")]
    for parent, node in pairwise(path):
        if round.drafted[node].parent != parent:
            yield f"accepts drafted.{node}, which does not follow the accepted path"
    judged = path[:-1] if round.emitted.kind == "none" else path
    for place, token in enumerate(round.drafted):
        if token.status == "discarded":
            yield f"discards drafted.{place}: a node of a tree that was not judged has status 'not taken'"
        if token.status == "rejected" and token.parent not in judged:
            yield f"rejects drafted.{place}, which does not follow an accepted token"
    yield from _end_problems(round, path[-1])


def _wrong_parent(drafted: list[DraftedToken]) -> str | None:
    seen = set[tuple[int, int]]()  # of the tokens whose ids are reported
    for place, token in enumerate(drafted):
        if token.parent is None:
            return "has tokens with a parent and tokens without one"
        if token.parent >= place:
            return f"has drafted.{place} before its parent {token.parent}"
        if (token.parent, token.id) in seen:
            return f"has drafted.{place} twice: a sibling has its id"
        if token.id is not None:
            seen.add((token.parent, token.id))
    return None


def _end_problems(round: Round, last: int) -> Iterator[str]:
    """A correction comes where every child was rejected, a bonus where there is no child."""
    statuses = {token.status for token in round.drafted if token.parent == last}
    kind = round.emitted.kind
    if kind == "correction" and statuses != {"rejected"}:
        yield "emits kind 'correction', but not every token at its place is rejected"
    if kind == "bonus" and statuses:
        yield "emits kind 'bonus' at a place where tokens were drafted"
