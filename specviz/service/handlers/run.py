"""The engine's work for a run: speculative decoding and the target alone, in turns."""

from collections.abc import Sequence
from time import monotonic

from specviz.core.trace import Autoregressive, Round
from specviz.decoding import AutoregressiveRun, SpeculativeRun, fit_drafter, take_turns
from specviz.service.handlers.guess_along import draft_guesses_of_run
from specviz.service.protocol import Done, Rounds, Run, Started
from specviz.service.workshop import MESSAGE_SECONDS, Steps, Workshop


def run_steps(command: Run, workshop: Workshop) -> Steps:
    """`Rounds` as both decoders write, then `Done`.

    The target alone always runs again: the two times of a speedup are taken at the same moments.

    Raises:
        InputError: the pair or the prompt cannot be run.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    drafter = fit_drafter(target, draft, request.settings)
    speculative = SpeculativeRun(target, drafter, request.prompt, request.settings)
    yield from speculative.read_prompt()
    plain = AutoregressiveRun(target, speculative.setup.prompt.token_ids, request.settings)
    yield from plain.read_prompt()
    yield Started(job, speculative.trace())
    yield from _decode(job, speculative, plain)
    draft_guesses = yield from draft_guesses_of_run(request, target, drafter, speculative.trace())
    yield Done(job, plain.trace().output.text, draft_guesses)


def _decode(job: int, speculative: SpeculativeRun, plain: AutoregressiveRun) -> Steps:
    rounds: list[Round] = []
    steps: list[tuple[int, float]] = []
    sent_at = 0.0
    for made in take_turns(speculative, plain):
        if isinstance(made, Round):
            rounds.append(made)
        else:
            steps.append(made)
        if monotonic() - sent_at >= MESSAGE_SECONDS:
            yield Rounds(job, rounds, speculative.trace().output, _plain(steps))
            rounds, steps, sent_at = [], [], monotonic()
        else:
            yield None
    yield Rounds(job, rounds, speculative.trace().output, _plain(steps))


def _plain(steps: Sequence[tuple[int, float]]) -> Autoregressive | None:
    if not steps:
        return None
    return Autoregressive([seconds for _, seconds in steps], [token_id for token_id, _ in steps], alternating=True)
