"""Figures that only the answers to questions name: of batches, experts, heads and lossy rules."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.core.files import ASSETS
from specviz.data.batches import recorded_batches
from specviz.data.lessons.facts import UNKNOWN, chain_of, method_facts, written
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.measured_methods import ALL
from specviz.data.texts import Facts, percent

PROOF = ASSETS / "traces" / "proof.json"
TRAINING = ASSETS / "models" / "wren-eagle" / "training.json"  # what was logged of the head's training
EXPERTS, CHOSEN, CHECKED = 8, 2, 5  # a mixture of experts for a sum: all, those of one token, tokens in a check


def more_facts() -> Facts:
    return {**_of_busy(), **_of_experts(), **_of_heads(), **_of_lossy()}


def _of_busy() -> Facts:
    study = recorded_batches()
    most, shortest, longest = study.batches[-1], study.draft_lengths[0], study.draft_lengths[-1]
    writing, short = study.at(most, longest).full_speedup, study.at(most, shortest).speedup
    return written("busy", writing=writing, short=short, length=shortest)


def _of_experts() -> Facts:
    """How many experts a check touches if each of its tokens takes some at random."""
    touched = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** CHECKED)
    ratio = touched / CHOSEN
    return written("experts", all=EXPERTS, used=CHOSEN, tokens=CHECKED, touched=touched, ratio=ratio)


def _of_heads() -> Facts:
    drafters = {"eagle": story_trace("method-eagle").drafter, "nano": story_trace("method-small-model").drafter}
    first = {name: at.by_position[0] or 0.0 for name in ("eagle", "medusa") if (at := chain_of(name, ALL))}
    return {
        "head_stories": method_facts()["eagle_stories"],
        "model_stories": method_facts()["nano_stories"],
        **{f"{name}_numbers": f"{(it.parameters or 0) / 1e6:.2f}" for name, it in drafters.items() if it},
        **dict.fromkeys(("eagle_first", "medusa_first"), UNKNOWN),
        **{f"{name}_first": percent(rate) for name, rate in first.items()},
        "eagle_training": f"{_tokens_read(json.loads(TRAINING.read_bytes())) / 1e6:.1f}",
    }


def _tokens_read(training: Mapping[str, Any]) -> int:
    """By a head, in all runs of its training: a log has that of the run before it."""
    return int(training["tokens_seen"]) + (_tokens_read(training["before"]) if "before" in training else 0)


@dataclass(frozen=True, slots=True)
class RuleCounts:
    draws: int
    accepted: float  # share of the first guesses
    distance: float  # total variation from the target: the share of tokens that would have to be others


def rule_counts(batches: Sequence[Mapping[str, Any]]) -> RuleCounts:
    """Of the batches of one rule, as `measure.proof.recorded` has them."""
    written, wanted = (
        [sum(column) for column in zip(*(each[name] for each in batches), strict=True)]
        for name in ("speculative", "expected")
    )
    apart = sum(abs(a - b) for a, b in zip(written, wanted, strict=True)) / 2
    accepted, proposed = (sum(each[name] for each in batches) for name in ("accepted", "proposed"))
    return RuleCounts(sum(written), accepted / proposed, apart / sum(written))


def _of_lossy() -> Facts:
    proof = json.loads(PROOF.read_bytes())
    batches = {each["rule"]: each["batches"] for each in proof["draws"]}
    counted = {name: rule_counts(batches[name]) for name in ("block", "lenient", "typical", "ensemble")}
    return {
        "lossy_machine": proof["machine"],
        "lossy_draws": f"{min(each.draws for each in counted.values()):,}",
        **{f"{name}_accepted": percent(each.accepted) for name, each in counted.items()},
        **{f"{name}_distance": percent(each.distance) for name, each in counted.items()},
    }
