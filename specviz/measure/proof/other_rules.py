"""Other acceptance rules, for comparison in the proof: lossless ones, and some that are not, by mistake or by design.

A run never uses one that is not lossless: only `specviz.measure.proof.draws` makes them.
"""

import math
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from operator import mul

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
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
from specviz.measure.proof.rows import (
    CLASSES,
    ENSEMBLE_WEIGHT,
    LENIENCE,
    TOP_ACCEPTED,
    TYPICAL_ALPHA,
    TYPICAL_THRESHOLD,
    Exact,
    RuleName,
)

AcceptanceChance = Callable[[Tensor, int, float], float]  # of a token, by p and by its q


class MatchRule(SamplingRule):
    """Lossless: draw the target's own token, and accept the drafted one if it is the same: llama.cpp’s default."""

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        accept_probs = pick_probabilities(target_scores, draft.token_ids)
        for i, token_id in enumerate(draft.token_ids):
            own = draw(target_scores[i], self._generator)
            if own != token_id:
                return Verification(i, own, accept_probs[: i + 1])
        return Verification(len(draft.token_ids), draw(target_scores[-1], self._generator), accept_probs)


class AlteredRule(SamplingRule):
    """A wrong rule: it accepts with another probability, corrects from p itself, or both."""

    def __init__(self, generator: torch.Generator, acceptance: AcceptanceChance, corrects_from_p: bool = False) -> None:
        super().__init__(generator)
        self._acceptance, self._corrects_from_p = acceptance, corrects_from_p

    def verify(self, draft: Draft, target_scores: Tensor) -> Verification:
        accept_probs: list[float] = []
        for i, (token_id, q) in enumerate(zip(draft.token_ids, draft.token_probs, strict=True)):
            p = target_scores[i]
            accept_probs.append(self._acceptance(p, token_id, q))
            drawn = float(torch.rand(1, generator=self._generator, dtype=torch.float64))
            if drawn >= accept_probs[i]:
                rest = p if self._corrects_from_p else residual(p, draft, i)
                return Verification(i, draw(rest, self._generator), accept_probs)
        return Verification(len(draft.token_ids), draw(target_scores[-1], self._generator), accept_probs)

    def exact(self, p: Tensor, draft: Draft) -> Exact:
        """Of the first token of a draft that is drawn from its scores; p is (vocabulary,).

        It is written if it is accepted, and otherwise what the rule draws instead. Nothing is drawn here.
        """
        assert draft.draft_scores is not None
        q = draft.draft_scores[0].double()
        chances = [self._acceptance(p, i, each) if each > 0 else 0.0 for i, each in enumerate(q.tolist())]
        accepted = q * torch.tensor(chances, dtype=torch.float64)
        rest = p if self._corrects_from_p else residual(p, draft, 0)
        written = accepted + (1 - accepted.sum()) * rest.double()
        return Exact(float(accepted.sum()), float((written - p.double()).abs().sum() / 2))


def lossless(p: Tensor, token_id: int, q: float) -> float:
    return min(1.0, float(p[token_id]) / q)


def accept_top_k(p: Tensor, token_id: int, q: float) -> float:
    """WRONG: accepts every token among the target's most probable ones, and nothing else."""
    return float(token_id in p.topk(min(TOP_ACCEPTED, len(p))).indices)


def lenient(p: Tensor, token_id: int, q: float) -> float:
    """WRONG: divides by less than q (Leviathan et al. 2023, appendix A.5, "lenience")."""
    return lossless(p, token_id, LENIENCE * q)


def typical(p: Tensor, token_id: int, q: float) -> float:
    """LOSSY: accepts every token that is probable enough for the target (Cai et al. 2024, Medusa, section 3.3.1)."""
    entropy = float(torch.special.entr(p).sum())
    return float(p[token_id] > min(TYPICAL_THRESHOLD, TYPICAL_ALPHA * math.exp(-entropy)))


def ensemble(p: Tensor, token_id: int, q: float) -> float:
    """LOSSY: verifies against w·p + (1 - w)·q, as `assistant_ensemble_weight` of transformers does (DIVERSE, 2026)."""
    return min(1.0, 1 - ENSEMBLE_WEIGHT + ENSEMBLE_WEIGHT * float(p[token_id]) / q)


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
    "match": MatchRule,
    "block": BlockRule,
    "no-residual": partial(AlteredRule, acceptance=lossless, corrects_from_p=True),
    "top-k": partial(AlteredRule, acceptance=accept_top_k),
    "lenient": partial(AlteredRule, acceptance=lenient),
    "one-rare-token": OneRareToken,
    "wrong-block": WrongBlock,
    "typical": partial(AlteredRule, acceptance=typical, corrects_from_p=True),
    "ensemble": partial(AlteredRule, acceptance=ensemble),
}


def rule_of_proof(name: RuleName, settings: DecodeSettings, generator: torch.Generator) -> AcceptanceRule:
    """The rule of this name; "lossless" is the one that a run with these settings uses, the only one for trees."""
    if name == "lossless":
        return make_rule(settings, generator)
    if settings.tree:
        raise InputError("The rules for comparison judge a chain: leave out the tree, or choose the lossless rule.")
    if name not in _OTHERS:
        raise InputError(f"There is no rule named {name!r}.")
    return _OTHERS[name](generator)
