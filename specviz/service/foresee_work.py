"""The engine's work for the counterfactual: what drafts would have guessed along an output. One pass each."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from specviz.counterfactual import Foresight, Prospect, dump_prospect, ends_of
from specviz.decoding import Drafter, make_drafter
from specviz.decoding.foresight import foresee
from specviz.decoding.opening import open_run
from specviz.errors import InputError
from specviz.models.calibration import Stopped
from specviz.models.loading import LoadedModel
from specviz.request import RunRequest
from specviz.service.protocol import Finished, Foresee, JobEvent, Results
from specviz.trace import Trace

if TYPE_CHECKING:
    from specviz.service.work import Work

Steps = Iterator[JobEvent | None]


def foresight_of_run(request: RunRequest, target: LoadedModel, drafter: Drafter, trace: Trace) -> Foresight | None:
    """The run's own draft along its output; None where the output is a draw."""
    if not request.settings.greedy:
        return None
    return foresee(target, drafter, trace.prompt.token_ids, trace.output.token_ids)


def foresee_steps(command: Foresee, work: "Work", stopped: Callable[[], bool]) -> Steps:
    """One `Results` item a draft (`counterfactual.load_prospect` reads it), the output decoded once for all.

    Raises:
        InputError: the settings sample, a draft cannot be loaded or has another tokenizer, or the prompt does not fit.
    """
    job, drafts, settings = command.job, command.drafts, command.request.settings
    if not settings.greedy:
        raise InputError("Only a greedy output can be replayed: at a temperature above 0 every run writes another.")
    for draft in drafts[command.done :]:
        asked = RunRequest(command.request.prompt, command.request.target, draft, command.request.precision, settings)
        target, loaded = yield from work.load_pair(job, asked)
        opening = open_run(target, loaded, asked.prompt, settings)
        yield Results(job, [], len(drafts), f"what {draft} would have guessed")
        plain = yield from work.plain_run(job, target, opening.prompt.token_ids, settings)
        foresight = foresee(
            target, make_drafter(target, loaded, settings), plain.prompt.token_ids, plain.output.token_ids
        )
        if foresight is None:
            raise InputError(f"{draft} has another tokenizer than {target.name}, so its guesses cannot be foreseen.")
        try:
            costs = work.costs_of(target, loaded, stopped)
        except Stopped:
            yield None
            return
        prospect = Prospect(draft, foresight, costs, settings.max_new_tokens, sorted(ends_of(plain)))
        yield Results(job, [dump_prospect(prospect)], len(drafts))
    yield Finished(job)
