"""The acceptance rule: how many drafted tokens are accepted, and which token the target adds.

p is the target's distribution, q the draft's (Leviathan et al. 2023; Chen et al. 2023 state the same rule).
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specviz.decoding.drafters.protocol import Draft, of_tokens


@dataclass(frozen=True, slots=True)
class Verification:
    """The result for one draft."""

    accepted: int  # length of the accepted prefix
    token_id: int  # the target's own token after it: a correction, or a bonus when all were accepted
    accept_probs: list[float]  # for each judged token: the accepted ones and, if there is one, the rejected one
    drawn: list[float] | None = None  # u for each judged token; None if nothing is drawn
    residual: Tensor | None = None  # (vocabulary,) the distribution a correction came from; None for a bonus
    path: list[int] | None = None  # of a tree: the accepted guesses, by index; None: the first of a chain
    judged: list[int] | None = None  # of a tree: the guesses that `accept_probs` and `drawn` are about, in order

    def survivors(self, draft: Draft) -> list[int]:
        return draft.token_ids[: self.accepted] if self.path is None else [draft.token_ids[i] for i in self.path]

    @property
    def rows(self) -> list[int] | None:
        """Of a tree: the rows of the target's pass that stay in its cache, the text's last token first."""
        return None if self.path is None else [0, *(i + 1 for i in self.path)]


class AcceptanceRule(Protocol):
    """Verifies a draft of n tokens with n + 1 rows of the target's scores."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """`target_scores` is (n + 1, vocabulary): row i belongs to the token after i accepted ones."""


class GreedyRule:
    """Accept drafted tokens as long as each is the target's most probable one. Scores are logits."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted tokens, then the target's most probable token after them."""
        best: list[int] = target_scores.argmax(-1).tolist()
        accepted = 0
        while accepted < len(draft.token_ids) and draft.token_ids[accepted] == best[accepted]:
            accepted += 1
        accept_probs = [1.0] * accepted + [0.0] * (accepted < len(draft.token_ids))
        return Verification(accepted, best[accepted], accept_probs)


class SamplingRule:
    """Accept token x with probability min(1, p(x)/q(x)); replace the first rejected one by a draw from (p - q)+.

    Whatever q is, the output is distributed as p (Leviathan et al. 2023, Appendix A.1). Scores are probabilities.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted tokens, then a draw from the residual; if all were accepted, from the target's own."""
        count = len(draft.token_ids)
        drawn: list[float] = torch.rand(count, generator=self._generator, dtype=torch.float64).tolist()
        p, q = of_tokens(target_scores, draft.token_ids), draft.token_probs
        accept_probs: list[float] = []
        for i in range(count):
            accept_probs.append(min(1.0, p[i] / q[i]))
            if drawn[i] >= accept_probs[i]:
                rest = residual(target_scores[i], draft, i)
                return Verification(i, draw(rest, self._generator), accept_probs, drawn[: i + 1], rest)
        return Verification(count, draw(target_scores[count], self._generator), accept_probs, drawn)


def draw(probabilities: Tensor, generator: torch.Generator) -> int:
    """A token id from one row of probabilities, (vocabulary,)."""
    return int(torch.multinomial(probabilities, 1, generator=generator))


def residual(target_probs: Tensor, draft: Draft, position: int) -> Tensor:
    """(p - q)+ / (1 - sum of min(p, q)), the distribution of a correction; shape (vocabulary,)."""
    return normalised(excess(target_probs, draft, position), target_probs)


def excess(target_probs: Tensor, draft: Draft, position: int, share: float = 1.0) -> Tensor:
    """(share · p - q)+ of each token, (vocabulary,); `share` is at most 1."""
    if draft.draft_scores is not None:
        return (share * target_probs - draft.draft_scores[position]).clamp_(min=0)
    left = share * target_probs  # q is a point mass on the drafted token
    left[draft.token_ids[position]] = 0
    return left


def normalised(left: Tensor, target_probs: Tensor) -> Tensor:
    """What is left, with sum 1.

    A rejection means p(x) < q(x), so some token has p > q. Only rounding can make the sum 0, and then p equals q.
    """
    total = left.sum()
    return left / total if total > 0 else target_probs
