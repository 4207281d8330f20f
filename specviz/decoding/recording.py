"""Turn the tensors of a round into the plain values of a trace. The time this takes is not part of the round."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat

import torch
from torch import Tensor

from specviz.core.rounds import Candidate, DraftedToken, EmittedKind, EmittedToken, ResidualCandidate, Round, Status
from specviz.decoding.drafters.protocol import Draft
from specviz.decoding.sampler import Sampler
from specviz.decoding.verification import Verification
from specviz.models.tokens import TokenTexts

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
        """One round; `emitted` is what it added to the text, cut after an end-of-text token.

        A guess that was judged and is not in the text is rejected; in a tree, several may be.
        """
        count, token_id = len(draft.token_ids), verification.token_id
        parents = range(-1, count - 1) if draft.parents is None else draft.parents
        path = [*range(verification.accepted)] if verification.path is None else verification.path
        judged = range(len(verification.accept_probs)) if verification.judged is None else verification.judged
        ended = len(emitted) <= verification.accepted  # an accepted end of text: the target's token is not emitted
        taken = path[: min(verification.accepted, len(emitted))]
        reached = {-1, *(taken[:-1] if ended else taken)}  # where the children were judged
        places = {guess: place for place, guess in enumerate(judged) if parents[guess] in reached}  # in `accept_probs`
        left: Status = "discarded" if draft.parents is None else "not taken"
        statuses: list[Status] = [
            "accepted" if guess in taken else "rejected" if guess in places else left for guess in range(count)
        ]
        last = path[-1] if path else -1
        replaced = parents.index(last) if last in parents else count  # by the target's token; count: no guess is
        kind: EmittedKind = "correction" if replaced < count else "bonus"
        drafted = [
            DraftedToken(guess, self._token_texts[guess], status, parent=parent)
            for guess, status, parent in zip(draft.token_ids, statuses, draft.parents or repeat(None), strict=False)
        ]
        added = EmittedToken(kind, token_id, self._token_texts[token_id])
        if self._record:
            rows = target[[*(parent + 1 for parent in parents), last + 1]]  # those of each guess, then of its own token
            p, q, p_of_own, candidates = self._probabilities(draft, rows, verification, replaced)
            drawn = verification.drawn
            drafted = [
                replace(
                    token,
                    target_prob=p[i],
                    draft_prob=q[i],
                    accept_prob=verification.accept_probs[places[i]] if i in places else None,
                    u=drawn[places[i]] if drawn is not None and i in places else None,
                    candidates=candidates[i],
                )
                for i, token in enumerate(drafted)
            ]
            residual_top = self._residual_top(verification) if kind == "correction" else []
            own = candidates[replaced]
            added = replace(added, target_prob=p_of_own, candidates=own, residual_top=residual_top)
        added = EmittedToken("none") if ended else added
        own_tokens = draft.own_tokens or []
        return Round(index, seconds.draft, seconds.verify, seconds.overhead, drafted, added, own_tokens)

    def _residual_top(self, verification: Verification) -> list[ResidualCandidate]:
        if verification.residual is None:  # greedy: all of (p - q)+ lies on the target's most probable token
            return [ResidualCandidate(verification.token_id, self._token_texts[verification.token_id], 1.0)]
        top = verification.residual.clamp(max=1).topk(min(TOP, len(verification.residual)))
        pairs = zip(top.indices.tolist(), top.values.tolist(), strict=True)
        return [ResidualCandidate(token_id, self._token_texts[token_id], r) for token_id, r in pairs if r > 0]

    def _probabilities(
        self, draft: Draft, target: Tensor, verification: Verification, replaced: int
    ) -> tuple[list[float], list[float | None], float, list[list[Candidate]]]:
        """What the trace stores, gathered for all positions at once.

        p and q of each guess, p of the target's own token, and the candidates of each guess, then of the bonus.
        """
        count, known = len(draft.token_ids), draft.own_tokens is None
        both = self._both(draft, target)  # p in n + 1 rows, then q in n rows
        guess = torch.tensor([*draft.token_ids, verification.token_id])[:, None]
        chosen = guess.clone()
        chosen[replaced] = verification.token_id
        top = both.topk(min(TOP, both.shape[-1]))
        likely = top.indices.where(top.values > 0, torch.cat((guess, guess[:-1])))  # fewer tokens may be possible
        from_p, from_q = likely[: count + 1], torch.cat((likely[count + 1 :], likely[count : count + 1]))
        ids = torch.cat((guess, chosen, from_p, from_q), dim=1)
        # By rounding, a softmax entry can be above 1; a probability in a trace cannot.
        rows: list[list[float]] = both.gather(1, torch.cat((ids, ids[:-1]))).clamp_(max=1).tolist()
        rows_p, rows_q = rows[: count + 1], [*rows[count + 1 :], [0.0] * ids.shape[1]]  # the bonus has no draft
        candidates = [
            self._candidates(*row, known and i < count)
            for i, row in enumerate(zip(ids.tolist(), rows_p, rows_q, strict=True))
        ]
        q = [row[0] if known else None for row in rows_q[:count]]
        return [row[0] for row in rows_p[:count]], q, rows_p[replaced][1], candidates

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
