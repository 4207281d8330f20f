"""Both decoders on one prompt, timed alternately. Race and compare measure with this and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from specviz.core.errors import InputError
from specviz.core.metrics import count
from specviz.core.rounds import known_seconds
from specviz.core.settings import DecodeSettings, repeat_settings
from specviz.core.steps import Steps, at_once
from specviz.core.trace import Trace
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun
from specviz.decoding.sampler import LogitsConstraint
from specviz.measure.paired import Draw
from specviz.models.loaded_model import LoadedModel


@dataclass(slots=True)
class Repeats:
    traces: list[Trace] = field(default_factory=list)

    @property
    def seconds(self) -> list[float]:
        return [decode_seconds(trace) for trace in self.traces]

    @property
    def prefill(self) -> list[float]:
        phases = [trace.prefill_seconds for trace in self.traces]
        return [known_seconds(phase.target) + known_seconds(phase.draft) for phase in phases]

    @property
    def median(self) -> Trace:
        return self.traces[median_index(self.seconds)]


@dataclass(slots=True)
class Measured:
    """Pairs of runs, each made back to back."""

    speculative: Repeats = field(default_factory=Repeats)
    plain: Repeats = field(default_factory=Repeats)

    @property
    def repeats(self) -> int:
        return len(self.plain.traces)

    @property
    def pairs(self) -> list[tuple[Trace, Trace]]:
        return list(zip(self.speculative.traces, self.plain.traces, strict=True))

    @property
    def draws(self) -> list[Draw]:
        sampled = [pair for pair in self.pairs if not pair[0].settings.greedy]
        return [Draw(one.settings.seed, count(one.rounds), len(plain.output.token_ids)) for one, plain in sampled]

    @property
    def shown(self) -> tuple[Trace, Trace]:
        """The speculative and the plain run to show: greedy, each decoder's median; sampled, the median pair."""
        if not self.draws:
            return self.speculative.median, self.plain.median
        a_token = [[decode_seconds(run) / len(run.output.token_ids) for run in pair] for pair in self.pairs]
        return self.pairs[median_index([ours / plain for ours, plain in a_token])]


@dataclass(slots=True)
class PairedRuns:
    """Both decoders on one prompt; each repeat is a pair of runs made back to back.

    The target alone goes first in the first pair, speculative decoding in the second, and so on: whatever slows the
    machine gradually then slows both alike. While a run is timed, nothing is recorded but times.

    Greedy, all repeats write the same text. Above temperature 0 each repeat has a new seed (seed, seed + 1, ...), the
    same for both decoders: one seed's draw can be far from the mean, and repeating it would show only timing noise.

    The steps may be paused at any yield, which is between two rounds or plain steps. Each of these is timed by itself,
    so a run's times do not include a pause.
    """

    target: LoadedModel
    drafter: Drafter
    prompt: str | Sequence[int]
    settings: DecodeSettings
    constraint: LogitsConstraint | None = None
    measured: Measured = field(default_factory=Measured)  # goes on with these pairs; they are added to

    def warm_up_steps(self) -> Steps[None]:
        """A few untimed rounds and steps: the first passes over a prompt are slow and say nothing of either decoder."""
        most = min(self.settings.max_new_tokens, 2 * self.settings.draft_length + 2)
        few = replace(self.settings, max_new_tokens=most)
        yield from self.speculative_steps(few)
        yield from self.plain_steps(few)

    def repeat_steps(self) -> Steps[None]:
        settings = repeat_settings(self.settings, self.measured.repeats)
        ours, alone = self.speculative_steps(settings), self.plain_steps(settings)
        if self.measured.repeats % 2:
            speculative = yield from ours
            plain = yield from alone
        else:
            plain = yield from alone
            speculative = yield from ours
        self.measured.plain.traces.append(plain)
        self.measured.speculative.traces.append(speculative)

    def speculative_steps(self, settings: DecodeSettings) -> Steps[Trace]:
        run = SpeculativeRun(self.target, self.drafter, self.prompt, settings, record=False, constraint=self.constraint)
        for _ in chain(run.read_prompt(), run.rounds()):
            yield
        return run.trace()

    def plain_steps(self, settings: DecodeSettings) -> Steps[Trace]:
        run = AutoregressiveRun(self.target, self.prompt, settings, constraint=self.constraint)
        for _ in chain(run.read_prompt(), run.steps()):
            yield
        return run.trace()

    warm_up = at_once(warm_up_steps)
    repeat = at_once(repeat_steps)


def decode_seconds(trace: Trace) -> float:
    if trace.drafter is None and trace.autoregressive:
        return sum(trace.autoregressive.seconds_per_token)
    return sum(known_seconds(round.seconds) for round in trace.rounds)


def median_index(seconds: Sequence[float]) -> int:
    """The repeat whose time is the median; the faster of the middle two where their number is even."""
    if not seconds:
        raise InputError("A race needs at least one repeat.")
    order = sorted(range(len(seconds)), key=lambda index: seconds[index])
    return order[(len(order) - 1) // 2]
