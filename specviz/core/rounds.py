"""One round of speculative decoding as data: the tokens drafted, what happened to each, and the token the target added.

The dataclasses mirror the trace file field by field; `specviz.core.trace` holds the run they belong to.
"""

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from specviz.core.errors import InputError
from specviz.core.outside import MostItems

Status = Literal["accepted", "rejected", "discarded", "not taken"]  # the last: a node of a tree, never judged
EmittedKind = Literal["correction", "bonus", "none"]  # as the trace file has it
NEVER_JUDGED = ("discarded", "not taken")
NOT_REPORTED = "⟨?⟩"  # is shown for a token that the system which wrote the run does not report
TargetStatus = Literal["correction", "bonus", "own", "none"]  # as it is shown: nothing was drafted before an own token
MAX_CANDIDATES = 64

TokenId = Annotated[int, Field(ge=0, lt=2**31)]
Seconds = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
# The place of a node's parent among the drafted tokens of its round; -1: the text. The file leaves out None: a chain.
Parent = Annotated[int | None, Field(ge=-1, lt=64, exclude_if=lambda parent: parent is None)]
Piece = Annotated[str, Field(max_length=2_000)]  # one token's text; bytes that are no whole character stand as ⟨E2⟩


class Candidate(NamedTuple):
    id: TokenId
    text: Piece
    p: Probability  # target
    q: Probability | None  # draft; None where it is unknown: at a bonus, and from a draft with another tokenizer


class ResidualCandidate(NamedTuple):
    id: TokenId
    text: Piece
    r: Probability


@dataclass(frozen=True, slots=True)
class DraftedToken:
    """One token the draft proposed, and what happened to it."""

    id: TokenId | None  # None where another system wrote the run and does not report it; so is the text
    text: Piece | None
    status: Status
    target_prob: Probability | None = None  # None where recording was off
    draft_prob: Probability | None = None  # None also for a draft with another tokenizer: it has no such token
    accept_prob: Probability | None = None  # None for a discarded token: it was never judged
    u: Probability | None = None  # the number drawn; None when greedy
    candidates: Annotated[list[Candidate], MostItems(MAX_CANDIDATES)] = field(default_factory=list)
    parent: Parent = None

    @property
    def shown(self) -> str:
        """Its text, or a sign where that is not reported."""
        return NOT_REPORTED if self.text is None else self.text


@dataclass(frozen=True, slots=True)
class EmittedToken:
    kind: EmittedKind
    id: TokenId | None = None  # None without a token, or where another system does not report it
    text: Piece = ""
    target_prob: Probability | None = None
    candidates: Annotated[list[Candidate], MostItems(MAX_CANDIDATES)] = field(default_factory=list)
    residual_top: Annotated[list[ResidualCandidate], MostItems(MAX_CANDIDATES)] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Round:
    """One draft phase and the target pass that checked it."""

    index: Annotated[int, Field(ge=0)]
    draft_seconds: Seconds | None  # None where another system wrote the run and does not report it
    verify_seconds: Seconds | None
    overhead_seconds: Seconds | None  # the rest of the round, without recording
    drafted: Annotated[list[DraftedToken], MostItems(64)]
    emitted: EmittedToken
    # What a draft with another tokenizer wrote, in its own tokens. The file leaves out an empty list.
    draft_tokens: Annotated[list[Piece], MostItems(64), Field(exclude_if=operator.not_)] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        return sum(token.status == "accepted" for token in self.drafted)

    @property
    def rejected(self) -> int:
        """Drafted tokens that were judged and failed: 0 or 1; in a tree also more, siblings that were tried in turn."""
        return sum(token.status == "rejected" for token in self.drafted)

    @property
    def discarded(self) -> int:
        return sum(token.status in NEVER_JUDGED for token in self.drafted)

    @property
    def is_tree(self) -> bool:
        return bool(self.drafted) and self.drafted[0].parent is not None

    @property
    def paths(self) -> list[list[int]]:
        """For each drafted token the places of its ancestors, from the text on, and its own."""
        paths: list[list[int]] = []
        for place, token in enumerate(self.drafted):
            parent = place - 1 if token.parent is None else min(token.parent, place - 1)
            paths.append([*(paths[parent] if parent >= 0 else []), place])
        return paths

    @property
    def depths(self) -> list[int]:
        """The place of each drafted token in the text after the round's start, from 0; siblings share one."""
        return [len(path) - 1 for path in self.paths] if self.is_tree else list(range(len(self.drafted)))

    @property
    def depth(self) -> int:
        """Draft steps: the length of a chain, or a tree's longest path."""
        return max(self.depths) + 1 if self.is_tree else len(self.drafted)

    @property
    def accepted_tokens(self) -> list[DraftedToken]:
        return [token for token in self.drafted if token.status == "accepted"]

    @property
    def added(self) -> TargetStatus:
        """What the token that the target added is: the file calls it a bonus also where nothing was drafted."""
        return "own" if self.emitted.kind == "bonus" and not self.drafted else self.emitted.kind

    @property
    def seconds(self) -> float | None:
        """The whole round, in seconds; None where a part of it is not reported."""
        draft, verify, overhead = self.draft_seconds, self.verify_seconds, self.overhead_seconds
        return None if draft is None or verify is None or overhead is None else draft + verify + overhead

    @property
    def emitted_ids(self) -> list[int]:
        ids = [*(token.id for token in self.accepted_tokens), self.emitted.id]
        return [token_id for token_id in ids if token_id is not None]

    @property
    def emits(self) -> int:
        return self.accepted + (self.emitted.kind != "none")


def known_seconds(seconds: float | None) -> float:
    """A time of a run that has times, as every run of this program has."""
    if seconds is None:
        raise InputError("This run has no times: the system that wrote it does not report them.")
    return seconds


def round_problems(round: Round) -> Iterator[str]:
    """Fields that contradict each other, each as the end of a sentence that begins with the round."""
    kind = round.emitted.kind
    if kind == "none" and round.emitted.id is not None:
        yield f"emits kind {kind!r} with id {round.emitted.id}"
    if kind == "none" and not round.accepted:
        yield "emits nothing"
    yield from _tree_problems(round) if round.is_tree else _chain_problems(round)


def _chain_problems(round: Round) -> Iterator[str]:
    if any(token.parent is not None for token in round.drafted):
        yield "has tokens with a parent and tokens without one"
    statuses = [token.status for token in round.drafted]
    in_order = ["accepted"] * round.accepted + ["rejected"] * round.rejected + ["discarded"] * round.discarded
    if statuses != in_order or round.rejected > 1:
        yield "has statuses out of order"
    kind = round.emitted.kind
    if (kind == "correction") != (round.rejected == 1):
        yield f"emits kind {kind!r} with {round.rejected} rejected"
    if round.discarded and not round.rejected and kind != "none":
        yield "discards tokens without a rejection or an end of text"


def _tree_problems(round: Round) -> Iterator[str]:
    """The accepted nodes are one path; only its nodes' children were judged; siblings are different tokens.

    A correction comes where every child was rejected, a bonus where there is no child.
    """
    if problem := _wrong_parent(round.drafted):
        yield problem
        return
    path = [-1, *(place for place, token in enumerate(round.drafted) if token.status == "accepted")]
    for parent, node in pairwise(path):
        if round.drafted[node].parent != parent:
            yield f"accepts drafted.{node}, which does not follow the accepted path"
    judged = path[:-1] if round.emitted.kind == "none" else path
    for place, token in enumerate(round.drafted):
        if token.status == "discarded":
            yield f"discards drafted.{place}: a node of a tree that was not judged has status 'not taken'"
        if token.status == "rejected" and token.parent not in judged:
            yield f"rejects drafted.{place}, which does not follow an accepted token"
    statuses, kind = {token.status for token in round.drafted if token.parent == path[-1]}, round.emitted.kind
    if kind == "correction" and statuses != {"rejected"}:
        yield "emits kind 'correction', but not every token at its place is rejected"
    if kind == "bonus" and statuses:
        yield "emits kind 'bonus' at a place where tokens were drafted"


def _wrong_parent(drafted: list[DraftedToken]) -> str | None:
    seen = set[tuple[int, int]]()  # of the tokens whose ids are reported
    for place, token in enumerate(drafted):
        if token.parent is None:
            return "has tokens with a parent and tokens without one"
        if token.parent >= place:
            return f"has drafted.{place} before its parent {token.parent}"
        if (token.parent, token.id) in seen:
            return f"has drafted.{place} twice: a sibling has its id"
        if token.id is not None:
            seen.add((token.parent, token.id))
    return None
