"""The engine's work for a race: both decoders on each prompt, timed in turns with nothing else going on.

While the clock runs nothing is sent and nothing recorded; between two rounds, or two plain steps, there is only a look
at whether the job is still wanted, which is outside what a run times.
"""

from collections.abc import Callable, Iterator, Sequence

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.decoding import make_drafter
from specviz.decoding.run_setup import set_up_run
from specviz.measure.compare import quality
from specviz.measure.paired_runs import PairedRuns
from specviz.measure.race import RaceLap, RacePrompt, dump_lap, load_quality
from specviz.models.loaded_model import LoadedModel
from specviz.models.token_texts import TokenTexts
from specviz.service.protocol import Finished, JobEvent, Race, Results, Started

Steps = Iterator[JobEvent | None]
Stopped = Callable[[], bool]  # whether the race is no longer wanted


def race_steps(command: Race, target: LoadedModel, draft: LoadedModel | None, stopped: Stopped) -> Steps:
    """Race on every prompt; one `Results` item a prompt (`race.load_lap` reads it), notes between repeats.

    Raises:
        InputError: a prompt does not fit, named; nothing has been timed by then.
    """
    prompts, settings = command.prompts, command.request.settings
    drafter = make_drafter(target, draft, settings)
    _check(target, draft, prompts, settings)
    yield Started(command.job)
    for number, prompt in enumerate(prompts, start=1):
        runs = PairedRuns(target, drafter, prompt.text, settings, is_stopped=stopped)
        before = f"Prompt {number} of {len(prompts)}"
        yield Results(command.job, [], len(prompts), f"{before}, warming up")
        runs.warm_up()
        for repeat in range(command.repeats):
            yield Results(command.job, [], len(prompts), f"{before}, repeat {repeat + 1} of {command.repeats}")
            if not runs.repeat():
                yield None  # a chance to hear the stop
                return
        yield Results(command.job, [dump_lap(_lap(runs, target, prompt))], len(prompts), before)
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
    speculative, plain = runs.speculative.median, runs.plain.median
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
    )
