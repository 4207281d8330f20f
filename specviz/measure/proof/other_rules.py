"""Other acceptance rules, for comparison in the proof: lossless ones, and some that are not, by mistake or by design.

A run never uses one that is not lossless: only `specviz.measure.proof.draws` makes them.
"""

from collections.abc import Callable
from itertools import accumulate
from operator import mul

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.texts import Sentences
from specviz.decoding.drafters.protocol import Draft, pick_probabilities
from specviz.decoding.sampler import Sampling
from specviz.decoding.verification import (
    AcceptanceRule,
    BlockRule,
    SamplingRule,
    Verification,
    draw,
    make_rule,
    residual,
)
from specviz.measure.proof.algebra import ACCEPT, BONUS, REPLACE, Probs, one_hot, to_probs
from specviz.measure.proof.rows import CLASSES, RULES, Pieces, RuleName

say = Sentences("decoding")


class PiecesRule(SamplingRule):
    """A rule that is a choice of pieces: it judges one guess after the other."""

    def __init__(self, generator: torch.Generator, pieces: Pieces) -> None:
        super().__init__(generator)
        self.pieces = pieces

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        accept, replaced, accept_probs = ACCEPT[self.pieces.accept], REPLACE[self.pieces.replace], list[float]()
        rows = to_probs(target_scores)
        for i, token_id in enumerate(draft.token_ids):
            p, q = rows[i], guess_probs(draft, i, len(rows[i]))
            accept_probs.append(float(accept(p, q)[token_id]))
            drawn = float(torch.rand(1, generator=self._generator, dtype=torch.float64))
            if drawn >= accept_probs[i]:
                rest = replaced(p, q, one_hot(token_id, len(p)))
                return Verification(i, draw(torch.from_numpy(rest), self._generator), accept_probs)
        bonus = BONUS[self.pieces.bonus](rows)
        if bonus is None and draft.token_ids:  # the last guess ends the round in place of a bonus
            return Verification(len(draft.token_ids) - 1, draft.token_ids[-1], accept_probs)
        bonus = rows[-1] if bonus is None else bonus
        return Verification(len(draft.token_ids), draw(torch.from_numpy(bonus), self._generator), accept_probs)


def guess_probs(draft: Draft, position: int, vocabulary: int) -> Probs:
    """q of every token: what the guess at this place was drawn from, or 1 for the guess itself."""
    if draft.draft_scores is None:
        return one_hot(draft.token_ids[position], vocabulary)
    return to_probs(draft.draft_scores[position])


class WrongBlock(SamplingRule):
    """WRONG: block verification as vllm-ascend shipped it until issue 7807."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        """Compares the product of min(1, p/q) with the product of random numbers; draws the rest from (p - q)+."""
        count = len(draft.token_ids)
        drawn: list[float] = torch.rand(count, generator=self._generator, dtype=torch.float64).tolist()
        probs = zip(pick_probabilities(target_scores, draft.token_ids), draft.token_probs, strict=True)
        ratios = [min(1.0, p / q) for p, q in probs]
        shares, products = list(accumulate(ratios, mul)), list(accumulate(drawn, mul))
        accepted = max((i + 1 for i in range(count) if shares[i] >= products[i]), default=0)
        target = target_scores[accepted]
        rest = target if accepted == count else residual(target, draft, accepted)
        return Verification(accepted, draw(rest, self._generator), shares)


class OneRareToken(SamplingRule):
    """WRONG: writes the least probable token in place of every token outside the most probable ones."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        real = super().verify(draft, target_scores)
        for i, token_id in enumerate([*draft.token_ids[: real.accepted], real.token_id]):
            p = target_scores[i]
            if token_id not in p.topk(min(CLASSES, len(p))).indices:
                return Verification(i, int(p.argmin()), real.accept_probs[: i + 1])
        return real


class MostProbable(Sampling):
    """WRONG together with a sampling rule: passes on the scores as q, but takes the most probable token."""

    def choose(self, scores: Tensor) -> int:
        return int(scores.argmax())


_OTHERS: dict[RuleName, Callable[[torch.Generator], AcceptanceRule]] = {
    "greedy-draft": SamplingRule,  # of these two, other parts are wrong
    "uncropped": SamplingRule,
    "block": BlockRule,
    "one-rare-token": OneRareToken,
    "wrong-block": WrongBlock,
}


def chain_only(settings: DecodeSettings) -> DecodeSettings:
    """The same settings; InputError: they grow trees."""
    if settings.tree:
        raise InputError(say("chain_only"))
    return settings


def rule_of_proof(name: RuleName, settings: DecodeSettings, generator: torch.Generator) -> AcceptanceRule:
    """The rule of this name; "lossless" is the one that a run with these settings uses, the only one for trees."""
    if name == "lossless":
        return make_rule(settings, generator)
    chain_only(settings)
    if name in _OTHERS:
        return _OTHERS[name](generator)
    pieces = next((rule.pieces for rule in RULES if rule.name == name), None)
    if pieces is None:
        raise InputError(say("no_rule", name=repr(name)))
    return PiecesRule(generator, pieces)
