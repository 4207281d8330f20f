"""The engine's work for long jobs: races and sweeps, which are timed, and proofs.

While the clock runs nothing is sent and nothing recorded. Between two rounds, or two plain steps, other jobs may have
their turn; a run's times do not include that. A job that had to stop goes on after the last item that it sent.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import groupby

from specviz.core.errors import InputError, hide_folders
from specviz.core.request import RunRequest
from specviz.core.texts import Sentences
from specviz.data.prompts.workloads import Preset, find_preset
from specviz.decoding import fit_drafter
from specviz.measure.compare import PairedRuns, comparison_of, costs_steps
from specviz.measure.proof.draws import Draws, draw_batches, greedy_row
from specviz.measure.proof.other_rules import chain_only
from specviz.measure.proof.rows import BATCHES
from specviz.measure.sweep.measure import measure
from specviz.measure.sweep.plan import SweepCell, groups
from specviz.models.catalogue import bundled_names
from specviz.service import protocol as wire
from specviz.service.limits import BudgetSpent
from specviz.service.workshop import Workshop

say = Sentences("service")


def race_steps(command: wire.Race, workshop: Workshop) -> wire.JobSteps:
    """One `Comparison` for each prompt after the first `done`; `JobProgress` before each repeat.

    InputError: a prompt does not fit; the sentence names it, and nothing has been timed by then.
    """
    job, prompts, settings = command.job, command.prompts, command.request.settings
    target, draft = yield from workshop.load_pair(job, command.request)
    drafter = fit_drafter(target, draft, settings)
    for prompt in prompts:
        try:
            drafter.set_up(target, prompt.text, settings)
        except InputError as error:
            raise InputError(say("of_prompt", prompt=prompt.name, problem=error)) from None
    yield wire.RunStarted(job)
    costs = workshop.known_costs(target, draft) or (yield from costs_steps(target, drafter, settings))
    for prompt in prompts[command.done :]:
        runs = PairedRuns(target, drafter, prompt.text, settings)
        step = wire.JobProgress(job, "warming up", len(prompts), prompt=prompt.name, repeats=command.repeats)
        lap = partial(comparison_of, runs.measured, target, prompt.name, costs=costs)
        try:
            yield step
            yield from runs.warm_up_steps()
            for repeat in range(1, command.repeats + 1):
                yield replace(step, phase="timing", repeat=repeat)
                yield from runs.repeat_steps()
        except BudgetSpent:
            if runs.measured:
                yield wire.JobItem(job, "race", lap())
            raise
        yield wire.JobItem(job, "race", lap())


def sweep_steps(command: wire.Sweep, workshop: Workshop) -> wire.JobSteps:
    """An answer for each cell after the first `done`.

    A cell that cannot be measured (a prompt too long for a model, a pair that does not fit in memory) leaves a
    sentence in place of its row, and the sweep goes on. InputError: the plan holds an impossible setting.
    """
    job, cells = command.job, command.plan.cells()
    for pair, its_cells in groupby(cells[command.done :], key=lambda cell: cell.pair):
        left = list(its_cells)
        request = RunRequest(left[0].prompt.text, pair.target, pair.draft, left[0].settings)
        try:
            models = yield from workshop.load_pair(job, request)
        except InputError as error:
            yield _progress(job, left[0], len(cells))
            yield from _problems(job, left, error)
            continue
        yield wire.RunStarted(job)
        for group in groups(left):
            yield _progress(job, group[0], len(cells))
            try:
                rows = yield from measure(models, group)
                yield from (wire.JobItem(job, "sweep", row) for row in rows)
            except InputError as error:
                yield from _problems(job, group, error)


def _progress(job: int, cell: SweepCell, total: int) -> wire.JobProgress:
    settings = cell.settings
    return wire.JobProgress(
        job,
        "measuring",
        total,
        prompt=cell.prompt.name,
        draft=cell.pair.draft,
        draft_length=settings.draft_length,
        schedule=settings.draft_schedule,
        constrained=cell.constrained,
    )


def _problems(job: int, cells: Iterable[SweepCell], error: InputError) -> wire.JobSteps:
    for cell in cells:
        yield wire.JobItem(
            job, "sweep", hide_folders(say("of_cell", prompt=cell.prompt.name, draft=cell.pair.draft, problem=error))
        )


def prove_steps(command: wire.Prove, workshop: Workshop) -> wire.JobSteps:
    """One `DrawBatch` for each tenth of the draws, the same as without a break after the first `done`."""
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    draws = Draws(target, draft, request.prompt, request.settings, command.rule, command.position)
    yield wire.RunStarted(job)
    each, left = command.draws // BATCHES, range(command.done, BATCHES)
    yield wire.JobProgress(job, "drawing", BATCHES, draws=each)
    for batch in draw_batches(draws, request.settings.seed, each, left):
        yield wire.JobItem(job, "prove", batch) if batch else None


def enumerate_rules_steps(command: wire.EnumerateRules, workshop: Workshop) -> wire.JobSteps:
    """One `EnumeratedRules`."""
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    yield wire.RunStarted(job)
    draws = Draws(target, draft, request.prompt, chain_only(request.settings), "lossless", "first")
    if not command.done:
        yield wire.JobItem(job, "enumerate rules", draws.enumerate_rules(request.settings.seed))


def compare_greedy_steps(command: wire.CompareGreedy, workshop: Workshop) -> wire.JobSteps:
    """One `GreedyRow` for each prompt after the first `done`."""
    job, request = command.job, command.request
    prompts = [find_preset(name) for name in command.presets] or [Preset(request.prompt)]
    if None in prompts:
        raise InputError(say("no_preset"))
    target, draft = yield from workshop.load_pair(job, request)
    exact = target
    if command.half:
        if request.target not in bundled_names():
            raise InputError(say("bundled_only"))
        target = workshop.models.get(request.target, dtype="bfloat16")
    yield wire.RunStarted(job)
    for preset in filter(None, prompts[command.done :]):
        yield wire.JobProgress(job, "comparing", len(prompts), prompt=preset.name)
        rows = greedy_row(target, draft, preset.text, request.settings, exact, preset.name, command.forgets)
        for row in rows:
            yield wire.JobItem(job, "compare greedy", row) if row else None
