"""The engine's work for comparing drafts: what each would have guessed along one output, in one pass each."""

from specviz.core.errors import InputError
from specviz.core.replay import DraftGuesses, Prospect, ends_of
from specviz.core.request import RunRequest
from specviz.core.steps import Steps as PausedSteps
from specviz.core.trace import Trace
from specviz.decoding import Drafter, fit_drafter
from specviz.decoding.drafters.choose import own_model
from specviz.decoding.run_setup import set_up_run
from specviz.models.loaded_model import LoadedModel
from specviz.service.protocol import DraftGuessed, Finished, GuessAlong, Progress
from specviz.service.workshop import Steps, Workshop


def draft_guesses_of_run(
    request: RunRequest, target: LoadedModel, drafter: Drafter, trace: Trace
) -> PausedSteps[DraftGuesses | None]:
    """What the run's own draft would guess along its output; None where tokens were drawn at random."""
    if not request.settings.greedy:
        return None
    return (yield from drafter.guess_along_steps(target, trace.prompt.token_ids, trace.output.token_ids))


def guess_along_steps(command: GuessAlong, workshop: Workshop) -> Steps:
    """One `DraftGuessed` for each draft; the output is decoded once for all.

    Raises:
        InputError: the temperature is above 0, a draft cannot be loaded or has another tokenizer, or the prompt does
            not fit.
    """
    job, drafts, settings = command.job, command.drafts, command.request.settings
    if not settings.greedy:
        raise InputError("Only a greedy output can be replayed: at a temperature above 0 every run is another text.")
    for draft in drafts[command.done :]:
        asked = RunRequest(command.request.prompt, command.request.target, draft, command.request.precision, settings)
        target, loaded = yield from workshop.load_pair(job, asked)
        setup = set_up_run(target, own_model(loaded), asked.prompt, settings)
        yield Progress(job, "guessing", len(drafts), draft=draft)
        plain = yield from workshop.plain_run(job, target, setup.prompt.token_ids, settings)
        drafter = fit_drafter(target, loaded, settings)
        draft_guesses = yield from drafter.guess_along_steps(target, plain.prompt.token_ids, plain.output.token_ids)
        if draft_guesses is None:
            raise InputError(f"{draft} has another tokenizer than {target.name}, so its guesses cannot be compared.")
        costs = yield from workshop.costs_of(target, loaded)
        prospect = Prospect(draft, draft_guesses, costs, settings.max_new_tokens, sorted(ends_of(plain)))
        yield DraftGuessed(job, prospect)
    yield Finished(job)
