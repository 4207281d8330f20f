"""Rules other than the lossless ones, for the proof that the lossless ones are: slower, or wrong on purpose.

Nothing here is on a run's path: `make_rule` never makes one of these, only `specviz.measure.proof.draws` does.
"""

import torch
from torch import Tensor

from specviz.core.errors import InputError
from specviz.decoding.drafters import Draft
from specviz.decoding.sampler import Sampler
from specviz.decoding.verification import AcceptanceRule, SamplingRule, Verification, residual
from specviz.measure.proof.rule_names import KEPT_LIKELIEST, LENIENCE, RuleName


class MatchRule:
    """Lossless: draw the target's own token, and keep the drafted one if it is the same. Accepts with sum of p·q.

    This is how llama.cpp and transformers' early assisted sampling verify; the rule of Leviathan et al. 2023 accepts
    with sum of min(p, q), which is never less.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target: Tensor) -> Verification:
        """The prefix on which the target's own draws agree, then its own token."""
        accept_probs: list[float] = []
        for i, token_id in enumerate(draft.token_ids):
            accept_probs.append(float(target[i, token_id]))
            own = int(torch.multinomial(target[i], 1, generator=self._generator))
            if own != token_id:
                return Verification(i, own, accept_probs)
        bonus = int(torch.multinomial(target[-1], 1, generator=self._generator))
        return Verification(len(draft.token_ids), bonus, accept_probs)


class AlteredRule:
    """Accept with a probability of one's own, correct from a distribution of one's own: two chances to be wrong."""

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator

    def verify(self, draft: Draft, target: Tensor) -> Verification:
        """As `SamplingRule.judge`, but for the two methods below."""
        accept_probs: list[float] = []
        for i in range(len(draft.token_ids)):
            accept_probs.append(self._acceptance(draft, target[i], i))
            drawn = float(torch.rand(1, generator=self._generator, dtype=torch.float64))
            if drawn >= accept_probs[i]:
                return Verification(i, self._draw(self._correction(draft, target[i], i)), accept_probs)
        return Verification(len(draft.token_ids), self._draw(target[-1]), accept_probs)

    def _acceptance(self, draft: Draft, p: Tensor, i: int) -> float:
        return min(1.0, float(p[draft.token_ids[i]]) / _q(draft, i))

    def _correction(self, draft: Draft, p: Tensor, i: int) -> Tensor:
        return residual(p, draft, i)

    def _draw(self, probabilities: Tensor) -> int:
        return int(torch.multinomial(probabilities, 1, generator=self._generator))


class NoResidual(AlteredRule):
    """WRONG: after a rejection, draws from p itself."""

    def _correction(self, draft: Draft, p: Tensor, i: int) -> Tensor:
        return p


class InTopK(AlteredRule):
    """WRONG: keeps what is among the target's likeliest, never mind how likely, and nothing else."""

    def _acceptance(self, draft: Draft, p: Tensor, i: int) -> float:
        likeliest = p.topk(min(KEPT_LIKELIEST, len(p))).indices
        return float(draft.token_ids[i] in likeliest)


class Lenient(AlteredRule):
    """WRONG: compares with less than q (Leviathan et al. 2023, appendix A.5, "lenience")."""

    def _acceptance(self, draft: Draft, p: Tensor, i: int) -> float:
        return min(1.0, float(p[draft.token_ids[i]]) / (LENIENCE * _q(draft, i)))


def _q(draft: Draft, i: int) -> float:
    return 1.0 if draft.draft_scores is None else float(draft.draft_scores[i, draft.token_ids[i]])


class LikeliestOf:
    """WRONG together with a sampling rule: hands on the scores to draw from, and takes the likeliest instead."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def scores(self, logits: Tensor) -> Tensor:
        """The sampler's own."""
        return self._sampler.scores(logits)

    def choose(self, scores: Tensor) -> int:
        """The likeliest, though the scores are handed on as what it was drawn from."""
        return int(scores.argmax())

    def probabilities(self, scores: Tensor) -> Tensor:
        """The sampler's own."""
        return self._sampler.probabilities(scores)


_ALTERED = {"no-residual": NoResidual, "top-k": InTopK, "lenient": Lenient}


def make_other_rule(name: RuleName, generator: torch.Generator) -> AcceptanceRule:
    """The rule of this name for sampling. With "greedy-draft" and "uncropped" it is the real one: what is wrong there
    is the draft's choice (`drafts_with`) and the target's cache (`specviz.measure.proof.remembered.NeverCropped`).

    Raises:
        InputError: there is no such rule.
    """
    if name in ("lossless", "greedy-draft", "uncropped"):
        return SamplingRule(generator)
    if name == "match":
        return MatchRule(generator)
    if name in _ALTERED:
        return _ALTERED[name](generator)
    raise InputError(f"There is no rule named {name!r}.")


def drafts_with(name: RuleName, sampler: Sampler) -> Sampler:
    """How the draft chooses its tokens under this rule: as the target does, but for the greedy draft."""
    return LikeliestOf(sampler) if name == "greedy-draft" else sampler
