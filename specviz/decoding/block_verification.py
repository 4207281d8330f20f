"""Block verification: the draft is judged as a whole, not token after token.

Sun et al. 2025, "Block Verification Accelerates Speculative Decoding" (arXiv:2403.10444), Algorithm 2. The output is
distributed as the target's, and the expected number of accepted tokens is never below that of the token rule.
"""

import torch
from torch import Tensor

from specviz.decoding.drafters.protocol import Draft, of_tokens
from specviz.decoding.verification import Verification, draw, excess, normalised


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
    p, q = of_tokens(target_scores, draft.token_ids), draft.token_probs
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
