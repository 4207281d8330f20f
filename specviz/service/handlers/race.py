"""The engine's work for a race: both decoders on each prompt, timed alternately with nothing else going on.

While the clock runs nothing is sent and nothing recorded. Between two rounds, or two plain steps, other jobs may have
their turn; a run's times do not include that. A race that had to stop goes on after the last repeat it completed.
"""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.decoding import fit_drafter
from specviz.decoding.drafters.choose import Loaded, own_model
from specviz.decoding.run_setup import set_up_run
from specviz.measure.compare import quality
from specviz.measure.paired_runs import Measured, PairedRuns
from specviz.measure.race import RaceLap, RacePrompt
from specviz.models.loaded_model import LoadedModel
from specviz.models.tokens import TokenTexts
from specviz.service import protocol as say
from specviz.service.limits import BudgetSpent
from specviz.service.workshop import Workshop


def race_steps(command: say.Race, workshop: Workshop) -> say.Steps:
    """One `RaceLap` for each prompt after the first `done`; `Progress` before each repeat.

    Raises:
        InputError: a prompt does not fit; the sentence names it, and nothing has been timed by then.
        BudgetSpent: it was thrown in here; the repeats that are complete have been sent.
    """
    job, prompts, settings = command.job, command.prompts, command.request.settings
    target, draft = yield from workshop.load_pair(job, command.request)
    drafter = fit_drafter(target, draft, settings)
    _check(target, draft, prompts, settings)
    yield say.Started(job)
    for place, prompt in enumerate(prompts[command.done :], start=command.done):
        measured = workshop.race_so_far(job, place)
        runs = PairedRuns(target, drafter, prompt.text, settings, measured=measured)
        try:
            yield from _time(command, prompt, runs)
        except BudgetSpent:
            if measured.repeats:
                yield say.Item(job, "race", _lap(measured, target, prompt))
            raise
        workshop.forget_race(job)
        yield say.Item(job, "race", _lap(measured, target, prompt))
    yield say.Finished(job)


def _time(command: say.Race, prompt: RacePrompt, runs: PairedRuns) -> say.Steps:
    step = say.Progress(command.job, "warming up", len(command.prompts), prompt=prompt.name, repeats=command.repeats)
    yield step
    yield from runs.warm_up_steps()
    for repeat in range(runs.measured.repeats + 1, command.repeats + 1):
        yield replace(step, phase="timing", repeat=repeat)
        yield from runs.repeat_steps()


def _check(target: LoadedModel, draft: Loaded, prompts: Sequence[RacePrompt], settings: DecodeSettings) -> None:
    for prompt in prompts:
        try:
            set_up_run(target, None, prompt.text, settings)
            own = own_model(draft)
            if own and own.context < target.context:
                set_up_run(target, own, prompt.text, settings)
        except InputError as error:
            raise InputError(f"{prompt.name}: {error}") from None


def _lap(measured: Measured, target: LoadedModel, prompt: RacePrompt) -> RaceLap:
    """What was measured, after at least one repeat. The two texts are compared only now, off the clock."""
    speculative, plain = measured.shown
    token_texts = TokenTexts(target.tokens)
    return RaceLap(
        speculative=speculative,
        plain=plain,
        speculative_seconds=measured.speculative.seconds,
        plain_seconds=measured.plain.seconds,
        name=prompt.name,
        speculative_prefill=measured.speculative.prefill,
        plain_prefill=measured.plain.prefill,
        plain_tokens=[token_texts[token_id] for token_id in plain.output.token_ids],
        quality=quality(target, speculative, plain),
        draws=measured.draws,
    )
