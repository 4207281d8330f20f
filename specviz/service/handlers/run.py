"""The engine's work for a run, for what a pair costs, and for what other drafts would have guessed along an output."""

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from specviz.core.errors import DisturbedError, InputError
from specviz.core.replay import Prospect, ends_of
from specviz.core.texts import Sentences
from specviz.core.trace import Autoregressive, Round, Trace
from specviz.data.measured.quiet_costs import quiet_costs
from specviz.decoding import AutoregressiveRun, SpeculativeRun, alternate, fit_drafter
from specviz.decoding.drafters.choose import own_model
from specviz.decoding.run_setup import set_up_run
from specviz.service import protocol as wire
from specviz.service.workshop import MESSAGE_SECONDS, Workshop

say = Sentences("service")


def run_steps(command: wire.Run, workshop: Workshop) -> wire.JobSteps:
    """`Rounds` as both decoders write, then `Done`; InputError: the pair or the prompt cannot be run.

    The target alone always runs again: the two times of a speedup are taken at the same moments.
    """
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    drafter = fit_drafter(target, draft, request.settings)
    speculative = SpeculativeRun(target, drafter, request.prompt, request.settings)
    yield from speculative.read_prompt()
    plain = AutoregressiveRun(target, speculative.setup.prompt.token_ids, request.settings)
    yield wire.RunStarted(job, speculative.trace())
    yield from _decode(job, speculative, plain)
    trace, draft_guesses = speculative.trace(), None
    if request.settings.greedy:  # tokens drawn at random depend on more than the text
        ids = trace.prompt.token_ids, trace.output.token_ids
        draft_guesses = yield from drafter.guess_along(target, *ids)
    yield wire.RunDone(job, plain.trace().output.text, draft_guesses)


def _decode(job: int, speculative: SpeculativeRun, plain: AutoregressiveRun) -> wire.JobSteps:
    rounds: list[Round] = []
    steps: list[tuple[int, float]] = []
    sent_at = 0.0
    for made in alternate(speculative, plain):
        if isinstance(made, Round):
            rounds.append(made)
        elif made:
            steps.append(made)
        if monotonic() - sent_at >= MESSAGE_SECONDS:
            yield wire.Rounds(job, rounds, speculative.trace().output, _plain(steps))
            rounds, steps, sent_at = [], [], monotonic()
        else:
            yield None
    yield wire.Rounds(job, rounds, speculative.trace().output, _plain(steps))


def _plain(steps: Sequence[tuple[int, float]]) -> Autoregressive | None:
    if not steps:
        return None
    return Autoregressive([seconds for _, seconds in steps], [token_id for token_id, _ in steps], alternating=True)


def guess_along_steps(command: wire.GuessAlong, workshop: Workshop) -> wire.JobSteps:
    """One `Prospect` for each draft; the output is decoded once for all.

    On a busy machine the speedups are of costs that were recorded on a quiet one. InputError: a draft cannot be loaded,
    the prompt does not fit, or the machine is busy and nothing is recorded of a draft.
    """
    job, drafts, settings = command.job, command.drafts, command.request.settings
    if not settings.greedy:
        raise InputError(say("greedy_only"))
    plain_runs: dict[tuple[int, ...], Trace] = {}  # by prompt: drafts with another vocabulary may read another one
    for draft in drafts[command.done :]:
        asked = replace(command.request, draft=draft)
        target, loaded = yield from workshop.load_pair(job, asked)
        setup = set_up_run(target, own_model(loaded), asked.prompt, settings)
        yield wire.JobProgress(job, "guessing", len(drafts), draft=draft)
        prompt = tuple(setup.prompt.token_ids)
        if prompt not in plain_runs:
            run = AutoregressiveRun(target, list(prompt), settings)
            yield from run.read_prompt()
            for _ in run.steps():
                yield None
            plain_runs[prompt] = run.trace()
        plain = plain_runs[prompt]
        drafter = fit_drafter(target, loaded, settings)
        draft_guesses = yield from drafter.guess_along(target, plain.prompt.token_ids, plain.output.token_ids)
        if draft_guesses is None:
            raise InputError(say("other_tokenizer", draft=draft, target=target.name))
        place = ""
        try:
            costs = yield from workshop.costs_of(target, loaded)
        except DisturbedError:
            found = quiet_costs().find_for_run(replace(plain, drafter=drafter.info))
            if found is None:
                raise
            costs, place = found.drafts[drafter.info.asked_as], found.processor
        prospect = Prospect(draft, draft_guesses, costs, settings.max_new_tokens, sorted(ends_of(plain)), place)
        yield wire.JobItem(job, "guess along", prospect)


def calibrate_steps(command: wire.Calibrate, workshop: Workshop) -> wire.JobSteps:
    """Raises InputError: the pair cannot work together, does not fit in memory, or the machine is too busy to be
    measured."""
    if command.done:  # it had to stop between its only item and its end
        return
    job, request = command.job, command.request
    target, draft = yield from workshop.load_pair(job, request)
    yield wire.RunStarted(job)
    costs = yield from workshop.costs_of(target, draft, command.attempt)
    yield wire.JobItem(job, "calibrate", wire.CostsResult(costs, attempt=command.attempt))
