"""A race: both decoders on the same prompts, timed alternately. What was measured, and the figures computed from it.

Pure data and functions: no model, no clock, no Streamlit. `specviz.measure.paired_runs` measures, the Race page shows,
and `specviz.measure.compare` computes its figures with the same `Paired`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.rounding import Judged
from specviz.core.rounds import known_seconds
from specviz.core.terms import Terms
from specviz.core.trace import Piece, Trace
from specviz.core.verdict import Verdict, verdict_of_ratios
from specviz.measure.paired import Paired

MAX_PROMPTS = 8
MAX_REPEATS = 20
EmittedStatus = Literal["accepted", "correction", "bonus", "own"]


@dataclass(frozen=True, slots=True)
class RacePrompt:
    """A prompt and the short name it is shown by: a preset's, or "own-1"."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LogProbability:
    """The target's mean log-probability a token of one text, in nats at temperature 1, with its 95 % interval."""

    mean: float
    low: float | None  # None for a text of one token
    high: float | None


@dataclass(frozen=True, slots=True)
class GreedyQuality:
    """Where two greedy outputs first differ, and how close the target's two most likely tokens were there."""

    first_difference: int | None  # None: nowhere
    top2_gap: float | None  # of logits
    kind: Literal["greedy"] = "greedy"
    # How far apart the logits of the two tokens that were written are, and what follows; None in older files.
    lead: float | None = None
    explained: Judged | None = None


@dataclass(frozen=True, slots=True)
class SampledQuality:
    """How likely the target finds each of two draws."""

    speculative: LogProbability
    autoregressive: LogProbability
    kind: Literal["sampling"] = "sampling"


Quality = GreedyQuality | SampledQuality


@dataclass(frozen=True, slots=True)
class RaceLap(Paired):
    """One prompt of a race. It holds one trace of each decoder, of the repeat that the lanes play."""

    name: str  # the prompt's
    speculative_prefill: list[float]  # seconds to read the prompt (target and draft), of each repeat
    plain_prefill: list[float]
    plain_tokens: list[Piece]  # one display text for each token of the plain output
    quality: Quality

    @property
    def speculative_tokens(self) -> list[str]:
        """One display text for each token of the speculative output."""
        return [text for round in burst_texts(self.speculative) for text, _ in round]

    @property
    def speculative_latency(self) -> list[float]:
        """Prompt and decoding together, in seconds, of each repeat."""
        return [a + b for a, b in zip(self.speculative_prefill, self.speculative_seconds, strict=True)]

    @property
    def plain_latency(self) -> list[float]:
        """Prompt and decoding together, in seconds, of each repeat."""
        return [a + b for a, b in zip(self.plain_prefill, self.plain_seconds, strict=True)]


def burst_texts(speculative: Trace) -> list[list[tuple[str, EmittedStatus]]]:
    """What each round added to the text: token texts and how each was chosen."""
    bursts: list[list[tuple[str, EmittedStatus]]] = []
    for round in speculative.rounds:
        burst: list[tuple[str, EmittedStatus]] = [(token.shown, "accepted") for token in round.accepted_tokens]
        if round.added != "none":
            burst.append((round.emitted.text, round.added))
        bursts.append(burst)
    return bursts


def burst_clock(speculative: Trace) -> list[float]:
    """Seconds from the start of decoding to the end of each round."""
    return list(accumulate(known_seconds(round.seconds) for round in speculative.rounds))


def overall_verdict(laps: Sequence[RaceLap]) -> Verdict | None:
    """The verdict over prompts: the geometric mean of their speedups, and its 95 % interval. None without prompts.

    With one prompt it is that prompt's verdict. With more, the interval is over prompts, not over repeats.
    """
    if len(laps) == 1:
        return laps[0].verdict
    return verdict_of_ratios([lap.speedup for lap in laps], pooled_terms(laps))


def pooled_terms(laps: Sequence[RaceLap]) -> Terms | None:
    """Acceptance over all prompts' judged tokens, and the median of their costs; None where nothing was judged."""
    terms = [found for lap in laps if (found := lap.terms)]
    if not terms:
        return None
    accepted = sum(lap.counts.accepted for lap in laps)
    judged = accepted + sum(lap.counts.rejected for lap in laps)
    return Terms(
        alpha=accepted / judged,
        draft_length=max(found.draft_length for found in terms),
        cost_ratio=median(found.cost_ratio for found in terms),
        verification=median(found.verification for found in terms),
        overhead=median(found.overhead for found in terms),
    )


def lap_figures(lap: RaceLap) -> dict[str, Any]:
    """The figures of one prompt by name, as the CSV and JSON downloads have them; see `race_table.race_frame`."""
    counts, verdict, drafter = lap.counts, lap.verdict, lap.speculative.drafter
    assert drafter is not None
    low, high = verdict.interval or (None, None)
    return {
        "prompt": lap.name,
        "target": lap.speculative.target.name,
        "target_dtype": lap.speculative.target.dtype,
        "draft": drafter.name,
        "draft_dtype": drafter.dtype,
        "machine": lap.speculative.recorded_on.machine,
        "threads": lap.speculative.recorded_on.threads,
        "draft_length": lap.speculative.settings.draft_length,
        "draft_schedule": lap.speculative.settings.draft_schedule,
        "temperature": lap.speculative.settings.temperature,
        "seed": lap.seeds[0],
        "prompt_tokens": len(lap.plain.prompt.token_ids),
        "speculative_tokens": counts.emitted,
        "plain_tokens": lap.plain_written,
        "drafted": counts.drafted,
        "accepted": counts.accepted,
        "rejected": counts.rejected,
        "discarded": counts.discarded,
        "target_calls": counts.rounds,
        "acceptance_rate": counts.acceptance_rate,
        "per_judgement_rate": counts.per_judgement_rate,
        "speculative_latency": median(lap.speculative_latency),
        "plain_latency": median(lap.plain_latency),
        "speculative_tokens_per_second": median(lap.speculative_rates),
        "plain_tokens_per_second": median(lap.plain_rates),
        "speedup": lap.speedup,
        "speedup_low": low,
        "speedup_high": high,
        "verdict": verdict.label,
        "certain": verdict.certain,
        "identical": lap.identical,
        "draft_sampling": lap.speculative.settings.draft_sampling,
        "verification": lap.speculative.settings.verification,
        "tree": lap.speculative.settings.tree,
    }


_LAP: TypeAdapter[RaceLap] = TypeAdapter(RaceLap)
_QUALITY: TypeAdapter[Quality] = TypeAdapter(Quality)


def load_quality(found: dict[str, Any]) -> Quality:
    """What `specviz.measure.compare.quality` says, typed."""
    return _QUALITY.validate_python(found)


def dump_lap(lap: RaceLap) -> dict[str, Any]:
    """One prompt's measurements as plain JSON, as the engine sends them."""
    return dict(_LAP.dump_python(lap, mode="json"))


def load_lap(item: object) -> RaceLap:
    """What `dump_lap` made.

    Raises:
        InputError: it is not a lap.
    """
    try:
        return _LAP.validate_python(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "its start"
        raise InputError(f"The race is not valid at {where[:120]}: {first['msg'][:200]}.") from None
