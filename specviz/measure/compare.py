"""Compare: both decoders on the same prompt, timed alternately. The command line and the pages both call this."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev

import torch

from specviz.core.errors import DisturbedError, InputError
from specviz.core.intervals import student_t
from specviz.core.metrics import first_difference
from specviz.core.rounding import judge_difference
from specviz.core.settings import DecodeSettings
from specviz.core.terms import Terms
from specviz.core.trace import Trace
from specviz.decoding import Drafter, autoregressive_decode, speculative_decode
from specviz.decoding.sampler import LogitsConstraint
from specviz.measure.calibration import Calibration, calibrate, tree_sizes
from specviz.measure.paired import Paired
from specviz.measure.paired_runs import PairedRuns
from specviz.measure.race import GreedyQuality, LogProbability, Quality, SampledQuality
from specviz.models.cached_model import CachedModel
from specviz.models.loaded_model import LoadedModel
from specviz.models.pairing import shared_vocabulary

ROWS = 32  # of logits at a time: with 128,256 tokens in the vocabulary they are 16 MB, and again while they are scaled

Progress = Callable[[str], None]


def run_both(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    constraint: LogitsConstraint | None = None,
) -> Trace:
    PairedRuns(target, drafter, prompt, settings, constraint).warm_up()
    trace = speculative_decode(target, drafter, prompt, settings, constraint=constraint)
    plain = autoregressive_decode(target, prompt, settings, constraint=constraint)
    return replace(trace, autoregressive=plain.autoregressive)


@dataclass(frozen=True, slots=True)
class Comparison(Paired):
    calibration: Calibration | None  # None: the machine was too busy
    quality: Quality

    @property
    def terms(self) -> Terms | None:
        return self.terms_at(self.calibration.costs if self.calibration else None)

    @property
    def predicted_speedup(self) -> float | None:
        """Modelled from the calibration and the acceptance; None without either. See `Terms.speedup`."""
        terms = self.terms
        return terms.speedup if terms and self.calibration else None


def compare(
    target: LoadedModel,
    drafter: Drafter,
    prompt: str | Sequence[int],
    settings: DecodeSettings,
    repeats: int = 5,
    progress: Progress = lambda line: None,
    constraint: LogitsConstraint | None = None,
) -> Comparison:
    """Measure both decoders alternately, after a warm-up of both; above temperature 0 with a new seed each repeat."""
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, not {repeats}.")
    runs = PairedRuns(target, drafter, prompt, settings, constraint)
    progress("warming up")
    runs.warm_up()
    for repeat in range(1, repeats + 1):
        progress(f"repeat {repeat} of {repeats}")
        runs.repeat()
    progress("calibrating")
    measured = runs.measured
    speculative, plain = measured.shown
    return Comparison(
        speculative=speculative,
        plain=plain,
        speculative_seconds=measured.speculative.seconds,
        plain_seconds=measured.plain.seconds,
        calibration=_calibrated(target, drafter, settings.tree),
        quality=quality(target, speculative, plain),
        draws=measured.draws,
    )


def _calibrated(target: LoadedModel, drafter: Drafter, tree: str | None) -> Calibration | None:
    try:
        return calibrate(target, drafter.loaded, tree_sizes(tree), tree, drafter)
    except DisturbedError:
        return None


def quality(target: LoadedModel, speculative: Trace, plain: Trace) -> Quality:
    """How the two outputs compare: greedy, where they first differ; sampled, how likely the target finds each."""
    prompt, ours, theirs = plain.prompt.token_ids, speculative.output.token_ids, plain.output.token_ids
    if plain.settings.greedy:
        at = first_difference(ours, theirs)
        if at is None or at >= min(len(ours), len(theirs)):
            return GreedyQuality(at, None)
        logits = next_logits(target, [*prompt, *theirs[:at]])
        gap, lead = top2_gap(logits), float(logits[theirs[at]] - logits[ours[at]])
        judged = judge_difference(lead, target.info.dtype, target.name)
        return GreedyQuality(at, gap, lead=lead, explained=judged.state)
    return SampledQuality(mean_log_probability(target, prompt, ours), mean_log_probability(target, prompt, theirs))


def top2_gap(logits: torch.Tensor) -> float:
    """Of next-token logits, the two highest: where their difference is near 0, rounding can decide."""
    best, second = logits.topk(2).values.tolist()
    return float(best - second)


def mean_log_probability(target: LoadedModel, prompt: Sequence[int], output: Sequence[int]) -> LogProbability:
    """Mean over the output's tokens of log p(token), in nats, with the 95 % t-interval of that mean."""
    each = _log_probabilities(target, prompt, output)
    if len(each) < 2:
        return LogProbability(each[0], None, None)
    mean, half = fmean(each), student_t(len(each) - 1) * stdev(each) / math.sqrt(len(each))
    return LogProbability(mean, mean - half, mean + half)


def next_logits(target: LoadedModel, text: Sequence[int]) -> torch.Tensor:
    model = CachedModel(target, shared_vocabulary(target))
    model.prefill(text[:-1])
    return model.read(text[-1:])[0]


def _log_probabilities(target: LoadedModel, prompt: Sequence[int], output: Sequence[int]) -> list[float]:
    """log p of each token of the output. A part of the output is read at a time: the logits of all can be gigabytes."""
    model = CachedModel(target, shared_vocabulary(target))
    model.prefill(prompt[:-1])
    each: list[float] = []
    for start in range(0, len(output), ROWS):
        written = torch.tensor(output[start : start + ROWS])
        before = [*prompt[-1:], *output][start : start + len(written)]
        rows = model.read(before).log_softmax(-1)
        each += rows.gather(1, written[:, None])[:, 0].tolist()
    return each
