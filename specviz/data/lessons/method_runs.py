"""One recorded run of each drafting method: what it is asked for, and what it must show. No model, no Streamlit.

`scripts/record_methods.py` records all of them on one prompt, so that they can be compared. Tests check the recorded
runs against the same conditions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from specviz.core.request import PROMPT_LOOKUP
from specviz.core.settings import DecodeSettings
from specviz.core.trace import DraftedToken, Round, Trace

TOKENS = 32
DRAFT_LENGTH = 4
TREE, TREE_DEPTH = "2,2", 2
SAMPLED = {"temperature": 1.0}


@dataclass(frozen=True, slots=True)
class MethodRun:
    """What one of the runs must be."""

    draft: str  # as a request names it
    wanted: str  # what it shows, in words
    fits: Callable[[Trace], bool]
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the settings

    @property
    def settings(self) -> DecodeSettings:
        """The settings of the run, with the first seed."""
        return replace(DecodeSettings(max_new_tokens=TOKENS, draft_length=DRAFT_LENGTH), **self.changes)


def branch_round(trace: Trace) -> Round | None:
    """The first round of trees whose accepted path leaves the most probable one: a sibling of a rejected guess."""
    return next((round for round in trace.rounds if siblings_of(round) is not None), None)


def siblings_of(round: Round) -> tuple[DraftedToken, DraftedToken] | None:
    """A rejected guess and the sibling that was accepted in its place; None where the round has no such two."""
    if not round.is_tree:
        return None
    rejected = {token.parent: token for token in reversed(round.drafted) if token.status == "rejected"}
    accepted = (token for token in round.accepted_tokens if token.parent in rejected)
    return next(((rejected[token.parent], token) for token in accepted), None)


def _accepts_and_rejects(trace: Trace) -> bool:
    statuses = {token.status for round in trace.rounds for token in round.drafted}
    return {"accepted", "rejected"} <= statuses


def _accepts(trace: Trace) -> bool:
    return any(round.accepted for round in trace.rounds)


def _part_of_a_draft(trace: Trace) -> bool:
    """A round with an accepted, a rejected and a discarded token, as the lesson shows."""
    return any(round.accepted and round.rejected and round.discarded for round in trace.rounds)


def _takes_a_branch(trace: Trace) -> bool:
    """A sibling was accepted, both have letters only, and a node was never judged."""
    round = branch_round(trace)
    pair = siblings_of(round) if round else None
    return pair is not None and bool(round and round.discarded) and all(t.shown.strip().isalpha() for t in pair)


def _saved_by_the_block(trace: Trace) -> bool:
    """A token was accepted although its own draw was not below its own chance."""
    tokens = [token for round in trace.rounds for token in round.accepted_tokens]
    return any(t.u is not None and t.accept_prob is not None and t.u >= t.accept_prob for t in tokens)


METHOD_RUNS = {
    "method-small-model": MethodRun("wren-nano", "a run with accepted and rejected tokens", _accepts_and_rejects),
    "method-eagle": MethodRun("wren-eagle", "a run with a round of which a part is accepted", _part_of_a_draft),
    "method-medusa": MethodRun("wren-medusa", "a run with accepted and rejected tokens", _accepts_and_rejects),
    "method-prompt-lookup": MethodRun(PROMPT_LOOKUP, "a run in which a copied token is accepted", _accepts),
    "method-early-exit": MethodRun("early-exit:4", "a run in which a token is accepted", _accepts),
    "method-tree": MethodRun(
        "wren-nano",
        "a run in which the sibling of a rejected guess is accepted",
        _takes_a_branch,
        {"tree": TREE, "draft_length": TREE_DEPTH},
    ),
    "method-argmax": MethodRun(
        "wren-nano",
        "a run with accepted and rejected tokens",
        _accepts_and_rejects,
        {**SAMPLED, "draft_sampling": "argmax"},
    ),
    "method-block": MethodRun(
        "wren-nano",
        "a run in which the block saves a token that would have been rejected on its own",
        _saved_by_the_block,
        {**SAMPLED, "verification": "block"},
    ),
}
