"""The engine's work for the counterfactual: what drafts would have guessed along an output. One pass each."""

from collections.abc import Callable, Iterator

from specviz.core.errors import InputError
from specviz.core.replay import DraftGuesses, Prospect, dump_prospect, ends_of
from specviz.core.request import RunRequest
from specviz.core.trace import Trace
from specviz.decoding import Drafter, make_drafter
from specviz.decoding.run_setup import set_up_run
from specviz.models.loaded_model import LoadedModel
from specviz.models.pass_timing import Stopped
from specviz.service.protocol import Finished, GuessAlong, JobEvent, Results
from specviz.service.workshop import Workshop

Steps = Iterator[JobEvent | None]


def draft_guesses_of_run(
    request: RunRequest, target: LoadedModel, drafter: Drafter, trace: Trace
) -> DraftGuesses | None:
    """The run's own draft along its output; None where the output is a draw."""
    if not request.settings.greedy:
        return None
    return drafter.guess_along(target, trace.prompt.token_ids, trace.output.token_ids)


def guess_along_steps(command: GuessAlong, workshop: Workshop, stopped: Callable[[], bool]) -> Steps:
    """One `Results` item a draft (`counterfactual.load_prospect` reads it), the output decoded once for all.

    Raises:
        InputError: the settings sample, a draft cannot be loaded or has another tokenizer, or the prompt does not fit.
    """
    job, drafts, settings = command.job, command.drafts, command.request.settings
    if not settings.greedy:
        raise InputError("Only a greedy output can be replayed: at a temperature above 0 every run writes another.")
    for draft in drafts[command.done :]:
        asked = RunRequest(command.request.prompt, command.request.target, draft, command.request.precision, settings)
        target, loaded = yield from workshop.load_pair(job, asked)
        setup = set_up_run(target, loaded, asked.prompt, settings)
        yield Results(job, [], len(drafts), f"what {draft} would have guessed")
        plain = yield from workshop.plain_run(job, target, setup.prompt.token_ids, settings)
        drafter = make_drafter(target, loaded, settings)
        draft_guesses = drafter.guess_along(target, plain.prompt.token_ids, plain.output.token_ids)
        if draft_guesses is None:
            raise InputError(f"{draft} has another tokenizer than {target.name}, so its guesses cannot be foreseen.")
        try:
            costs = workshop.costs_of(target, loaded, stopped)
        except Stopped:
            yield None
            return
        prospect = Prospect(draft, draft_guesses, costs, settings.max_new_tokens, sorted(ends_of(plain)))
        yield Results(job, [dump_prospect(prospect)], len(drafts))
    yield Finished(job)
