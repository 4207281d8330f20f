"""Figures that only the answers to questions name: of batches, experts, heads and lossy rules."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specviz.core.files import ASSETS
from specviz.core.names import in_words
from specviz.data.batches import recorded_batches
from specviz.data.lessons.facts import UNKNOWN, chain_of
from specviz.data.lessons.recorded_runs import story_trace
from specviz.data.measured_methods import ALL
from specviz.data.sentences import percent
from specviz.data.texts import Facts

PROOF = ASSETS / "traces" / "proof.json"
TRAINING = ASSETS / "models" / "wren-eagle" / "training.json"  # what was logged of the head's training
EXPERTS, CHOSEN, CHECKED = 8, 2, 5  # a mixture of experts for a sum: all, those of one token, tokens in a check


def more_facts() -> Facts:
    return {**_of_busy(), **_of_experts(), **_of_heads(), **_of_lossy()}


def _of_busy() -> Facts:
    study = recorded_batches()
    most, lengths = study.batches[-1], study.draft_lengths
    writing, short = study.at(most, lengths[-1]).full_speedup, study.at(most, lengths[0]).speedup
    return {
        "busy_writing": f"{writing.value:.2f}",
        "busy_writing_range": f"{writing.low:.2f} to {writing.high:.2f}",
        "busy_short": f"{short.value:.2f}",
        "busy_short_length": in_words(lengths[0]),
        "busy_short_range": f"{short.low:.2f} to {short.high:.2f}",
    }


def _of_experts() -> Facts:
    """How many experts a check touches if each of its tokens takes some at random."""
    touched = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** CHECKED)
    return {
        "experts_all": in_words(EXPERTS),
        "experts_used": in_words(CHOSEN),
        "experts_tokens": in_words(CHECKED),
        "experts_touched": f"{touched:.1f}",
        "experts_ratio": f"{touched / CHOSEN:.2f}",
    }


def _of_heads() -> Facts:
    drafters = {"eagle": story_trace("method-eagle").drafter, "nano": story_trace("method-small-model").drafter}
    places = {"head": "eagle", "model": "nano"}
    stories = {name: at.costs.tokens_per_target_call for name in places if (at := chain_of(places[name], "story"))}
    first = {name: at.by_position[0] or 0.0 for name in ("eagle", "medusa") if (at := chain_of(name, ALL))}
    return {
        **dict.fromkeys(("head_stories", "model_stories", "eagle_first", "medusa_first"), UNKNOWN),
        **{f"{name}_numbers": f"{(it.parameters or 0) / 1e6:.2f}" for name, it in drafters.items() if it},
        **{f"{name}_stories": f"{tokens:.2f}" for name, tokens in stories.items()},
        **{f"{name}_first": percent(rate) for name, rate in first.items()},
        "eagle_training": f"{_tokens_read(json.loads(TRAINING.read_bytes())) / 1e6:.1f}",
    }


def _tokens_read(training: Mapping[str, Any]) -> int:
    """By a head, in all runs of its training: a log has that of the run before it."""
    return int(training["tokens_seen"]) + (_tokens_read(training["before"]) if "before" in training else 0)


@dataclass(frozen=True, slots=True)
class RuleCounts:
    """What the recorded proof counted of one acceptance rule, all batches together."""

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
    """What the proof counted of lossy rules, and of a lossless one with as many draws."""
    proof = json.loads(PROOF.read_bytes())
    batches = {each["rule"]: each["batches"] for each in proof["draws"]}
    counted = {name: rule_counts(batches[name]) for name in ("block", "lenient", "typical", "ensemble")}
    return {
        "lossy_machine": proof["machine"],
        "lossy_draws": f"{min(each.draws for each in counted.values()):,}",
        **{f"{name}_accepted": percent(each.accepted) for name, each in counted.items()},
        **{f"{name}_distance": percent(each.distance) for name, each in counted.items()},
    }
