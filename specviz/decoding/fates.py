"""What became of each guess of a round, worked out from what the rule decided and from where the text ended."""

from dataclasses import dataclass

from torch import Tensor

from specviz.core.trace import Status
from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.verification import Verification


@dataclass(frozen=True, slots=True)
class Fates:
    """The fates of n guesses, and where the target's own token belongs."""

    statuses: list[Status]
    judgements: list[int | None]  # for each guess: its place in `Verification.accept_probs`; None: it was never judged
    place: int  # the target's token is in the place of this guess: a correction; n: of none, it is a bonus
    rows: list[int] | None = None  # of a tree: the row of the target's scores for each guess, then for the bonus

    def along(self, target_scores: Tensor) -> Tensor:
        """The target's scores, (n + 1, vocabulary): row i is about guess i, the last one about a bonus."""
        return target_scores if self.rows is None else target_scores[self.rows]


def fates_of(draft: Draft, verification: Verification, accepted: int, ended: bool) -> Fates:
    """The fates of a round's guesses.

    Args:
        draft: the guesses.
        verification: what the rule decided.
        accepted: how many of them are in the text: fewer than the rule accepted after an end of text.
        ended: whether the last of these ended the text.
    """
    if draft.parents is not None and verification.path is not None:
        return _in_tree(draft.parents, verification, verification.path[:accepted], ended)
    count = len(draft.token_ids)
    judged = min(accepted + (not ended), count)
    statuses: list[Status] = ["accepted"] * accepted
    statuses += ["rejected"] * (judged - accepted)
    statuses += ["discarded"] * (count - judged)
    return Fates(statuses, [*range(judged), *[None] * (count - judged)], verification.accepted)


def _in_tree(parents: list[int], verification: Verification, path: list[int], ended: bool) -> Fates:
    """A guess that was judged and is not on the path is rejected; several may be. The others were not taken."""
    reached = {-1, *(path[:-1] if ended else path)}  # where the children were judged
    judgements: list[int | None] = [None] * len(parents)
    for place, guess in enumerate(verification.judged or []):
        if parents[guess] in reached:
            judgements[guess] = place
    statuses: list[Status] = [
        "accepted" if guess in path else "not taken" if judgement is None else "rejected"
        for guess, judgement in enumerate(judgements)
    ]
    last = verification.path[-1] if verification.path else -1
    place = parents.index(last) if last in parents else len(parents)
    return Fates(statuses, judgements, place, [*(parent + 1 for parent in parents), last + 1])
