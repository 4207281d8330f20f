"""Both decoders on the same prompt, timed alternately: races, sweeps and the command line measure with this only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean

import torch

from specviz.core.errors import DisturbedError
from specviz.core.intervals import interval_of_mean
from specviz.core.metrics import Costs, count, first_difference
from specviz.core.rounding import judge_difference
from specviz.core.rounds import known_seconds
from specviz.core.settings import DecodeSettings, repeat_settings
from specviz.core.steps import Steps, drop_pauses
from specviz.core.trace import Trace
from specviz.core.verdict import mark_disturbed, verdict_of_run
from specviz.decoding import AutoregressiveRun, Drafter, SpeculativeRun, alternate
from specviz.decoding.sampler import LogitsConstraint
from specviz.measure import paired
from specviz.measure.calibration import LENGTHS, calibration_steps, tree_sizes
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary
from specviz.models.tokens import TokenTexts

ROWS = 32  # of logits at a time: with 128,256 tokens in the vocabulary they are 16 MB, and again while they are scaled


Pairs = list[tuple[Trace, Trace]]  # of a speculative and a plain run, made back to back


def shown_pair(pairs: Pairs) -> tuple[Trace, Trace]:
    """The runs to show: greedy, each decoder's median; sampled, the median pair."""
    if pairs[0][0].settings.greedy:
        seconds = [[decode_seconds(run) for run in runs] for runs in zip(*pairs, strict=True)]
        fast, alone = map(paired.median_index, seconds)
        return pairs[fast][0], pairs[alone][1]
    a_token = [[decode_seconds(run) / len(run.output.token_ids) for run in pair] for pair in pairs]
    return pairs[paired.median_index([ours / plain for ours, plain in a_token])]


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
    measured: Pairs = field(init=False, default_factory=list)

    def warm_up_steps(self) -> Steps[None]:
        """A few untimed rounds and steps: the first passes over a prompt are slow and say nothing of either decoder.

        Raises InputError: the prompt and all of `settings.max_new_tokens` do not fit.
        """
        self.drafter.set_up(self.target, self.prompt, self.settings)
        most = min(self.settings.max_new_tokens, 2 * self.settings.draft_length + 2)
        few = replace(self.settings, max_new_tokens=most)
        yield from self.speculative_steps(few)
        yield from self.plain_steps(few)

    def repeat_steps(self) -> Steps[None]:
        settings = repeat_settings(self.settings, len(self.measured))
        ours, alone = self.speculative_steps(settings), self.plain_steps(settings)
        if len(self.measured) % 2:
            speculative = yield from ours
            plain = yield from alone
        else:
            plain = yield from alone
            speculative = yield from ours
        self.measured.append((speculative, plain))

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

    warm_up = drop_pauses(warm_up_steps)
    repeat = drop_pauses(repeat_steps)


def decode_seconds(trace: Trace) -> float:
    if trace.drafter is None and trace.autoregressive:
        return sum(trace.autoregressive.seconds_per_token)
    return sum(known_seconds(round.seconds) for round in trace.rounds)


def run_both(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    constraint: LogitsConstraint | None = None,
    of_plain: LogitsConstraint | None = None,
) -> Trace:
    """One run of each decoder, in turns, after a warm-up of both; each has a constraint of its own, which follows it.

    The pair's costs are measured after it, and say whether its times are trusted.
    """
    PairedRuns(target, drafter, prompt, settings, constraint).warm_up()
    speculative = SpeculativeRun(target, drafter, prompt, settings, constraint=constraint)
    plain = AutoregressiveRun(target, prompt, settings, constraint=of_plain)
    for _ in chain(speculative.read_prompt(), alternate(speculative, plain)):
        pass
    steps = plain.trace().autoregressive
    trace = replace(speculative.trace(), autoregressive=steps and replace(steps, alternating=True))
    costs = measure_costs(target, drafter, settings)
    verdict = verdict_of_run(trace, costs)
    return trace if costs and (verdict is None or verdict.trusted) else mark_disturbed(trace)


def compare(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    repeats: int = 5,
    progress: Callable[[str], None] = lambda line: None,
    constraint: LogitsConstraint | None = None,
) -> paired.Comparison:
    """Measure both decoders alternately, after a warm-up of both; above temperature 0 with a new seed each repeat."""
    runs = PairedRuns(target, drafter, prompt, settings, constraint)
    progress("warming up")
    runs.warm_up()
    for repeat in range(1, repeats + 1):
        progress(f"repeat {repeat} of {repeats}")
        runs.repeat()
    progress("calibrating")
    return comparison_of(runs.measured, target, costs=measure_costs(target, drafter, settings, LENGTHS))


def comparison_of(measured: Pairs, target: LoadedModel, name: str = "", *, costs: Costs | None) -> paired.Comparison:
    """What was measured, after at least one repeat. The two texts are compared only now, off the clock.

    `costs` are the pair's, measured here; None: the machine was too busy for that, so the times are not trusted.
    """
    speculative, plain = shown_pair(measured)
    token_texts = TokenTexts(target.tokens)
    sampled = [] if speculative.settings.greedy else measured
    return paired.Comparison(
        speculative=speculative,
        plain=plain,
        speculative_seconds=[decode_seconds(ours) for ours, _ in measured],
        plain_seconds=[decode_seconds(alone) for _, alone in measured],
        draws=[
            paired.SampledRepeat(ours.settings.seed, count(ours.rounds), len(alone.output.token_ids))
            for ours, alone in sampled
        ],
        name=name,
        speculative_prefill=[paired.prefill_seconds(ours) for ours, _ in measured],
        plain_prefill=[paired.prefill_seconds(alone) for _, alone in measured],
        plain_tokens=[token_texts[token_id] for token_id in plain.output.token_ids],
        quality=quality(target, speculative, plain),
        costs=costs,
    ).judge_times()


def costs_steps(
    target: LoadedModel, drafter: Drafter, settings: DecodeSettings, lengths: Sequence[int] = ()
) -> Steps[Costs | None]:
    """What the pair costs here, at the draft length of the settings or at these; None: too busy a machine for it."""
    tree, lengths = settings.tree, lengths or [settings.draft_length]
    try:
        steps = calibration_steps(target, drafter.loaded, tree_sizes(tree), tree, drafter, lengths=lengths)
        return (yield from steps).costs
    except DisturbedError:
        return None


measure_costs = drop_pauses(costs_steps)


def quality(target: LoadedModel, speculative: Trace, plain: Trace) -> paired.Quality:
    """How the two outputs compare: greedy, where they first differ; sampled, how likely the target finds each."""
    prompt, ours, theirs = plain.prompt.token_ids, speculative.output.token_ids, plain.output.token_ids
    if plain.settings.greedy:
        at = first_difference(ours, theirs)
        if at is None or at >= min(len(ours), len(theirs)):
            return paired.GreedyQuality(at, None)
        logits = next_logits(target, [*prompt, *theirs[:at]])
        gap, lead = top2_gap(logits), float(logits[theirs[at]] - logits[ours[at]])
        judged = judge_difference(lead, target.info.dtype, target.name)
        return paired.GreedyQuality(at, gap, lead=lead, explained=judged.state)
    its, other = (mean_log_probability(target, prompt, text) for text in (ours, theirs))
    return paired.SampledQuality(its, other)


def top2_gap(logits: torch.Tensor) -> float:
    """Of next-token logits, the two highest: where their difference is near 0, rounding can decide."""
    best, second = logits.topk(2).values.tolist()
    return float(best - second)


def mean_log_probability(target: LoadedModel, prompt: Sequence[int], output: Sequence[int]) -> paired.LogProbability:
    """Mean over the output's tokens of log p(token), in nats, with the 95 % t-interval of that mean."""
    model = CachedModel(target, shared_vocabulary(target))
    model.prefill(prompt[:-1])
    each: list[float] = []
    for start in range(0, len(output), ROWS):  # the logits of all can be gigabytes
        written = torch.tensor(output[start : start + ROWS])
        before = [*prompt[-1:], *output][start : start + len(written)]
        rows = model.read(before).log_softmax(-1)
        each += rows.gather(1, written[:, None])[:, 0].tolist()
    if len(each) < 2:
        return paired.LogProbability(each[0], None, None)
    return paired.LogProbability(fmean(each), *interval_of_mean(each))


def next_logits(target: LoadedModel, text: Sequence[int], draft: LoadedModel | None = None) -> torch.Tensor:
    """Of the token after a text, of those that both models know: (vocabulary,)."""
    model = CachedModel(target, shared_vocabulary(target, draft))
    model.prefill(text[:-1])
    return model.read(text[-1:])[0]
