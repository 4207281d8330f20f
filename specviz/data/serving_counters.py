"""Speculation counters of vLLM and SGLang, read from pasted text.

Two things are easy to get wrong. vLLM's rate of a position is (accepted at this position) / (number of drafts). So it
falls along the draft even when every token is equally easy to guess: it is the product of the per-judgement rates up to
this position. SGLang's `accept len` counts the target's own token. Its `accept rate` counts that token too in older
versions, and does not in newer ones.
"""

import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from specviz.core.errors import InputError
from specviz.core.theory import alpha_from_acceptance_rate

MAX_CHARACTERS = 1_000_000
MAX_POSITIONS = 64
MAX_LINE = 4_000  # characters; a longer line is not a counter, and parsing it could be slow
ENGINES = ("vllm:", "sglang:")
NOTHING_FOUND = (
    "No speculative decoding counters were found in this text: paste the /metrics page of vLLM or SGLang, or a log "
    "line with “SpecDecoding metrics” or “accept len”."
)


@dataclass(frozen=True, slots=True)
class ServingCounters:
    """The speculation figures that a serving engine reports, checked."""

    engine: Literal["vLLM", "SGLang"]
    tokens_per_target_call: float  # includes the target's own token
    draft_length: float | None = None  # mean drafted tokens per round; None if the text does not say
    survival: tuple[float, ...] = ()  # share of rounds in which position 1, 2, ... was accepted
    running: float | None = None  # requests that are decoded together

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / drafted; None if the draft length is unknown."""
        return (self.tokens_per_target_call - 1) / self.draft_length if self.draft_length else None

    @property
    def position_rates(self) -> tuple[float, ...]:
        """Per judgement, h_j: of the rounds that reached position j, the share that accepted it."""
        before = (1.0, *self.survival)
        return tuple(here / reached for here, reached in zip(self.survival, before, strict=False) if reached)

    @property
    def counts_judgements(self) -> bool:
        """Whether rejections can be counted. They can if every round drafted up to the last position."""
        full = self.draft_length is None or abs(self.draft_length - len(self.survival)) < 0.01
        return bool(self.survival) and full

    def alpha(self, draft_length: int) -> float:
        """The per-judgement rate: accepted / (accepted + rejected).

        A round has one rejection unless it accepted its last position. If rejections cannot be counted, this is the
        alpha that gives the same number of accepted tokens when `draft_length` tokens are drafted every round.
        """
        accepted = self.tokens_per_target_call - 1
        if self.counts_judgements and self.survival[-1] < 1:
            return accepted / (accepted + 1 - self.survival[-1])
        return alpha_from_acceptance_rate(min(1.0, accepted / draft_length), draft_length)


def read_counters(text: str) -> ServingCounters:
    """Read pasted metrics or log lines.

    Of several log lines, the last one is used. If a counter is pasted twice, the difference is used.

    Raises:
        InputError: one sentence about what is missing or impossible.
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
    """Name → labels → the values in the order pasted. Only whole lines of the two engines are read."""
    found: Series = defaultdict(lambda: defaultdict(list))
    for line in map(str.strip, text.splitlines()):
        if line.startswith(ENGINES) and len(line) <= MAX_LINE and (written := _written_value(line)):
            name, labels, value = _sample(line, written)
            found[name][labels].append(value)
    return found


def _written_value(line: str) -> str:
    """What follows the name and its labels; empty if the line was cut off before it."""
    if "{" not in line:
        return " ".join(line.split()[1:])
    _, brace, rest = line.rpartition("}")
    return rest.strip() if brace else ""


def _sample(line: str, written: str) -> tuple[str, Labels, float]:
    """The counter's name without `_total`, its labels and its value."""
    from prometheus_client.parser import text_string_to_metric_families  # few visitors need it: not at start-up

    try:
        [family] = text_string_to_metric_families(line)
        [sample] = family.samples
    except ValueError:  # the parser's own messages repeat the whole line
        raise InputError(f"{_name(line)} is {_shown(written)}, which is not a number from 0 up.") from None
    if not 0 <= sample.value <= sys.float_info.max:
        raise InputError(f"{_name(line)} is {_shown(written)}, which is not a number from 0 up.")
    return sample.name.removesuffix("_total"), tuple(sorted(sample.labels.items())), float(sample.value)


def _name(line: str) -> str:
    """The counter's name as written, short enough for a sentence."""
    return re.split(r"[\s{]", line)[0][:60]


def _counted(values: list[float]) -> float:
    """A counter's value. If it was pasted twice, what was counted between the two."""
    return values[-1] - values[0] if len(values) > 1 else values[0]


def _sum(series: Series, name: str) -> float | None:
    """A counter, summed over all engines."""
    return sum(map(_counted, series[name].values())) if name in series else None


def _mean(series: Series, name: str) -> float | None:
    """The mean of a gauge over all ranks, without the draft model's own worker."""
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
        raise InputError("vllm:spec_decode_num_drafts_total is missing: without it the tokens per round are unknown.")
    if accepted is None and not by_position:
        raise InputError("vllm:spec_decode_num_accepted_tokens_total is missing.")
    if drafts <= 0:
        raise InputError("vllm:spec_decode_num_drafts_total says that nothing was drafted.")
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
        raise InputError("The per-position counters must be those of positions 0, 1, 2, … without a gap.")
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
    """Drafted tokens per round, from SGLang's two figures.

    The rate has two meanings. Newer versions: (length − 1) / drafted. Older versions: length / (drafted + 1), with the
    target's own token on both sides. The meaning that gives a whole number is used.
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
        raise InputError(f"{name[:60]} is {_shown(text)}, which is not a number from 0 up.")
    return value


def _shown(text: str) -> str:
    """A short piece of what was pasted, without characters that a page could read as markup."""
    return "“" + re.sub(r"[^\w.+-]", "?", text[:20]) + "”"


def _checked(counters: ServingCounters) -> ServingCounters:
    """Refuse figures that contradict each other."""
    tokens, rate = counters.tokens_per_target_call, counters.acceptance_rate
    if tokens < 1:
        raise InputError(f"{tokens:.2f} tokens per target call is impossible: every call writes at least one.")
    if rate is not None and rate > 1.001:
        raise InputError("More tokens are accepted than drafted: these counters do not belong together.")
    if max(len(counters.survival), counters.draft_length or 0) > MAX_POSITIONS:
        raise InputError(f"These counters report more than {MAX_POSITIONS} drafted tokens per round.")
    if any(after > before + 0.001 for before, after in zip((1.0, *counters.survival), counters.survival, strict=False)):
        raise InputError("A later position is accepted more often than the one before it, which is impossible.")
    return counters
