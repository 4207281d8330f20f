"""The engine's work for a race: both decoders on each prompt, timed alternately with nothing else going on.

While the clock runs nothing is sent and nothing recorded. Between two rounds, or two plain steps, the race only checks
whether it is still wanted; a run's times do not include that.
"""

from collections.abc import Sequence
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.decoding import make_drafter
from specviz.decoding.run_setup import set_up_run
from specviz.measure.compare import quality
from specviz.measure.paired_runs import PairedRuns
from specviz.measure.race import RaceLap, RacePrompt, load_quality
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import TokenTexts
from specviz.service.protocol import Finished, LapRaced, Progress, Race, Started
from specviz.service.workshop import IsStopped, Steps, Workshop


def race_steps(command: Race, workshop: Workshop, stopped: IsStopped) -> Steps:
    """One `LapRaced` for each prompt after the first `done`; `Progress` before each repeat.

    Raises:
        InputError: a prompt does not fit; the sentence names it, and nothing has been timed by then.
    """
    prompts, settings = command.prompts, command.request.settings
    target, draft = yield from workshop.load_pair(command.job, command.request)
    drafter = make_drafter(target, draft, settings)
    _check(target, draft, prompts, settings)
    yield Started(command.job)
    for prompt in prompts[command.done :]:
        runs = PairedRuns(target, drafter, prompt.text, settings, is_stopped=stopped)
        step = Progress(command.job, "warming up", len(prompts), prompt=prompt.name, repeats=command.repeats)
        yield step
        runs.warm_up()
        for repeat in range(1, command.repeats + 1):
            yield replace(step, phase="timing", repeat=repeat)
            if not runs.repeat():
                yield None  # a chance to hear the stop
                return
        yield LapRaced(command.job, _lap(runs, target, prompt))
    yield Finished(command.job)


def _check(
    target: LoadedModel, draft: LoadedModel | None, prompts: Sequence[RacePrompt], settings: DecodeSettings
) -> None:
    for prompt in prompts:
        try:
            set_up_run(target, None, prompt.text, settings)
            if draft and draft.context < target.context:
                set_up_run(target, draft, prompt.text, settings)
        except InputError as error:
            raise InputError(f"{prompt.name}: {error}") from None


def _lap(runs: PairedRuns, target: LoadedModel, prompt: RacePrompt) -> RaceLap:
    """What was measured, after at least one repeat. The two texts are compared only now, off the clock."""
    speculative, plain = runs.shown
    token_texts = TokenTexts(target.tokenizer)
    return RaceLap(
        speculative=speculative,
        plain=plain,
        speculative_seconds=runs.speculative.seconds,
        plain_seconds=runs.plain.seconds,
        name=prompt.name,
        speculative_prefill=runs.speculative.prefill,
        plain_prefill=runs.plain.prefill,
        plain_tokens=[token_texts[token_id] for token_id in plain.output.token_ids],
        quality=load_quality(quality(target, speculative, plain)),
        draws=runs.draws,
    )
