"""The engine's work for the proof: draws in batches, and greedy comparisons prompt by prompt.

Both go on after the `done` results there are already, and end up with what they would have had without a break.
"""

from collections.abc import Iterator
from dataclasses import asdict
from functools import cache

from specviz.core.errors import InputError
from specviz.data.workloads import Preset, find_preset
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.greedy import greedy_row
from specviz.measure.proof.rows import BATCHES
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.service.protocol import CompareGreedy, Finished, JobEvent, Prove, Results, Started

Steps = Iterator[JobEvent | None]


def prove_steps(command: Prove, target: LoadedModel, draft: LoadedModel | None) -> Steps:
    """Results are `DrawBatch`es, ten in all.

    Raises:
        InputError: see `Draws` and `draw_batches`.
    """
    request = command.request
    draws = Draws(target, draft, request.prompt, request.settings, command.rule, command.position)
    yield Started(command.job)
    each, left = command.draws // BATCHES, range(command.done, BATCHES)
    yield Results(command.job, [], BATCHES, f"drawing {each:,} tokens each way")
    for batch in draw_batches(draws, request.settings.seed, each, left):
        note = f"drawing {each:,} more each way"
        yield Results(command.job, [asdict(batch)], BATCHES, note) if batch else None
    yield Finished(command.job)


def greedy_steps(command: CompareGreedy, target: LoadedModel, draft: LoadedModel | None) -> Steps:
    """Results are `GreedyRow`s, one a prompt.

    Raises:
        InputError: a preset is not known; bfloat16 is asked for where it is not offered; or as `greedy_row`.
    """
    request, prompts = command.request, _prompts(command)
    if command.half:
        target = _in_bfloat16(request.target)

    @cache
    def exact() -> LoadedModel:
        return target if target.info.dtype == "float32" else load_model(request.target, "float32")

    yield Started(command.job)
    for number, preset in enumerate(prompts[command.done :], start=command.done + 1):
        yield Results(command.job, [], len(prompts), f"prompt {number} of {len(prompts)}")
        for row in greedy_row(target, draft, preset.text, request.settings, exact, preset.name):
            yield Results(command.job, [asdict(row)], len(prompts)) if row else None
    yield Finished(command.job)


def _prompts(command: CompareGreedy) -> list[Preset]:
    if not command.presets:
        return [Preset("", command.request.prompt)]
    found = [find_preset(name) for name in command.presets]
    if None in found:
        raise InputError("One of the prompts is not among those that come with the app.")
    return [preset for preset in found if preset]


def _in_bfloat16(name: str) -> LoadedModel:
    if name not in bundled_names():
        raise InputError("The near-tie example is offered for the bundled models only.")
    return load_model(name, "bfloat16")
