"""What the recorded runs of the lessons must show, and where they are searched. No model, no Streamlit.

`scripts.record` searches for runs that fit. Tests check the recorded runs against the same conditions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from specviz.core.drafters import PROMPT_LOOKUP
from specviz.core.metrics import count, speedup
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace
from specviz.data.lessons.recorded_runs import (
    DRAFT_LENGTH,
    branch_round,
    drawn_round,
    full_round,
    mixed_round,
    siblings_of,
)
from specviz.data.prompts.workloads import Preset, find_workload

TOKENS = 32
TREE, TREE_DEPTH = "2,2", 2
SAMPLED = {"temperature": 1.0}


Tried = tuple[str, str, Preset, DecodeSettings]  # target, draft, prompt, settings


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What one recorded run of the story must be."""

    wanted: str  # what it shows, in words
    tried: Sequence[Tried]  # the most promising first
    fits: Callable[[Trace], bool]
    score: Callable[[Trace], float]  # of the runs that fit, the one with the highest score is recorded
    enough: int = 1_000  # fitting runs after which the search may stop


@dataclass(frozen=True, slots=True)
class MethodRun:
    """What one of the runs must be."""

    draft: str  # as a request names it
    wanted: str = "a run with accepted and rejected tokens"
    fits: Callable[[Trace], bool] = lambda trace: {"accepted", "rejected"} <= _statuses(trace)
    changes: Mapping[str, Any] = field(default_factory=dict)  # of the settings

    @property
    def settings(self) -> DecodeSettings:
        """The settings of the run, with the first seed."""
        return replace(DecodeSettings(max_new_tokens=TOKENS, draft_length=DRAFT_LENGTH), **self.changes)


def _same_text(trace: Trace) -> bool:
    """Whether the target alone wrote the same tokens."""
    return trace.autoregressive is not None and trace.autoregressive.token_ids == trace.output.token_ids


def _early(trace: Trace) -> float:
    """Highest where both kinds of round come early and the mixed one has two accepted tokens."""
    mixed, full = mixed_round(trace), full_round(trace)
    assert mixed is not None
    assert full is not None
    return (mixed.accepted == 2) - 0.2 * (mixed.index + full.index) - (0.5 if mixed.index == full.index - 1 else 0)


def _accepted_by_chance(trace: Trace) -> bool:
    """Sampling with a token accepted although p < q, and one rejected by a dice roll that could have accepted it."""
    tokens = [token for round in trace.rounds for token in round.drafted]
    lucky = any(t.status == "accepted" and (t.accept_prob or 1) < 1 for t in tokens)
    return lucky and drawn_round(trace) is not None


def _rate(trace: Trace) -> float:
    return count(trace.rounds).acceptance_rate or 0.0


def _gain(trace: Trace) -> float:
    return speedup(trace) or 0.0


def per_call(trace: Trace) -> float:
    """Tokens per target call: exact, so that no lucky timing chooses a run."""
    return count(trace.rounds).tokens_per_target_call or 0.0


def presets(*workloads: str) -> Iterator[Preset]:
    for name in workloads:
        workload = find_workload(name)
        assert workload is not None
        yield from workload.prompts


GREEDY = DecodeSettings(max_new_tokens=40, draft_length=4)
LONG = replace(GREEDY, draft_length=8, max_new_tokens=24)
SEEDS = [replace(GREEDY, temperature=1.0, seed=seed) for seed in range(4)]
NANO = ("wren-base", "wren-nano")
RECORDED_RUNS = {
    "round": RecordedRun(
        "a run with a mixed round, a full round and the target's own text, that gains",
        [(*NANO, preset, GREEDY) for preset in presets("story", "code", "structured")],
        lambda t: bool(mixed_round(t) and full_round(t) and _same_text(t)) and _gain(t) > 1.05,
        _early,
    ),
    "pays": RecordedRun(
        "a run that gains clearly",
        [(*NANO, preset, GREEDY) for preset in presets("structured", "code", "boilerplate", "copy")],
        lambda t: _gain(t) > 1.2 and _rate(t) > 0.5 and _same_text(t),
        per_call,
    ),
    "no-gain": RecordedRun(
        "a run that loses because few drafted tokens are accepted",
        [(*NANO, preset, LONG) for preset in presets("random", "prose")],
        lambda t: _gain(t) < 0.9 and _rate(t) < 0.4 and _same_text(t) and len(t.rounds) > 3,
        lambda t: -per_call(t),
    ),
    "costly": RecordedRun(
        "a run that loses although most drafted tokens are accepted",
        [("wren-mini", "wren-small", preset, GREEDY) for preset in presets("story", "copy")],
        lambda t: _gain(t) < 0.95 and _rate(t) > 0.6 and _same_text(t),
        _rate,
    ),
    "sampled": RecordedRun(
        "a sampled run with a token accepted and one rejected by chance",
        [(*NANO, preset, one) for preset, one in product(presets("story"), SEEDS)],
        _accepted_by_chance,
        _rate,
        enough=6,
    ),
}


def _statuses(trace: Trace) -> set[str]:
    return {token.status for round in trace.rounds for token in round.drafted}


def _accepts(trace: Trace) -> bool:
    return "accepted" in _statuses(trace)


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


BRANCH, BLOCK = "the sibling of a rejected guess is accepted", "the block saves a token that alone would be rejected"
METHOD_RUNS = {
    "method-small-model": MethodRun("wren-nano"),
    "method-eagle": MethodRun("wren-eagle", "a run with a round of which a part is accepted", _part_of_a_draft),
    "method-medusa": MethodRun("wren-medusa"),
    "method-prompt-lookup": MethodRun(PROMPT_LOOKUP, "a run in which a copied token is accepted", _accepts),
    "method-early-exit": MethodRun("early-exit:4", "a run in which a token is accepted", _accepts),
    "method-tree": MethodRun("wren-nano", BRANCH, _takes_a_branch, {"tree": TREE, "draft_length": TREE_DEPTH}),
    "method-argmax": MethodRun("wren-nano", changes={**SAMPLED, "draft_sampling": "argmax"}),
    "method-block": MethodRun("wren-nano", BLOCK, _saved_by_the_block, {**SAMPLED, "verification": "block"}),
}
