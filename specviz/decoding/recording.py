"""Turn the tensors of a round into the plain values of a trace. The time this takes is not part of the round."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import repeat

import torch
from torch import Tensor

from specviz.core.rounds import Candidate, DraftedToken, EmittedKind, EmittedToken, ResidualCandidate, Round, Status
from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.sampler import Sampler
from specviz.decoding.verification import Verification
from specviz.models.tokens import TokenTexts


@dataclass(frozen=True, slots=True)
class Fates:
    """The fates of n guesses, and where the target's own token belongs."""

    statuses: list[Status]
    judgements: list[int | None]  # for each guess: its place in `Verification.accept_probs`; None: it was never judged
    place: int  # the target's token is in the place of this guess: a correction; n: of none, it is a bonus
    rows: list[int]  # the row of the target's scores for each guess, then for its own token


def fates_of(draft: Draft, verification: Verification, accepted: int, ended: bool) -> Fates:
    """The fates of a round's guesses. `accepted` are in the text: fewer than the rule accepted if one `ended` it.

    A guess that was judged and is not in the text is rejected; in a tree, several may be.
    """
    parents = range(-1, len(draft.token_ids) - 1) if draft.parents is None else draft.parents
    path = [*range(verification.accepted)] if verification.path is None else verification.path
    judged = range(len(verification.accept_probs)) if verification.judged is None else verification.judged
    taken = path[:accepted]
    reached = {-1, *(taken[:-1] if ended else taken)}  # where the children were judged
    judgements: list[int | None] = [None] * len(parents)
    for place, guess in enumerate(judged):
        if parents[guess] in reached:
            judgements[guess] = place
    left: Status = "discarded" if draft.parents is None else "not taken"
    statuses: list[Status] = [
        "accepted" if guess in taken else left if judgement is None else "rejected"
        for guess, judgement in enumerate(judgements)
    ]
    last = path[-1] if path else -1
    place = parents.index(last) if last in parents else len(parents)
    return Fates(statuses, judgements, place, [*(parent + 1 for parent in parents), last + 1])


TOP = 5  # candidates stored from each model's distribution
_candidate: Callable[[Iterable[object]], Candidate] = partial(tuple.__new__, Candidate)  # made by hundreds


@dataclass(frozen=True, slots=True)
class RoundSeconds:
    draft: float
    verify: float
    overhead: float


@dataclass
class Recorder:
    """Makes the rounds of a trace; without `record`, only ids, statuses and times."""

    _token_texts: TokenTexts
    _sampler: Sampler
    _record: bool

    def round(
        self,
        index: int,
        seconds: RoundSeconds,
        draft: Draft,
        target: Tensor,
        verification: Verification,
        emitted: list[int],
    ) -> Round:
        """One round; `emitted` is what it added to the text, cut after an end-of-text token."""
        accepted = min(verification.accepted, len(emitted))
        ended = len(emitted) <= verification.accepted  # an accepted end of text: the target's token is not emitted
        fates = fates_of(draft, verification, accepted, ended)
        rows = self._rows(draft, target[fates.rows], verification, fates.place) if self._record else None
        drafted = [self._drafted(i, draft, verification, fates, rows) for i in range(len(draft.token_ids))]
        last = EmittedToken("none") if ended else self._emitted(draft, verification, fates.place, rows)
        own = draft.own_tokens or []
        return Round(index, seconds.draft, seconds.verify, seconds.overhead, drafted, last, own)

    def _drafted(
        self, i: int, draft: Draft, verification: Verification, fates: Fates, rows: "_Rows | None"
    ) -> DraftedToken:
        token_id, judgement = draft.token_ids[i], fates.judgements[i]
        parent = draft.parents[i] if draft.parents is not None else None
        if rows is None:
            return DraftedToken(token_id, self._token_texts[token_id], fates.statuses[i], parent=parent)
        drawn = verification.drawn
        return DraftedToken(
            token_id,
            self._token_texts[token_id],
            fates.statuses[i],
            target_prob=rows.p_of_draft[i],
            draft_prob=rows.q_of_draft[i],
            accept_prob=verification.accept_probs[judgement] if judgement is not None else None,
            u=drawn[judgement] if judgement is not None and drawn is not None else None,
            candidates=rows.candidates[i],
            parent=parent,
        )

    def _emitted(self, draft: Draft, verification: Verification, place: int, rows: "_Rows | None") -> EmittedToken:
        kind: EmittedKind = "correction" if place < len(draft.token_ids) else "bonus"
        token_id = verification.token_id
        if rows is None:
            return EmittedToken(kind, token_id, self._token_texts[token_id])
        candidates = rows.candidates[place]
        residual_top = self._residual_top(verification) if kind == "correction" else []
        return EmittedToken(kind, token_id, self._token_texts[token_id], rows.p_of_emitted, candidates, residual_top)

    def _residual_top(self, verification: Verification) -> list[ResidualCandidate]:
        if verification.residual is None:  # greedy: all of (p - q)+ lies on the target's most probable token
            return [ResidualCandidate(verification.token_id, self._token_texts[verification.token_id], 1.0)]
        top = verification.residual.clamp(max=1).topk(min(TOP, len(verification.residual)))
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return [ResidualCandidate(token_id, self._token_texts[token_id], r) for token_id, r in pairs if r > 0]

    def _rows(self, draft: Draft, target: Tensor, verification: Verification, place: int) -> "_Rows":
        """The probabilities that the trace stores, gathered for all positions at once; `place` as in `Fates`."""
        count, known = len(draft.token_ids), draft.own_tokens is None
        both = self._both(draft, target)  # p in n + 1 rows, then q in n rows
        guess = torch.tensor([*draft.token_ids, verification.token_id])[:, None]
        chosen = guess.clone()
        chosen[place] = verification.token_id
        top = both.topk(min(TOP, both.shape[-1]))
        likely = top.indices.where(top.values > 0, torch.cat((guess, guess[:-1])))  # fewer tokens may be possible
        from_p, from_q = likely[: count + 1], torch.cat((likely[count + 1 :], likely[count : count + 1]))
        ids = torch.cat((guess, chosen, from_p, from_q), dim=1)
        # By rounding, a softmax entry can be above 1; a probability in a trace cannot.
        rows: list[list[float]] = both.gather(1, torch.cat((ids, ids[:-1]))).clamp_(max=1).tolist()
        rows_p, rows_q = rows[: count + 1], [*rows[count + 1 :], [0.0] * ids.shape[1]]  # the bonus has no draft
        return _Rows(
            p_of_draft=[row[0] for row in rows_p[:count]],
            q_of_draft=[row[0] if known else None for row in rows_q[:count]],
            p_of_emitted=rows_p[place][1],
            candidates=[
                self._candidates(*row, known and i < count)
                for i, row in enumerate(zip(ids.tolist(), rows_p, rows_q, strict=True))
            ],
        )

    def _both(self, draft: Draft, target: Tensor) -> Tensor:
        """The target's probabilities and, below them, the draft's, from one call of the sampler."""
        if draft.draft_scores is not None:
            return self._sampler.probabilities(torch.cat((target, draft.draft_scores)))
        q = torch.zeros_like(target[:-1])  # a point mass on each guess
        q[torch.arange(len(draft.token_ids)), torch.tensor(draft.token_ids, dtype=torch.long)] = 1.0
        return torch.cat((self._sampler.probabilities(target), q))

    def _candidates(self, ids: list[int], p: list[float], q: list[float], known: bool) -> list[Candidate]:
        """Each token once, by p and then by q; `known` says if q is known."""
        each = dict(zip(ids, zip(p, q, strict=True), strict=True))
        ordered = sorted(each, key=each.__getitem__, reverse=True)
        ps, qs = zip(*map(each.__getitem__, ordered), strict=True)
        texts = map(self._token_texts.__getitem__, ordered)
        return list(map(_candidate, zip(ordered, texts, ps, qs if known else repeat(None), strict=False)))


@dataclass(frozen=True, slots=True)
class _Rows:
    p_of_draft: list[float]
    q_of_draft: list[float | None]
    p_of_emitted: float
    candidates: list[list[Candidate]]  # for each drafted position, then the bonus's
