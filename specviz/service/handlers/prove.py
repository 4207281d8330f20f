"""The engine's work for a proof by sampling: one token drawn many times, in batches."""

from specviz.measure.proof.draws import Draws, draw_batches
from specviz.measure.proof.rows import BATCHES
from specviz.service.protocol import BatchDrawn, Finished, Progress, Prove, Started
from specviz.service.workshop import Steps, Workshop


def prove_steps(command: Prove, workshop: Workshop) -> Steps:
    """One `BatchDrawn` for each tenth of the draws, the same as without a break after the first `done`.

    Raises:
        InputError: see `Draws` and `draw_batches`.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    draws = Draws(target, draft, request.prompt, request.settings, command.rule, command.position)
    yield Started(job)
    each, left = command.draws // BATCHES, range(command.done, BATCHES)
    yield Progress(job, "drawing", BATCHES, draws=each)
    for batch in draw_batches(draws, request.settings.seed, each, left):
        yield BatchDrawn(job, batch) if batch else None
    yield Finished(job)
