"""The engine's work for proofs: one token drawn many times, and prompts decoded greedily both ways."""

from functools import cache

from specviz.core.errors import InputError
from specviz.data.workloads import Preset, find_preset
from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.greedy import greedy_row
from specviz.measure.proof.rows import BATCHES
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.service import protocol as say
from specviz.service.workshop import Workshop


def prove_steps(command: say.Prove, workshop: Workshop) -> say.Steps:
    """One `DrawBatch` for each tenth of the draws, the same as without a break after the first `done`.

    Raises:
        InputError: see `Draws` and `draw_batches`.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    draws = Draws(target, draft, request.prompt, request.settings, command.rule, command.position)
    yield say.Started(job)
    each, left = command.draws // BATCHES, range(command.done, BATCHES)
    yield say.Progress(job, "drawing", BATCHES, draws=each)
    for batch in draw_batches(draws, request.settings.seed, each, left):
        yield say.Item(job, "prove", batch) if batch else None
    yield say.Finished(job)


def compare_greedy_steps(command: say.CompareGreedy, workshop: Workshop) -> say.Steps:
    """One `GreedyRow` for each prompt after the first `done`.

    Raises:
        InputError: a preset is not known; bfloat16 is asked for where it is not offered; or see `greedy_row`.
    """
    job, request = command.job, command.request
    prompts = [find_preset(name) for name in command.presets] or [Preset(request.prompt)]
    if None in prompts:
        raise InputError("One of the prompts is not among those that come with the app.")
    target, draft = yield from workshop.load_pair(job, request)
    if command.half:
        if request.target not in bundled_names():
            raise InputError("The near-tie example is offered for the bundled models only.")
        target = load_model(request.target, "bfloat16")

    @cache
    def exact() -> LoadedModel:
        return target if target.info.dtype == "float32" else load_model(request.target, "float32")

    yield say.Started(job)
    for preset in filter(None, prompts[command.done :]):
        yield say.Progress(job, "comparing", len(prompts), prompt=preset.name)
        rows = greedy_row(target, draft, preset.text, request.settings, exact, preset.name, command.forgets)
        for row in rows:
            yield say.Item(job, "compare greedy", row) if row else None
    yield say.Finished(job)
