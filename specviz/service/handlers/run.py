"""The engine's work for a run: decode speculatively, round by round, then with the target alone."""

from time import monotonic

from specviz.decoding import SpeculativeRun, make_drafter
from specviz.service.handlers.guess_along import draft_guesses_of_run
from specviz.service.protocol import Done, Rounds, Run, Started
from specviz.service.workshop import MESSAGE_SECONDS, IsStopped, Steps, Workshop


def run_steps(command: Run, workshop: Workshop, stopped: IsStopped) -> Steps:
    """`Rounds` as they are decoded, then `Done` with what the target alone did.

    Raises:
        InputError: the pair or the prompt cannot be run.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    drafter = make_drafter(target, draft, request.settings)
    run = SpeculativeRun(target, drafter, request.prompt, request.settings)
    yield Started(job, run.trace())
    yield from _decode(job, run)
    plain = yield from workshop.plain_run(job, target, run.setup.prompt.token_ids, request.settings)
    assert plain.autoregressive
    draft_guesses = draft_guesses_of_run(request, target, drafter, run.trace())
    yield Done(job, plain.autoregressive, plain.output.text, draft_guesses)


def _decode(job: int, run: SpeculativeRun) -> Steps:
    fresh = []
    sent_at = 0.0
    for round in run.rounds():
        fresh.append(round)
        if monotonic() - sent_at >= MESSAGE_SECONDS:
            yield Rounds(job, fresh, run.trace().output)
            fresh, sent_at = [], monotonic()
        else:
            yield None
    yield Rounds(job, fresh, run.trace().output)
