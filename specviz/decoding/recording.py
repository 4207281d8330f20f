"""Turn the tensors of a round into the plain values of a trace. The time this takes is not part of the round."""

from dataclasses import dataclass

import torch
from torch import Tensor

from specviz.core.trace import Candidate, DraftedToken, EmittedKind, EmittedToken, ResidualCandidate, Round, Status
from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.sampler import Sampler
from specviz.decoding.verification import Verification
from specviz.models.token_texts import TokenTexts

TOP = 5  # candidates stored from each model's distribution


@dataclass(frozen=True, slots=True)
class Seconds:
    """The times of one round."""

    draft: float
    verify: float
    overhead: float


class Recorder:
    """Makes the rounds of a trace; without `record`, only ids, statuses and times."""

    def __init__(self, token_texts: TokenTexts, sampler: Sampler, record: bool) -> None:
        self._token_texts = token_texts
        self._sampler = sampler
        self._record = record

    def round(
        self, index: int, seconds: Seconds, draft: Draft, target: Tensor, verification: Verification, emitted: list[int]
    ) -> Round:
        """One round; `emitted` is what it added to the text, cut after an end-of-text token."""
        accepted = min(verification.accepted, len(emitted))
        ended = len(emitted) <= verification.accepted  # an accepted end of text: the target's token is not emitted
        rows = self._rows(draft, target, verification) if self._record else None
        drafted = [self._drafted(i, draft, verification, accepted, ended, rows) for i in range(len(draft.token_ids))]
        last = EmittedToken("none") if ended else self._emitted(draft, verification, rows)
        own = draft.own_tokens or []
        return Round(index, seconds.draft, seconds.verify, seconds.overhead, drafted, last, own)

    def _drafted(
        self, i: int, draft: Draft, verification: Verification, accepted: int, ended: bool, rows: "_Rows | None"
    ) -> DraftedToken:
        token_id = draft.token_ids[i]
        judged = i < accepted or (i == accepted and not ended)
        status: Status = "accepted" if i < accepted else "rejected" if judged else "discarded"
        if rows is None:
            return DraftedToken(token_id, self._token_texts[token_id], status)
        return DraftedToken(
            token_id,
            self._token_texts[token_id],
            status,
            target_prob=rows.p_of_draft[i],
            draft_prob=rows.q_of_draft[i],
            accept_prob=verification.accept_probs[i] if judged else None,
            u=verification.drawn[i] if judged and verification.drawn is not None else None,
            candidates=rows.candidates[i],
        )

    def _emitted(self, draft: Draft, verification: Verification, rows: "_Rows | None") -> EmittedToken:
        kind: EmittedKind = "correction" if verification.accepted < len(draft.token_ids) else "bonus"
        token_id = verification.token_id
        if rows is None:
            return EmittedToken(kind, token_id, self._token_texts[token_id])
        candidates = rows.candidates[verification.accepted]
        residual_top = self._residual_top(verification) if kind == "correction" else []
        return EmittedToken(kind, token_id, self._token_texts[token_id], rows.p_of_emitted, candidates, residual_top)

    def _residual_top(self, verification: Verification) -> list[ResidualCandidate]:
        if verification.residual is None:  # greedy: all of (p - q)+ lies on the target's most probable token
            return [ResidualCandidate(verification.token_id, self._token_texts[verification.token_id], 1.0)]
        top = verification.residual.topk(min(TOP, len(verification.residual)))
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return [
            ResidualCandidate(token_id, self._token_texts[token_id], _probability(r)) for token_id, r in pairs if r > 0
        ]

    def _rows(self, draft: Draft, target: Tensor, verification: Verification) -> "_Rows":
        """The probabilities that the trace stores, gathered for all positions at once."""
        p = self._sampler.probabilities(target)  # (n + 1, vocabulary)
        q = self._draft_probabilities(draft, p)  # (n + 1, vocabulary); the last row, for the bonus, is zero
        top = min(TOP, p.shape[-1])
        guess = torch.tensor([*draft.token_ids, verification.token_id])
        chosen = guess.clone()
        chosen[verification.accepted] = verification.token_id
        ids = torch.cat([guess[:, None], chosen[:, None], p.topk(top).indices, q.topk(top).indices], dim=1)
        rows = list(zip(ids.tolist(), p.gather(1, ids).tolist(), q.gather(1, ids).tolist(), strict=True))
        count, known = len(draft.token_ids), draft.own_tokens is None
        return _Rows(
            p_of_draft=[_probability(row_p[0]) for _, row_p, _ in rows[:count]],
            q_of_draft=[_probability(row_q[0]) if known else None for _, _, row_q in rows[:count]],
            p_of_emitted=_probability(rows[verification.accepted][1][1]),
            candidates=[self._candidates(*row, top, known and i < count) for i, row in enumerate(rows)],
        )

    def _draft_probabilities(self, draft: Draft, p: Tensor) -> Tensor:
        q = torch.zeros_like(p)
        if draft.draft_scores is not None:
            q[:-1] = self._sampler.probabilities(draft.draft_scores)
        else:  # a point mass on each guess
            q[torch.arange(len(draft.token_ids)), torch.tensor(draft.token_ids, dtype=torch.long)] = 1.0
        return q

    def _candidates(self, ids: list[int], p: list[float], q: list[float], top: int, known: bool) -> list[Candidate]:
        """The guess, the chosen token and the most probable ones of both models, by p; `known` says if q is known."""
        from_target = len(ids) - top  # here the draft's top few begin: with a point mass, all but one have q = 0
        seen = {ids[i]: (p[i], q[i]) for i in range(len(ids)) if (p[i] if i < from_target else q[i]) > 0 or i < 2}
        ordered = sorted(seen.items(), key=lambda entry: (-entry[1][0], -entry[1][1]))
        return [
            Candidate(token_id, self._token_texts[token_id], _probability(a), _probability(b) if known else None)
            for token_id, (a, b) in ordered
        ]


@dataclass(frozen=True, slots=True)
class _Rows:
    p_of_draft: list[float]
    q_of_draft: list[float | None]
    p_of_emitted: float
    candidates: list[list[Candidate]]  # for each drafted position, then the bonus's


def _probability(value: float) -> float:
    """By rounding, a softmax entry can be above 1; a probability in a trace cannot."""
    return min(1.0, value)
