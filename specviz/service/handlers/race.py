"""The engine's work for a race: both decoders on each prompt, timed in turns with nothing else going on.

While the clock runs nothing is sent and nothing recorded; between two rounds, or two plain steps, there is only a look
at whether the job is still wanted, which is outside what a run times.
"""

from collections.abc import Callable, Iterator, Sequence

from specviz.core.errors import InputError
from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, make_drafter
from specviz.decoding.run_setup import set_up_run
from specviz.measure.compare import quality, warm_up
from specviz.measure.race import (
    RaceLap,
    RacePrompt,
    decode_seconds,
    dump_lap,
    load_quality,
    median_index,
    prefill_seconds,
)
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
        race = PromptRace(target, drafter, prompt, settings, stopped)
        before = f"Prompt {number} of {len(prompts)}"
        yield Results(command.job, [], len(prompts), f"{before}, warming up")
        race.warm_up()
        for repeat in range(command.repeats):
            yield Results(command.job, [], len(prompts), f"{before}, repeat {repeat + 1} of {command.repeats}")
            if not race.repeat():
                yield None  # a chance to hear the stop
                return
        yield Results(command.job, [dump_lap(race.lap())], len(prompts), before)
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


class PromptRace:
    """Both decoders on one prompt, in turns."""

    def __init__(
        self, target: LoadedModel, drafter: Drafter, prompt: RacePrompt, settings: DecodeSettings, stopped: Stopped
    ) -> None:
        self._target, self._drafter, self._settings = target, drafter, settings
        self._prompt, self._stopped = prompt, stopped
        self._speculative: list[Trace] = []
        self._plain: list[Trace] = []

    def warm_up(self) -> None:
        """The first passes of a prompt are slow and belong to no one's time."""
        warm_up(self._target, self._drafter, self._prompt.text, self._settings)

    def repeat(self) -> bool:
        """Run both once, the one that went second last time first; False where the race is no longer wanted."""
        turns = [self._run_plain, self._run_speculative]
        if len(self._plain) % 2:
            turns.reverse()
        return all(turn() for turn in turns)

    def lap(self) -> RaceLap:
        """What was measured, after at least one repeat; how good the two texts are is looked at only now."""
        speculative_seconds = [decode_seconds(trace) for trace in self._speculative]
        plain_seconds = [decode_seconds(trace) for trace in self._plain]
        speculative = self._speculative[median_index(speculative_seconds)]
        plain = self._plain[median_index(plain_seconds)]
        token_texts = TokenTexts(self._target.tokenizer)
        return RaceLap(
            speculative=speculative,
            plain=plain,
            speculative_seconds=speculative_seconds,
            plain_seconds=plain_seconds,
            name=self._prompt.name,
            speculative_prefill=[prefill_seconds(trace) for trace in self._speculative],
            plain_prefill=[prefill_seconds(trace) for trace in self._plain],
            plain_tokens=[token_texts[token_id] for token_id in plain.output.token_ids],
            quality=load_quality(quality(self._target, speculative, plain)),
        )

    def _run_plain(self) -> bool:
        run = AutoregressiveRun(self._target, self._prompt.text, self._settings)
        for _ in run.steps():
            if self._stopped():
                return False
        self._plain.append(run.trace())
        return True

    def _run_speculative(self) -> bool:
        run = SpeculativeRun(self._target, self._drafter, self._prompt.text, self._settings, record=False)
        for _ in run.rounds():
            if self._stopped():
                return False
        self._speculative.append(run.trace())
        return True
