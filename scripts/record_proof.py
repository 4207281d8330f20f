"""Record what "Same quality" shows before any model is loaded: python -m scripts.record_proof [draws|greedy|exact]

With a part named, the others stay as they were recorded: draws has the exact values too, and exact adds them to draws
that stay. Runs the tasks of the page on the bundled models and writes
assets/traces/proof.json: the draws of every rule, a greedy comparison, a run whose cache forgets a row, and the first
near-tie at which a bfloat16 run differs from plain decoding. The near-tie is searched among the app's prompts, so that
one is found again after the weights change.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product
from typing import Any

import torch

from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.prompts.workloads import DEFAULT_PRESET, WORKLOADS
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.findings import finding
from specviz.measure.proof.greedy import greedy_row
from specviz.measure.proof.rows import (
    BATCHES,
    PATH,
    RULES,
    EnumeratedRules,
    GreedyRow,
    RecordedDraws,
    RecordedProof,
    RuleText,
    dump_proof,
    recorded_proof,
)
from specviz.models.catalogue import MODELS_FOLDER, weights_hash
from specviz.models.devices import describe_machine
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model

DRAWS = 2000  # of a wrong rule: few draws are enough to show it
MANY_DRAWS = 10_000  # of a correct rule: more draws would show a smaller error
SETTINGS = DecodeSettings(max_new_tokens=64, temperature=1.0)
DRAFT_LENGTHS = (4, 2, 8)


def main() -> None:
    """Record everything and print one line for each part."""
    torch.set_num_threads(1)
    target, draft = load_model(DEFAULT_TARGET), load_model(DEFAULT_DRAFT)
    parts = sys.argv[1:] or ["draws", "greedy"]
    weights = {name: weights_hash(MODELS_FOLDER / name) for name in (DEFAULT_TARGET, DEFAULT_DRAFT)}
    before = recorded_proof()
    if len(parts) == 1 and (before is None or before.weights != weights):
        sys.exit("The weights have changed since the last recording: record both parts.")
    if before and parts == ["exact"]:
        exact = [with_exact(each, target, draft) for each in before.draws]
        return write(replace(before, draws=exact, enumerated=enumerated_rules(target, draft)))
    old_draws, old_greedy = (before.draws, greedy_part_of(before)) if before else ([], {})
    proof = RecordedProof(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=describe_machine().machine,
        weights=weights,
        request=RunRequest(DEFAULT_PRESET.text, settings=SETTINGS),
        draws=[record_draws(target, draft, rule) for rule in RULES] if "draws" in parts else old_draws,
        enumerated=enumerated_rules(target, draft),
        **(greedy_part(target, draft) if "greedy" in parts else old_greedy),
    )
    write(proof)


def write(proof: RecordedProof) -> None:
    """Replace the recorded proof."""
    PATH.write_bytes(dump_proof(proof))
    print(f"{PATH.name}: {PATH.stat().st_size:,} bytes")


def greedy_part(target: LoadedModel, draft: LoadedModel) -> dict[str, Any]:
    """Everything that is compared token for token."""
    return {
        "greedy": list(greedy_rows(target, draft)),
        "near_tie": find_near_tie(target, draft),
        "forgotten_row": forgotten_row(target, draft),
    }


def greedy_part_of(before: RecordedProof) -> dict[str, Any]:
    """The same of an earlier recording."""
    return {"greedy": before.greedy, "near_tie": before.near_tie, "forgotten_row": before.forgotten_row}


def with_exact(recorded: RecordedDraws, target: LoadedModel, draft: LoadedModel) -> RecordedDraws:
    """The same draws, with what follows from the probabilities alone."""
    draws = Draws(target, draft, DEFAULT_PRESET.text, SETTINGS, recorded.rule, recorded.position)
    return replace(recorded, exact=draws.exact())


def enumerated_rules(target: LoadedModel, draft: LoadedModel) -> EnumeratedRules:
    """Every rule of pieces, for which nothing is drawn but one draft."""
    return Draws(target, draft, DEFAULT_PRESET.text, SETTINGS, "lossless", "first").enumerate_rules(SETTINGS.seed)


def record_draws(target: LoadedModel, draft: LoadedModel, rule: RuleText) -> RecordedDraws:
    """The draws of one rule, at the position where a wrong rule shows."""
    draws = Draws(target, draft, DEFAULT_PRESET.text, SETTINGS, rule.name, rule.position)
    each = (MANY_DRAWS if rule.lossless else DRAWS) // BATCHES
    batches = [b for b in draw_batches(draws, SETTINGS.seed, each, range(BATCHES)) if b]
    found = finding(batches)
    print(f"{rule.name}: {found.state}. {found.sentence}")
    if (found.state == "passes") != rule.lossless:
        sys.exit(f"{rule.name} gave the wrong result: record it with more draws or another prompt.")
    return with_exact(RecordedDraws(rule.name, rule.position, batches), target, draft)


def greedy_rows(target: LoadedModel, draft: LoadedModel) -> Iterator[GreedyRow]:
    """The first prompt of each kind, in float32."""
    for workload in WORKLOADS:
        preset = workload.prompts[0]
        rows = greedy_row(target, draft, preset.text, SETTINGS, lambda: target, preset.name)
        row = next(row for row in rows if row)
        print(f"{preset.name}: {row.same} of {row.tokens} the same")
        yield row


def forgotten_row(target: LoadedModel, draft: LoadedModel) -> GreedyRow:
    """The default prompt with a cache that forgets a row: the comparison must call it wrong."""
    rows = greedy_row(target, draft, DEFAULT_PRESET.text, SETTINGS, lambda: target, DEFAULT_PRESET.name, forgets=True)
    row = next(row for row in rows if row)
    print(f"forgotten row: {row.judged}")
    if row.judged is None or row.judged.state != "fails":
        sys.exit("The forgotten row was not called wrong: record it with another prompt.")
    return row


def find_near_tie(target: LoadedModel, draft: LoadedModel) -> GreedyRow:
    """The first prompt and draft length at which rounding makes the target in bfloat16 choose another token."""
    half = load_model(target.name, "bfloat16")
    presets = [preset for workload in WORKLOADS for preset in workload.prompts]
    for length, preset in product(DRAFT_LENGTHS, presets):
        settings = replace(SETTINGS, draft_length=length)
        rows = greedy_row(half, draft, preset.text, settings, lambda: target, preset.name)
        row = next(row for row in rows if row)
        if row.near_tie:
            print(f"near-tie: {preset.name}, draft length {length}: {row.near_tie}")
            return row
    sys.exit("No near-tie was found in bfloat16: search with more prompts or draft lengths.")


if __name__ == "__main__":
    main()
