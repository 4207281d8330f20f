"""The recorded runs of the story, what each must show, and the measured figures beside them. No model, no Streamlit.

`scripts/record_story.py` searches for runs that fit. Tests check the recorded runs against the same conditions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from statistics import geometric_mean
from typing import Self

from pydantic import TypeAdapter, ValidationError

from specviz.core.assets import ASSETS
from specviz.core.errors import InputError
from specviz.core.intervals import interval_of_ratios
from specviz.core.metrics import count, speedup
from specviz.core.trace import Round, Trace, read_trace
from specviz.data.lessons.method_runs import METHOD_RUNS


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What one recorded run of the story must be."""

    wanted: str  # what it shows, in words
    fits: Callable[[Trace], bool]
    score: Callable[[Trace], float]  # of the runs that fit, the one with the highest score is recorded
    enough: int = 1_000  # fitting runs after which the search may stop


@dataclass(frozen=True, slots=True)
class Measured:
    """One setting, measured over several prompts."""

    target: str
    draft: str
    draft_length: int
    temperature: float
    rounds: int
    emitted: int
    drafted: int
    accepted: int
    rejected: int
    speedups: list[float]  # of each prompt: the geometric mean of its repeats

    @property
    def speedup(self) -> float:
        """The geometric mean over the prompts."""
        return geometric_mean(self.speedups)

    def resolved_from(self, other: Self) -> bool:
        """Whether these prompts tell the two settings apart: the 95 % interval of the paired ratios leaves out 1."""
        low, high = interval_of_ratios([a / b for a, b in zip(self.speedups, other.speedups, strict=True)])
        return low > 1 or high < 1


@dataclass(frozen=True, slots=True)
class Overlap:
    """How often a drafted token is accepted at temperature 1, averaged over positions of real text.

    p and q are the target's and the draft's probabilities.
    """

    positions: int
    product: float  # Σ p·q: the draft draws, and the target's own draw must be the same token
    minimum: float  # Σ min(p, q): the draft draws, and the lossless rule judges
    most_likely: float  # p(argmax q): the draft takes its most likely token, and the target's draw must be the same


@dataclass(frozen=True, slots=True)
class Passes:
    """The time of one target pass over several tokens, as calibrated by benchmarks/family.py."""

    target: str
    parameters: int
    dtype: str
    tokens: int
    ratio: float  # v(tokens): the time of a pass over so many, over that of a pass over one
    recorded_on: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Sweeps measured when the story was recorded."""

    recorded_on: str
    draft_lengths: list[Measured]
    drafts: list[Measured]
    temperatures: list[Measured]
    overlap: Overlap
    passes: list[Passes]  # one for each number format
    tried: dict[str, int]  # how many runs were tried for each recorded run, before one was chosen


def mixed_round(trace: Trace) -> Round | None:
    """The first round with an accepted, a rejected and a discarded token."""
    return next((r for r in trace.rounds if r.accepted and r.rejected and r.discarded), None)


def full_round(trace: Trace, after: int = -1) -> Round | None:
    """The first round of full length, after one with this index, in which all is accepted and a bonus is added."""
    length = trace.settings.draft_length
    later = trace.rounds[after + 1 :]
    return next((r for r in later if r.accepted == length and r.emitted.kind == "bonus"), None)


def wasted_round(trace: Trace) -> Round | None:
    """The first of the rounds with the most rejected and discarded tokens."""
    return max(trace.rounds, key=lambda r: r.rejected + r.discarded, default=None)


def drawn_round(trace: Trace) -> Round | None:
    """The round whose token was rejected by a dice roll that could have accepted it, with the most even leftover."""
    lost = [r for r in trace.rounds if r.rejected and 0.5 <= (r.drafted[r.accepted].accept_prob or 0.0) < 1]
    shown = [r for r in lost if any(c.id == r.emitted.id for c in r.emitted.residual_top)]
    return min(shown, key=lambda r: max(c.r for c in r.emitted.residual_top), default=None)


def same_text(trace: Trace) -> bool:
    """Whether the target alone wrote the same tokens."""
    return trace.autoregressive is not None and trace.autoregressive.token_ids == trace.output.token_ids


def _shows_a_round(trace: Trace) -> bool:
    """Every kind of round, in a run that gains."""
    gain = speedup(trace) or 0.0
    return mixed_round(trace) is not None and full_round(trace) is not None and same_text(trace) and gain > 1.05


def _early(trace: Trace) -> float:
    """Highest where both kinds of round come early and the mixed one has two accepted tokens."""
    mixed, full = mixed_round(trace), full_round(trace)
    assert mixed is not None
    assert full is not None
    return (mixed.accepted == 2) - 0.2 * (mixed.index + full.index) - (0.5 if mixed.index == full.index - 1 else 0)


def _accepted_by_chance(trace: Trace) -> bool:
    """Sampling with a token accepted although p < q, and one rejected by a dice roll that could have accepted it."""
    tokens = [token for round in trace.rounds for token in round.drafted]
    lucky = any(t.status == "accepted" and (t.accept_prob or 1) < 1 for t in tokens)
    return lucky and drawn_round(trace) is not None


def _rate(trace: Trace) -> float:
    return count(trace.rounds).acceptance_rate or 0.0


def _gain(trace: Trace) -> float:
    return speedup(trace) or 0.0


def _per_call(trace: Trace) -> float:
    """Tokens per target call: exact, so that no lucky timing chooses a run."""
    return count(trace.rounds).tokens_per_target_call or 0.0


RECORDED_RUNS = {
    "round": RecordedRun("a run with a mixed round, a full round and the target's own text", _shows_a_round, _early),
    "pays": RecordedRun(
        "a run that gains clearly", lambda t: _gain(t) > 1.2 and _rate(t) > 0.5 and same_text(t), _per_call
    ),
    "no-gain": RecordedRun(
        "a run that loses because few drafted tokens are accepted",
        lambda t: _gain(t) < 0.9 and _rate(t) < 0.4 and same_text(t) and len(t.rounds) > 3,
        lambda t: -_per_call(t),
    ),
    "costly": RecordedRun(
        "a run that loses although most drafted tokens are accepted",
        lambda t: _gain(t) < 0.95 and _rate(t) > 0.6 and same_text(t),
        _rate,
    ),
    "sampled": RecordedRun(
        "a sampled run with a token accepted and one rejected by chance", _accepted_by_chance, _rate, enough=6
    ),
}


STORY = "story-"  # before the name of such a run, in its file's name and in links


def linked_trace(link_name: str) -> Trace | None:
    """The recorded run that a link names; None where there is none of that name."""
    if link_name in METHOD_RUNS:
        return story_trace(link_name)
    name = link_name.removeprefix(STORY)
    return story_trace(name) if link_name.startswith(STORY) and name in RECORDED_RUNS else None


@cache
def story_trace(name: str) -> Trace:
    """The recorded run of that name, of the story or of a method.

    Raises:
        InputError: its file is missing or damaged.
    """
    file = name if name in METHOD_RUNS else f"{STORY}{name}"
    return read_trace(ASSETS / "traces" / f"{file}.json")


@cache
def story_figures() -> Figures:
    """The recorded sweeps.

    Raises:
        InputError: the file is missing or damaged.
    """
    path = ASSETS / "story" / "figures.json"
    try:
        return TypeAdapter(Figures).validate_json(path.read_bytes(), strict=True)
    except (OSError, ValidationError) as error:
        raise InputError(f"{path.name}, the story's figures, cannot be read: {type(error).__name__}.") from error
