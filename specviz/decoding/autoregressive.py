"""Plain decoding: the target alone, one forward pass a token. Speculative decoding must write the same, faster."""

from collections.abc import Iterator, Sequence
from time import perf_counter

import torch

from specviz.core.settings import DecodeSettings
from specviz.core.trace import Autoregressive, PrefillSeconds, Trace
from specviz.decoding.run_setup import RunSetup, set_up_run
from specviz.decoding.sampler import LogitsConstraint, Sampler, constrain, make_sampler
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel


class TimedReading(Iterator[None]):
    """The passes over a prompt, and the seconds they took; what others do between two passes does not count."""

    def __init__(self, steps: Iterator[None], seconds: float = 0.0) -> None:
        self._steps = steps
        self.seconds = seconds

    def __next__(self) -> None:
        began = perf_counter()
        try:
            next(self._steps)
        finally:
            self.seconds += perf_counter() - began


def autoregressive_steps(
    target: CachedModel, sampler: Sampler, token_ids: list[int], setup: RunSetup, constraint: LogitsConstraint | None
) -> Iterator[tuple[int, float]]:
    for _ in range(setup.settings.max_new_tokens):
        began = perf_counter()
        logits = target.read(token_ids[-1:])
        if constraint:
            logits = constrain(logits, constraint, [token_ids])
        token_id = sampler.choose(sampler.scores(logits)[0])
        token_ids.append(token_id)
        yield token_id, perf_counter() - began
        if token_id in setup.ends:
            return


class AutoregressiveRun:
    """One plain run, step by step; `trace()` is the run so far. Raises InputError: see `set_up_run`."""

    def __init__(
        self,
        target: LoadedModel,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        *,
        constraint: LogitsConstraint | None = None,
    ) -> None:
        self.setup = set_up_run(target, None, prompt, settings)
        self._constraint = constraint
        self._sampler = make_sampler(settings, torch.Generator().manual_seed(settings.seed))
        self._token_ids = list(self.setup.prompt.token_ids)
        self._model = CachedModel(target, self.setup.vocabulary)
        self._reading = TimedReading(self._model.prefill_steps(self._token_ids[:-1]))
        self._steps: list[tuple[int, float]] = []

    def read_prompt(self) -> Iterator[None]:
        """Read the prompt, and yield between two passes; a second call reads what is left."""
        yield from self._reading

    def steps(self) -> Iterator[tuple[int, float]]:
        """Decode; yields each token id with the seconds it took. Reads what is left of the prompt first."""
        for _ in self.read_prompt():
            pass
        for step in autoregressive_steps(self._model, self._sampler, self._token_ids, self.setup, self._constraint):
            self._steps.append(step)
            yield step

    def trace(self) -> Trace:
        written = [token_id for token_id, _ in self._steps]
        plain = Autoregressive([seconds for _, seconds in self._steps], written)
        return self.setup.trace(None, PrefillSeconds(self._reading.seconds, 0.0), [], plain, written)


def autoregressive_decode(
    target: LoadedModel,
    prompt: str | Sequence[int],
    settings: DecodeSettings | None = None,
    *,
    constraint: LogitsConstraint | None = None,
) -> Trace:
    """Decode with the target alone; the trace's `autoregressive` and `output` are filled. Errors: see `set_up_run`."""
    run = AutoregressiveRun(target, prompt, settings or DecodeSettings(), constraint=constraint)
    for _ in run.steps():
        pass
    return run.trace()
