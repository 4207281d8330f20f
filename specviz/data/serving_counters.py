"""What production says of speculation: vLLM's and SGLang's counters, read from pasted text.

Two things bite. vLLM's rate of a position is accepted there / drafts, so it falls along the draft even where every
judgement is alike: it is the product of the per-judgement rates up to there. And SGLang's `accept len` counts the
target's own token, while its `accept rate` did too in older versions and does not in newer ones.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.theory import alpha_from_acceptance_rate

MAX_CHARACTERS = 1_000_000
MAX_POSITIONS = 64
NOTHING_FOUND = (
    "No speculative decoding counters were found in this text: paste the /metrics page of vLLM or SGLang, or a log "
    "line with “SpecDecoding metrics” or “accept len”."
)

_SERIES = re.compile(
    r'^[ \t]*(?P<name>(?:vllm|sglang):\w+)(?:\{(?P<labels>(?:[^"}\n]|"[^"\n]*")*)\})?[ \t]+(?P<value>\S+)', re.MULTILINE
)
_LABEL = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class ServingCounters:
    """Speculation as a serving engine counts it, checked."""

    engine: Literal["vLLM", "SGLang"]
    tokens_per_target_call: float  # with the target's own token
    draft_length: float | None = None  # mean tokens drafted a round; None where the text does not say
    survival: tuple[float, ...] = ()  # share of rounds in which position 1, 2, ... was accepted
    running: float | None = None  # requests decoded together

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted; None where the draft length is unknown."""
        return (self.tokens_per_target_call - 1) / self.draft_length if self.draft_length else None

    @property
    def position_rates(self) -> tuple[float, ...]:
        """Per judgement, h_j: of the rounds that came to position j, the share that accepted it."""
        before = (1.0, *self.survival)
        return tuple(here / came for here, came in zip(self.survival, before, strict=False) if came)

    @property
    def counts_judgements(self) -> bool:
        """Whether rejections can be counted: every round drafted to the last position."""
        full = self.draft_length is None or abs(self.draft_length - len(self.survival)) < 0.01
        return bool(self.survival) and full

    def alpha(self, draft_length: int) -> float:
        """Per judgement: accepted / (accepted + rejected) where that is counted, else the alpha that leads to it.

        A round has a rejection unless it accepted its last position. Without counts by position every judgement is
        taken to be alike, with `draft_length` tokens drafted.
        """
        accepted = self.tokens_per_target_call - 1
        if self.counts_judgements and self.survival[-1] < 1:
            return accepted / (accepted + 1 - self.survival[-1])
        return alpha_from_acceptance_rate(min(1.0, accepted / draft_length), draft_length)


def read_counters(text: str) -> ServingCounters:
    """Read pasted metrics or log lines; of several log lines the last counts, of two scrapes the difference.

    Raises:
        InputError: one sentence about what is missing or cannot be.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.")
    series = _series(text)
    readers: tuple[Callable[[], ServingCounters | None], ...] = (
        lambda: _vllm_metrics(series),
        lambda: _vllm_log(text),
        lambda: _sglang_metrics(series),
        lambda: _sglang_log(text),
    )
    for read in readers:
        if (found := read()) is not None:
            return _checked(found)
    raise InputError(NOTHING_FOUND)


Labels = tuple[tuple[str, str], ...]
Series = dict[str, dict[Labels, list[float]]]


def _series(text: str) -> Series:
    """Name → labels → the values in the order pasted."""
    found: Series = defaultdict(lambda: defaultdict(list))
    for match in _SERIES.finditer(text):
        name = match["name"].removesuffix("_total")
        labels = tuple(sorted(_LABEL.findall(match["labels"] or "")))
        found[name][labels].append(_number(match["value"], match["name"]))
    return found


def _counted(values: list[float]) -> float:
    """A counter's value; of two scrapes, what was counted between them."""
    return values[-1] - values[0] if len(values) > 1 else values[0]


def _sum(series: Series, name: str) -> float | None:
    """A counter over all its engines."""
    return sum(map(_counted, series[name].values())) if name in series else None


def _mean(series: Series, name: str) -> float | None:
    """A gauge over all its ranks, the draft model's own worker left out."""
    if name not in series:
        return None
    values = [each[-1] for labels, each in series[name].items() if ("engine_type", "draft") not in labels]
    return sum(values) / len(values) if values else None


def _vllm_metrics(series: Series) -> ServingCounters | None:
    drafts = _sum(series, "vllm:spec_decode_num_drafts")
    drafted = _sum(series, "vllm:spec_decode_num_draft_tokens")
    accepted = _sum(series, "vllm:spec_decode_num_accepted_tokens")
    by_position = _by_position(series)
    if drafts is None and drafted is None and accepted is None and not by_position:
        return None
    if drafts is None:
        raise InputError("vllm:spec_decode_num_drafts_total is missing: without it tokens a round are unknown.")
    if accepted is None and not by_position:
        raise InputError("vllm:spec_decode_num_accepted_tokens_total is missing.")
    if drafts <= 0:
        raise InputError("vllm:spec_decode_num_drafts_total says that nothing has been drafted.")
    accepted = sum(by_position) if accepted is None else accepted
    return ServingCounters(
        "vLLM",
        1 + accepted / drafts,
        float(len(by_position)) if drafted is None else drafted / drafts,
        tuple(count / drafts for count in by_position),
        _mean(series, "vllm:num_requests_running"),
    )


def _by_position(series: Series) -> list[float]:
    counts: dict[int, float] = defaultdict(float)
    for labels, values in series.get("vllm:spec_decode_num_accepted_tokens_per_pos", {}).items():
        position = dict(labels).get("position", "")
        if not position.isdecimal() or int(position) >= MAX_POSITIONS:
            raise InputError(f"A per-position counter has position {_shown(position)}; 0, 1, 2, … were expected.")
        counts[int(position)] += _counted(values)
    if sorted(counts) != list(range(len(counts))):
        raise InputError("The per-position counters are not those of positions 0, 1, 2, … without a gap.")
    return [counts[position] for position in range(len(counts))]


def _vllm_log(text: str) -> ServingCounters | None:
    lines = [line for line in text.splitlines() if "SpecDecoding metrics:" in line]
    if not lines:
        return None
    length = _field(lines[-1], r"Mean acceptance length: *([^\s,]+)")
    if length is None:
        raise InputError("The vLLM log line has no “Mean acceptance length”.")
    accepted, drafted = (_field(lines[-1], rf"{name}: *(\d+) tokens") for name in ("Accepted", "Drafted"))
    listed = re.search(r"Per-position acceptance rate:([\d., ]*)", lines[-1])
    survival = _numbers(listed[1].split(",")) if listed else ()
    drafts = accepted / (length - 1) if accepted and length > 1 else None
    mean_drafted = float(len(survival)) if survival else drafted / drafts if drafted and drafts else None
    running = _field(text, r"Running: *(\d+) reqs")
    return ServingCounters("vLLM", 1 + sum(survival) if survival else length, mean_drafted, survival, running)


def _sglang_metrics(series: Series) -> ServingCounters | None:
    length = _mean(series, "sglang:spec_accept_length")
    if length is None:
        return None
    tokens = _mean(series, "sglang:spec_num_draft_tokens")
    known = tokens - 1 if tokens and tokens > 1 else None
    drafted = known or _drafted(length, _mean(series, "sglang:spec_accept_rate"))
    return ServingCounters("SGLang", length, drafted, running=_mean(series, "sglang:num_running_reqs"))


def _sglang_log(text: str) -> ServingCounters | None:
    lines = [line for line in text.splitlines() if "accept len:" in line]
    if not lines:
        return None
    length = _field(lines[-1], r"accept len: *([^\s,]+)")
    if length is None:
        raise InputError("The SGLang log line has no number after “accept len”.")
    drafted = _drafted(length, _field(lines[-1], r"accept rate: *([^\s,]+)"))
    return ServingCounters("SGLang", length, drafted, running=_field(lines[-1], r"#running-req: *(\d+)"))


def _drafted(length: float, rate: float | None) -> float | None:
    """Tokens drafted a round, from SGLang's two figures, whichever meaning of the rate gives a whole number.

    Newer: (length − 1) / drafted. Older: length / (drafted + 1), the target's own token counted on both sides.
    """
    if not rate or length <= 1:
        return None
    readings = [(length - 1) / rate, length / rate - 1]
    best = min((value for value in readings if value > 0.5), key=lambda value: abs(value - round(value)), default=None)
    return float(round(best)) if best is not None else None


def _field(text: str, pattern: str) -> float | None:
    """The last number the pattern finds."""
    found = re.findall(pattern, text)
    return _number(found[-1], "A figure in the text") if found else None


def _numbers(texts: Iterable[str]) -> tuple[float, ...]:
    return tuple(_number(text.strip(), "A per-position rate") for text in texts if text.strip())


def _number(text: str, name: str) -> float:
    try:
        value = float(text.rstrip("%"))
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise InputError(f"{name[:60]} is {_shown(text)}, which is no number from 0 up.")
    return value


def _shown(text: str) -> str:
    """A short piece of what was pasted, without what a page could take for markup."""
    return "“" + re.sub(r"[^\w.+-]", "?", text[:20]) + "”"


def _checked(counters: ServingCounters) -> ServingCounters:
    """What the figures say of each other."""
    tokens, rate = counters.tokens_per_target_call, counters.acceptance_rate
    if tokens < 1:
        raise InputError(f"{tokens:.2f} tokens a target call cannot be: every call writes at least one.")
    if rate is not None and rate > 1.001:
        raise InputError("More tokens are accepted than drafted: these counters do not belong together.")
    if max(len(counters.survival), counters.draft_length or 0) > MAX_POSITIONS:
        raise InputError(f"These counters speak of more than {MAX_POSITIONS} drafted tokens a round.")
    if any(after > before + 0.001 for before, after in zip((1.0, *counters.survival), counters.survival, strict=False)):
        raise InputError("A later position is accepted more often than the one before it, which cannot be.")
    return counters
