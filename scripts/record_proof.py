"""Record what "Same quality" shows before any model is loaded: python -m scripts.record_proof

Runs the tasks of the page on the bundled models and writes assets/traces/proof.json: the draws of every rule, a greedy
comparison, and the first near-tie at which a bfloat16 run differs from plain decoding. The near-tie is searched among
the app's prompts, so that one is found again after the weights change.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import torch

from specviz.core.request import DEFAULT_DRAFT, DEFAULT_TARGET, RunRequest
from specviz.core.settings import DecodeSettings
from specviz.data.workloads import DEFAULT_PRESET, WORKLOADS
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.greedy import greedy_row
from specviz.measure.proof.recorded import PATH, RecordedDraws, RecordedProof, dump_proof
from specviz.measure.proof.rows import BATCHES, GreedyRow
from specviz.measure.proof.rule_names import RULES, RuleText
from specviz.measure.proof.statistics import finding, looks
from specviz.models.catalogue import MODELS_FOLDER, weights_hash
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.models.machine import describe_machine

DRAWS = 2000  # of a wrong rule: few draws are enough to show it
MANY_DRAWS = 10_000  # of a correct rule: more draws would show a smaller error
SETTINGS = DecodeSettings(max_new_tokens=64, temperature=1.0)
DRAFT_LENGTHS = (4, 2, 8)


def main() -> None:
    """Record everything and print one line for each part."""
    torch.set_num_threads(1)
    target, draft = load_model(DEFAULT_TARGET), load_model(DEFAULT_DRAFT)
    proof = RecordedProof(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=describe_machine().machine,
        weights={name: weights_hash(MODELS_FOLDER / name) for name in (DEFAULT_TARGET, DEFAULT_DRAFT)},
        request=RunRequest(DEFAULT_PRESET.text, settings=SETTINGS),
        draws=[record_draws(target, draft, rule) for rule in RULES],
        greedy=[row for row in greedy_rows(target, draft)],
        near_tie=find_near_tie(target, draft),
    )
    PATH.write_bytes(dump_proof(proof))
    print(f"{PATH.name}: {PATH.stat().st_size:,} bytes")


def record_draws(target: LoadedModel, draft: LoadedModel, rule: RuleText) -> RecordedDraws:
    """The draws of one rule, at the position where a wrong rule shows."""
    draws = Draws(target, draft, DEFAULT_PRESET.text, SETTINGS, rule.name, rule.position)
    each = (MANY_DRAWS if rule.lossless else DRAWS) // BATCHES
    batches = [b for b in draw_batches(draws, SETTINGS.seed, each, range(BATCHES)) if b]
    found = finding(looks(batches))
    print(f"{rule.name}: {found.state}. {found.sentence}")
    if (found.state == "passes") != rule.lossless:
        sys.exit(f"{rule.name} gave the wrong result: record it with more draws or another prompt.")
    return RecordedDraws(rule.name, rule.position, batches)


def greedy_rows(target: LoadedModel, draft: LoadedModel) -> Iterator[GreedyRow]:
    """The first prompt of each kind, in float32."""
    for workload in WORKLOADS:
        preset = workload.prompts[0]
        rows = greedy_row(target, draft, preset.text, SETTINGS, lambda: target, preset.name)
        row = next(row for row in rows if row)
        print(f"{preset.name}: {row.same} of {row.tokens} the same")
        yield row


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
