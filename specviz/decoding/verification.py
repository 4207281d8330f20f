"""The acceptance rule: how many drafted tokens are accepted, and which token the target adds.

p is the target's distribution, q the draft's (Leviathan et al. 2023; Chen et al. 2023 state the same rule).
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from specviz.core.settings import DecodeSettings
from specviz.decoding.drafters.protocol import Draft, pick_probabilities


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
        p, q = pick_probabilities(target_scores, draft.token_ids), draft.token_probs
        accept_probs: list[float] = []
        for i in range(count):
            accept_probs.append(min(1.0, p[i] / q[i]))
            if drawn[i] >= accept_probs[i]:
                rest = residual(target_scores[i], draft, i)
                return Verification(i, draw(rest, self._generator), accept_probs, drawn[: i + 1], rest)
        return Verification(count, draw(target_scores[count], self._generator), accept_probs, drawn)


class GreedyTreeRule:
    """From the text on, go to the child that is the target's most probable token, as long as there is one.

    Scores are logits.
    """

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted path, then the target's most probable token after it."""
        best: list[int] = target_scores.argmax(-1).tolist()
        children = children_of(draft)
        path: list[int] = []
        judged: list[int] = []
        node: int | None = -1
        while node is not None:
            last, node = node, None
            for child in children[last + 1]:
                judged.append(child)
                if draft.token_ids[child] == best[last + 1]:
                    path.append(child)
                    node = child
                    break
        accept_probs = [float(child in path) for child in judged]
        return Verification(len(path), best[last + 1], accept_probs, path=path, judged=judged)


class SamplingTreeRule:
    """At each node, judge one child after the other: accept x with probability min(1, p(x)/q(x)), else p := (p - q)+.

    q is the distribution that this child was drawn from: without its earlier siblings, if the draft draws without
    replacement. If no child is accepted, the target's token is a draw from the p that is left. Whatever q is, the
    output is distributed as the target's: each step is the rule of Leviathan et al. 2023 for the p that is left. This
    is recursive rejection sampling (Jeon et al. 2024, arXiv 2402.14160). If the children are drawn independently
    instead, it is SpecInfer's multi-step speculative sampling (Miao et al. 2023, arXiv 2305.09781). If q is a point
    mass on each child, it is as good as drawing the target's own token and going to the child that has it. Scores are
    probabilities.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted path, then a draw from what is left of p at its end."""
        children, q = children_of(draft), draft.token_probs
        path: list[int] = []
        judged: list[int] = []
        accept_probs: list[float] = []
        drawn: list[float] = []
        node: int | None = -1
        while node is not None:
            p, siblings, node = target_scores[node + 1], children[node + 1], None
            for child in siblings:
                judged.append(child)
                accept_probs.append(min(1.0, float(p[draft.token_ids[child]]) / q[child]))
                drawn.append(float(torch.rand(1, generator=self._generator, dtype=torch.float64)))
                if drawn[-1] < accept_probs[-1]:
                    path.append(child)
                    node = child
                    break
                p = residual(p, draft, child)
        left = p if siblings else None  # else nothing was judged there: a bonus
        return Verification(len(path), draw(p, self._generator), accept_probs, drawn, left, path, judged)


def children_of(draft: Draft) -> list[list[int]]:
    """Entry i + 1: the children of guess i, in the order in which they were drawn; entry 0: those of the text."""
    children: list[list[int]] = [[] for _ in range(len(draft.token_ids) + 1)]
    for guess, parent in enumerate(draft.parents or []):
        children[parent + 1].append(guess)
    return children


class BlockRule:
    """Accept the longest prefix of the draft that passes its own draw; replace what follows by a draw from the rest.

    A prefix of i tokens has the share s(i) = min(1, s(i - 1) · p(x)/q(x)), with s(0) = 1. It is the probability that
    at least these i tokens are accepted. An accepted token may have p far below q, if the tokens after it make up for
    that. Scores are probabilities.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """The accepted tokens, then a draw from (s·p - q)+; if all were accepted, from the target's own.

        `accept_probs` and `drawn` have an entry for each prefix: a token can be accepted although its own prefix
        failed, because a longer prefix passed.
        """
        count = len(draft.token_ids)
        drawn: list[float] = torch.rand(count, generator=self._generator, dtype=torch.float64).tolist()
        shares = _shares(draft, target_scores)
        accept_probs = [_accept_prob(shares[i], draft, target_scores, i) for i in range(1, count + 1)]
        accepted = max((i + 1 for i in range(count) if drawn[i] < accept_probs[i]), default=0)
        if accepted == count:
            return Verification(count, draw(target_scores[count], self._generator), accept_probs, drawn)
        rest = normalised(excess(target_scores[accepted], draft, accepted, shares[accepted]), target_scores[accepted])
        return Verification(accepted, draw(rest, self._generator), accept_probs, drawn, rest)


def _shares(draft: Draft, target_scores: Tensor) -> list[float]:
    """s(0) to s(n)."""
    p, q = pick_probabilities(target_scores, draft.token_ids), draft.token_probs
    shares = [1.0]
    for i in range(len(p)):
        shares.append(min(1.0, shares[-1] * p[i] / q[i]))
    return shares


def _accept_prob(share: float, draft: Draft, target_scores: Tensor, length: int) -> float:
    """The probability that a prefix of this many tokens passes its own draw (equation 4 of the paper)."""
    if length == len(draft.token_ids):
        return share
    mass = float(excess(target_scores[length], draft, length, share).sum())
    missing = mass + 1 - share
    return mass / missing if missing > 0 else 1.0  # 0 of 0: p is q, and all that follows has a share of 1 too


def make_rule(settings: DecodeSettings, generator: torch.Generator) -> AcceptanceRule:
    if settings.tree:
        return GreedyTreeRule() if settings.greedy else SamplingTreeRule(generator)
    if settings.greedy:
        return GreedyRule()
    return BlockRule(generator) if settings.verification == "block" else SamplingRule(generator)


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
