"""One round of speculative decoding as data: the tokens drafted, what happened to each, and the token the target added.

The dataclasses mirror the trace file field by field; `specviz.core.trace` holds the run they belong to.
"""

import operator
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

from pydantic import FailFast, Field, TypeAdapter

Status = Literal["accepted", "rejected", "discarded"]
EmittedKind = Literal["correction", "bonus", "none"]  # as the trace file has it
TargetStatus = Literal["correction", "bonus", "own", "none"]  # as it is shown: nothing was drafted before an own token
MAX_CANDIDATES = 64

TokenId = Annotated[int, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Piece = Annotated[str, Field(max_length=2_000)]  # one token's text; bytes that are no whole character stand as ⟨E2⟩


class Candidate(NamedTuple):
    """One alternative at a position, with what each model thought of it."""

    id: TokenId
    text: Piece
    p: Probability  # target
    q: Probability | None  # draft; None where it is unknown: at a bonus, and from a draft with another tokenizer


class ResidualCandidate(NamedTuple):
    """One of the most likely tokens of the residual distribution that a correction was drawn from."""

    id: TokenId
    text: Piece
    r: Probability


@dataclass(frozen=True, slots=True)
class DraftedToken:
    """One token the draft proposed, and what happened to it."""

    id: TokenId
    text: Piece
    status: Status
    target_prob: Probability | None = None  # None where recording was off
    draft_prob: Probability | None = None  # None also for a draft with another tokenizer: it has no such token
    accept_prob: Probability | None = None  # None for a discarded token: it was never judged
    u: Probability | None = None  # the number drawn; None when greedy
    candidates: Annotated[list[Candidate], FailFast(), Field(max_length=MAX_CANDIDATES)] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EmittedToken:
    """The token the target adds at the end of a round; none after an accepted end of text."""

    kind: EmittedKind
    id: TokenId | None = None
    text: Piece = ""
    target_prob: Probability | None = None
    candidates: Annotated[list[Candidate], FailFast(), Field(max_length=MAX_CANDIDATES)] = field(default_factory=list)
    residual_top: Annotated[list[ResidualCandidate], FailFast(), Field(max_length=MAX_CANDIDATES)] = field(
        default_factory=list
    )


@dataclass(frozen=True, slots=True)
class Round:
    """One draft phase and the target pass that checked it."""

    index: Annotated[int, Field(ge=0)]
    draft_seconds: Seconds
    verify_seconds: Seconds
    overhead_seconds: Seconds  # the rest of the round, without recording
    drafted: Annotated[list[DraftedToken], FailFast(), Field(max_length=64)]
    emitted: EmittedToken
    # What a draft with another tokenizer wrote, in its own tokens. The file leaves out an empty list.
    draft_tokens: Annotated[list[Piece], FailFast(), Field(max_length=64, exclude_if=operator.not_)] = field(
        default_factory=list
    )

    @property
    def accepted(self) -> int:
        """Number of drafted tokens that survived."""
        return sum(token.status == "accepted" for token in self.drafted)

    @property
    def rejected(self) -> int:
        """0 or 1: at most one drafted token a round is judged and fails."""
        return sum(token.status == "rejected" for token in self.drafted)

    @property
    def discarded(self) -> int:
        """Number of drafted tokens that were never judged."""
        return sum(token.status == "discarded" for token in self.drafted)

    @property
    def added(self) -> TargetStatus:
        """What the token that the target added is: the file calls it a bonus also where nothing was drafted."""
        return "own" if self.emitted.kind == "bonus" and not self.drafted else self.emitted.kind

    @property
    def seconds(self) -> float:
        """The whole round, in seconds."""
        return self.draft_seconds + self.verify_seconds + self.overhead_seconds

    @property
    def emitted_ids(self) -> list[int]:
        """The token ids this round adds to the text."""
        accepted = [token.id for token in self.drafted if token.status == "accepted"]
        return accepted if self.emitted.id is None else [*accepted, self.emitted.id]


_ROUND: TypeAdapter[Round] = TypeAdapter(Round)


def dump_round(round: Round) -> str:
    """One round as the trace file writes it."""
    return _ROUND.dump_json(round).decode()


def parse_round(text: str | bytes) -> Round:
    """The round `dump_round` wrote; types and ranges are checked, its place in a trace is not."""
    return _ROUND.validate_json(text)
