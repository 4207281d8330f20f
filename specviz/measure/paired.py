"""What repeats of both decoders on one prompt say: ratios, speedup, counts, verdict. Race and compare have one type."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from statistics import geometric_mean, median_low
from time import monotonic
from typing import Annotated, Literal

from pydantic import Field

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import Judgement, judge
from specviz.core.metrics import Costs, Counts, count
from specviz.core.rounding import Judged
from specviz.core.rounds import Piece, known_seconds
from specviz.core.settings import MAX_DRAFT_LENGTH
from specviz.core.terms import Terms, terms_of
from specviz.core.texts import Sentences
from specviz.core.trace import Trace
from specviz.core.verdict import Verdict, is_busy, is_disturbed, mark_disturbed, quiet, verdict_of_ratios

FEWEST = 3  # repeats of one task whose interval says how noisy they were; Student's t makes that of two wide


@dataclass(frozen=True, slots=True)
class SampledRepeat:
    seed: int
    counts: Counts  # of the speculative run
    plain_tokens: int


@dataclass(frozen=True, slots=True)
class TimedDecoder:
    """One of the two decoders; each list has one number for each repeat."""

    tokens: list[int]
    seconds: list[float]  # decoding without prefill
    prefill: list[float]

    @property
    def rates(self) -> list[float]:
        return [tokens / its for tokens, its in zip(self.tokens, self.seconds, strict=True)]

    @property
    def latency(self) -> list[float]:
        return [a + b for a, b in zip(self.prefill, self.seconds, strict=True)]


@dataclass(frozen=True, slots=True)
class LogProbability:
    mean: float
    low: float | None  # None for a text of one token
    high: float | None


@dataclass(frozen=True, slots=True)
class GreedyQuality:
    first_difference: int | None  # None: nowhere
    top2_gap: float | None  # of logits
    kind: Literal["greedy"] = "greedy"
    # How far apart the logits of the two tokens that were written are, and what follows; None in older files.
    lead: float | None = None
    explained: Judged | None = None


@dataclass(frozen=True, slots=True)
class SampledQuality:
    speculative: LogProbability
    autoregressive: LogProbability
    kind: Literal["sampling"] = "sampling"


Quality = GreedyQuality | SampledQuality


@dataclass(frozen=True, slots=True)
class Comparison:
    """Alternating repeats of both decoders on one prompt: a prompt of a race, or what `specviz compare` measures.

    Greedy, every repeat writes the same tokens, so one repeat's counts are those of all. Above temperature 0 every
    repeat has a seed of its own: counts are then the sum over the repeats, and the interval of the speedup says how
    far it would vary with other seeds as well as with other timings.
    """

    speculative: Trace  # of the repeat that is shown: greedy, the median time; sampled, the median ratio
    plain: Trace
    speculative_seconds: list[float]  # decoding without prefill, of each repeat
    plain_seconds: list[float]
    draws: list[SampledRepeat] = field(default_factory=list, kw_only=True)  # of each repeat; empty: all wrote the same
    name: str  # the prompt's
    speculative_prefill: list[float]  # seconds to read the prompt (target and draft), of each repeat
    plain_prefill: list[float]
    plain_tokens: list[Piece]  # one display text for each token of the plain output
    quality: Quality
    # Measured beside the repeats; None: the machine was too busy. Files of races do not have them.
    costs: Annotated[Costs | None, Field(exclude=True)] = field(default=None, kw_only=True)

    @property
    def seeds(self) -> list[int]:
        return [draw.seed for draw in self.draws] or [self.speculative.settings.seed]

    @property
    def counts(self) -> Counts:
        return total([draw.counts for draw in self.draws]) if self.draws else count(self.speculative.rounds)

    @property
    def plain_written(self) -> int:
        return sum(draw.plain_tokens for draw in self.draws) or len(self.plain.output.token_ids)

    @property
    def repeats(self) -> list[SampledRepeat]:
        if self.draws:
            return self.draws
        written = len(self.plain.output.token_ids)
        same = SampledRepeat(self.speculative.settings.seed, count(self.speculative.rounds), written)
        return [same] * len(self.plain_seconds)

    @property
    def ours(self) -> TimedDecoder:
        tokens = [repeat.counts.emitted for repeat in self.repeats]
        return TimedDecoder(tokens, self.speculative_seconds, self.speculative_prefill)

    @property
    def alone(self) -> TimedDecoder:
        return TimedDecoder([repeat.plain_tokens for repeat in self.repeats], self.plain_seconds, self.plain_prefill)

    @property
    def ratios(self) -> list[float]:
        return [ours / plain for ours, plain in zip(self.ours.rates, self.alone.rates, strict=True)]

    @property
    def speedup(self) -> float:
        """The measured speedup, by the one definition that Race, compare and their files share.

        It is the geometric mean of `ratios`. The two runs of a ratio were made back to back, so a slow moment of the
        machine slows both; and 2× and ½× average to 1×. `verdict.interval` is the 95 % interval from the same ratios.
        It is not the ratio of the two median times.
        """
        return geometric_mean(self.ratios)

    @property
    def both(self) -> Trace:
        """The speculative run that is shown, with the steps of the target alone beside it."""
        return replace(self.speculative, autoregressive=self.plain.autoregressive)

    @property
    def terms(self) -> Terms | None:
        return self.terms_at(self.costs)

    @property
    def predicted(self) -> Judgement | None:
        """Modelled from the costs and the acceptance, see `Terms.speedup`; None without either."""
        if self.costs is None or self.terms is None:
            return None

        def modelled(costs: Costs) -> float:
            terms = self.terms_at(costs)
            return terms.speedup if terms else 0.0

        return judge(modelled(self.costs), self.costs.interval(modelled), modelled=True)

    def terms_at(self, costs: Costs | None) -> Terms | None:
        terms = terms_of(self.both, costs)
        counts, alpha = self.counts, self.counts.per_judgement_rate
        if terms is None or alpha is None or not self.draws:
            return terms
        rounds = {"tokens": counts.emitted / counts.rounds, "drafted": counts.drafted / counts.rounds}
        shown = self.speculative.rounds
        of_rounds = terms.at_costs * rounds["tokens"] * len(shown) / count(shown).emitted
        if self.speculative.settings.tree:  # the sums hold its nodes, not its depths and places
            alpha = terms.alpha
            del rounds["drafted"]
        counted = terms.counted and replace(terms.counted, **rounds)
        return replace(terms, alpha=alpha, counted=counted, of_rounds=of_rounds)

    @property
    def identical(self) -> bool | None:
        """Greedy: whether both wrote the same token ids. None when sampling: two random draws need not agree."""
        if not self.speculative.settings.greedy:
            return None
        return self.speculative.output.token_ids == self.plain.output.token_ids

    @property
    def verdict(self) -> Verdict:
        return verdict_of_ratios(self.ratios, self.terms, trusted=self.trusted)

    @property
    def trusted(self) -> bool:
        """False: the machine was busy, so the times say nothing."""
        return not is_disturbed(self.plain)

    def judge_times(self) -> "Comparison":
        """The same, marked where its noise, or the costs measured beside it, show that the machine was busy.

        Sampled repeats differ in their texts too, so only the costs say how noisy they were.
        """
        noise = interval_of_ratios(self.ratios) if len(self.ratios) >= FEWEST and not self.draws else None
        busy = self.costs is None or is_busy(self.both, self.speedup, noise, quiet(self.both, self.costs))
        return replace(self, plain=mark_disturbed(self.plain)) if busy else self


def median_index(seconds: Sequence[float]) -> int:
    """The repeat whose time is the median; the faster of the middle two where their number is even."""
    return seconds.index(median_low(seconds))


def prefill_seconds(trace: Trace) -> float:
    """Both models read the prompt."""
    return known_seconds(trace.prefill_seconds.target) + known_seconds(trace.prefill_seconds.draft)


def total(every: Iterable[Counts]) -> Counts:
    return Counts(*map(sum, zip(*map(astuple, every), strict=True)))


@dataclass(frozen=True, slots=True)
class Pace:
    speculative: float
    plain: float

    @property
    def both(self) -> float:
        return self.speculative + self.plain


def pace_of_costs(costs: Costs) -> Pace:
    """The pace of a pair whose costs are known: rounds of four drafted tokens that write three."""
    return Pace(costs.step_seconds * costs.round_steps(4) / 3, costs.step_seconds)


say = Sentences("durations")
CALIBRATION = 27  # rounds of each draft length; `measure/calibration.py` says so too, but imports torch


def calibration_seconds(costs: Costs) -> float:
    """About how long it takes to measure the costs of such a pair."""
    rounds = sum(costs.round_steps(length) for length in range(1, MAX_DRAFT_LENGTH + 1))
    return CALIBRATION * rounds * costs.step_seconds


def show_duration(seconds: float) -> str:
    if seconds < 90:
        return say("seconds", seconds=max(5, 5 * round(seconds / 5)))
    return say("minutes", minutes=seconds / 60) if seconds < 5400 else say("hours", hours=seconds / 3600)


def show_rest(began: float, done: int, total: int) -> str:
    """How long the rest takes, if it goes on as since `began`, by the monotonic clock; empty: nothing is done yet."""
    return say("left", duration=show_duration((monotonic() - began) / done * (total - done))) if done > 0 else ""
