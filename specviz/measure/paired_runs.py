"""Both decoders on one prompt, timed alternately. Race and compare measure with this and nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from specviz.core.settings import DecodeSettings
from specviz.core.trace import Trace
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, autoregressive_decode, speculative_decode
from specviz.decoding.constraints import LogitsConstraint
from specviz.measure.race import decode_seconds, median_index, prefill_seconds
from specviz.models.loaded_model import LoadedModel

IsStopped = Callable[[], bool]  # whether the measurement is no longer wanted


@dataclass(slots=True)
class Repeats:
    """The timed runs of one decoder, in the order they were made."""

    traces: list[Trace] = field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        """Decoding without prefill, in seconds, of each repeat."""
        return [decode_seconds(trace) for trace in self.traces]

    @property
    def prefill(self) -> list[float]:
        """Reading the prompt, in seconds, of each repeat."""
        return [prefill_seconds(trace) for trace in self.traces]

    @property
    def median(self) -> Trace:
        """The repeat whose time is the median.

        Raises:
            InputError: there are no repeats.
        """
        return self.traces[median_index(self.seconds)]


class PairedRuns:
    """Both decoders on one prompt; each repeat is a pair of runs made back to back.

    The target alone goes first in the first pair, speculative decoding in the second, and so on: whatever slows the
    machine gradually then slows both alike. While a run is timed, nothing is recorded but times.

    Args:
        is_stopped: asked between two rounds or steps; a run's times do not include that.
    """

    def __init__(
        self,
        target: LoadedModel,
        drafter: Drafter,
        prompt: str | Sequence[int],
        settings: DecodeSettings,
        constraint: LogitsConstraint | None = None,
        is_stopped: IsStopped = lambda: False,
    ) -> None:
        self._target, self._drafter, self._prompt, self._settings = target, drafter, prompt, settings
        self._constraint, self._is_stopped = constraint, is_stopped
        self.speculative = Repeats()
        self.plain = Repeats()

    def warm_up(self) -> None:
        """A few untimed rounds and steps."""
        warm_up(self._target, self._drafter, self._prompt, self._settings, self._constraint)

    def repeat(self) -> bool:
        """Time one pair of runs; False where the measurement was stopped before the pair was complete."""
        both = [self._time_plain, self._time_speculative]
        if len(self.plain.traces) % 2:
            both.reverse()
        return all(time_run() for time_run in both)

    def _time_plain(self) -> bool:
        run = AutoregressiveRun(self._target, self._prompt, self._settings, constraint=self._constraint)
        for _ in run.steps():
            if self._is_stopped():
                return False
        self.plain.traces.append(run.trace())
        return True

    def _time_speculative(self) -> bool:
        run = SpeculativeRun(
            self._target, self._drafter, self._prompt, self._settings, record=False, constraint=self._constraint
        )
        for _ in run.rounds():
            if self._is_stopped():
                return False
        self.speculative.traces.append(run.trace())
        return True


def warm_up(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    constraint: LogitsConstraint | None = None,
) -> None:
    """A few untimed rounds and steps: the first passes over a prompt are slow and say nothing about either decoder."""
    few = replace(settings, max_new_tokens=min(settings.max_new_tokens, 2 * settings.draft_length + 2))
    speculative_decode(target, drafter, prompt, few, constraint=constraint)
    autoregressive_decode(target, prompt, few, constraint=constraint)
