"""The engine's work for the greedy comparison: prompts decoded both ways and compared id for id."""

from functools import cache

from specviz.core.errors import InputError
from specviz.data.workloads import Preset, find_preset
from specviz.measure.proof.greedy import greedy_row
from specviz.models.catalogue import bundled_names
from specviz.models.loaded_model import LoadedModel
from specviz.models.loading import load_model
from specviz.service.protocol import CompareGreedy, Finished, Progress, PromptCompared, Started
from specviz.service.workshop import Steps, Workshop


def compare_greedy_steps(command: CompareGreedy, workshop: Workshop) -> Steps:
    """One `PromptCompared` for each prompt after the first `done`.

    Raises:
        InputError: a preset is not known; bfloat16 is asked for where it is not offered; or see `greedy_row`.
    """
    job, request, prompts = command.job, command.request, _prompts(command)
    target, draft = yield from workshop.load_pair(job, request)
    if command.half:
        target = _in_bfloat16(request.target)

    @cache
    def exact() -> LoadedModel:
        return target if target.info.dtype == "float32" else load_model(request.target, "float32")

    yield Started(job)
    for preset in prompts[command.done :]:
        yield Progress(job, "comparing", len(prompts), prompt=preset.name)
        rows = greedy_row(target, draft, preset.text, request.settings, exact, preset.name, command.forgets)
        for row in rows:
            yield PromptCompared(job, row) if row else None
    yield Finished(job)


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
