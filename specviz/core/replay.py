"""The counterfactual: under greedy decoding the output is fixed, so every draft length can be replayed.

What the draft guesses after a text depends only on that text. One pass of the draft over prompt and output gives its
guess at each place, and from these follows which tokens each round accepts and rejects, without decoding again.
Only what the draft writes after a wrong guess is unknown. The stage (assets/browser/trace/replay.ts) takes it from the
run on screen, where that has drafted it.

It is exact for greedy decoding with a fixed draft length and models in float32. In a coarser number format a pass over
one token and a pass over several round differently, so a run of another length may choose other tokens.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from specviz.core.metrics import Costs
from specviz.core.rounds import DraftedToken, EmittedKind, EmittedToken, Piece, Round, Seconds, Status, TokenId
from specviz.core.trace import MAX_TOKENS, DrafterInfo, Trace

TokenIds = Annotated[list[TokenId], Field(max_length=MAX_TOKENS)]


@dataclass(frozen=True, slots=True)
class DraftGuesses:
    """What one drafter would guess at each place of a greedy output, with the true text before that place."""

    drafter: DrafterInfo
    token_ids: TokenIds  # the output
    guesses: TokenIds | None  # a model's guess at each place; None where a round's guesses are in `proposals`
    proposals: (
        Annotated[list[TokenIds], Field(max_length=MAX_TOKENS)] | None
    )  # lookup's and heads', up to 16 from a place
    pieces: dict[TokenId, Piece]  # the text of each token in it
    exact: bool  # whether a real run chooses the same tokens, models in float32 do
    seconds: Seconds = 0.0  # the time it took

    def proposal(self, start: int, count: int) -> list[int | None]:
        """The `count` guesses (lookup: at most) of a round that starts at `start`; None where a guess is unknown."""
        if self.proposals is not None:
            return list(self.proposals[start][:count])
        assert self.guesses is not None
        known: list[int | None] = []
        for place in range(start, min(start + count, len(self.guesses))):
            known.append(self.guesses[place])
            if self.guesses[place] != self.token_ids[place]:
                break  # from here the draft reads a text that was never written
        return known + [None] * (count - len(known))

    def matches(self) -> list[bool | None]:
        """For each place whether the guess there is the target's own token; None where prompt lookup has no guess."""
        first = [self.proposal(place, 1) for place in range(len(self.token_ids))]
        return [guess[0] == own if guess else None for guess, own in zip(first, self.token_ids, strict=True)]


def replay(
    draft_guesses: DraftGuesses, draft_length: int, max_new_tokens: int, ends: Collection[int] = frozenset()
) -> list[Round]:
    """The rounds of decoding with this draft length, token by token as in the real loop, without texts and times.

    A guess after a wrong one has no id: it is not known.
    """
    rounds: list[Round] = []
    start = 0
    while start < len(draft_guesses.token_ids):
        count = min(draft_length, max_new_tokens - start - 1)  # leaves room for the target's own token
        proposal = draft_guesses.proposal(start, count)
        rounds.append(_round(len(rounds), draft_guesses.token_ids[start:], proposal, ends))
        start += rounds[-1].emits
    return rounds


def _round(index: int, output: Sequence[int], proposal: list[int | None], ends: Collection[int]) -> Round:
    """The result of one proposal: the target accepts what equals its own output, up to an end of text."""
    accepted, ended = 0, False
    while accepted < len(proposal) and not ended and proposal[accepted] == output[accepted]:
        ended = output[accepted] in ends
        accepted += 1
    judged = accepted + (not ended and accepted < len(proposal))
    statuses: list[Status] = ["accepted"] * accepted
    statuses += ["rejected"] * (judged - accepted)
    statuses += ["discarded"] * (len(proposal) - judged)
    guesses = [DraftedToken(token_id, None, status) for token_id, status in zip(proposal, statuses, strict=True)]
    kind: EmittedKind = "none" if ended else "correction" if judged > accepted else "bonus"
    return Round(index, None, None, None, guesses, EmittedToken(kind, None if ended else output[accepted]))


def ends_of(trace: Trace) -> frozenset[int]:
    """The token id that ended this output, if one did. No other end of text is in it: it would have ended there."""
    return frozenset(trace.output.token_ids[-1:]) if trace.output.stopped_by == "eos" else frozenset()


_DRAFT_GUESSES: TypeAdapter[DraftGuesses] = TypeAdapter(DraftGuesses)


def dump_draft_guesses(draft_guesses: DraftGuesses) -> str:
    return _DRAFT_GUESSES.dump_json(draft_guesses).decode()


def parse_draft_guesses(text: str | bytes) -> DraftGuesses:
    draft_guesses = _DRAFT_GUESSES.validate_json(text)
    each = draft_guesses.proposals if draft_guesses.guesses is None else draft_guesses.guesses
    if each is None or len(each) != len(draft_guesses.token_ids):
        raise ValueError("The DraftGuesses do not have one guess, or one draft, for each place of the output.")
    return draft_guesses


@dataclass(frozen=True, slots=True)
class Prospect:
    """One draft, compared with others along the same output: its guesses, and its costs on this machine."""

    draft: str  # its name in a request
    draft_guesses: DraftGuesses
    costs: Costs  # of the pair, calibrated on this machine
    max_new_tokens: int
    ends: list[int]  # the token that ended the output; empty if the length did
    costs_of: str = ""  # the quiet processor that they are of, where this machine is too busy to be calibrated

    def replay(self, draft_length: int) -> list[Round]:
        return replay(self.draft_guesses, draft_length, self.max_new_tokens, self.ends)
