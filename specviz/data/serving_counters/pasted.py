"""What pasted text holds: JSON, of which single requests are added up, and counters written as name and value.

Such counters come as Prometheus pages, printed lists, or JSON, with any engine's prefix or none.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import MAX_POSITIONS, ServingCounters, number, numbers, shown

Found = dict[str, Any]
MOST_PARTS = 10_000
MOST_BRACKETS = 50_000  # more are no answers; each takes many times its size
MOST_FAILED = 200  # places at which no object begins after all
MOST_IN_VAIN = 500_000  # characters that are read from such places
_LINE_START = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
MOST_SAMPLES = 5_000
MAX_LINE = 4_000  # characters; a longer line is not a counter, and parsing it could be slow
Labels = tuple[tuple[str, str], ...]
Values = dict[Labels, list[float]]  # labels → the values in the order pasted

SAME = {"tokens_predicted": "generation_tokens", "requests_processing": "num_requests_running"}  # llama.cpp's names
DRAFTING = {"num_drafts", "num_draft_tokens", "num_accepted_tokens", "num_accepted_tokens_per_pos"}
SGLANG = {"spec_accept_length", "spec_accept_rate", "spec_num_steps", "spec_num_draft_tokens", "num_running_reqs"}
# The time of an output token of a request: its sum, and how many it is the sum of. vLLM's inter_token_latency has one
# value a step, not a token, and is not read. (vllm/v1/metrics/stats.py, llama.cpp's tools/server.)
PER_TOKEN = "request_time_per_output_token_seconds"
LATENCY = {f"{PER_TOKEN}_sum": f"{PER_TOKEN}_count", "tokens_predicted_seconds": "generation_tokens"}
LATENCIES = {*LATENCY, f"{PER_TOKEN}_count"}
ENGINES = {*DRAFTING, *LATENCIES, "generation_tokens", "num_requests_running", *SAME}  # vLLM and llama.cpp
KNOWN = ENGINES | SGLANG
_NAME = re.compile(r"(?:(vllm|llamacpp|sglang)[:_])?(?:(spec_decode)_)?([a-z_]+?)(?:_total)?(?=[\s{=:|\"',]|$)")
_SEPARATOR = re.compile(r"[\s:=|,]+")


def objects(text: str) -> list[Found]:
    """Every JSON object in the text, inner ones too, in the order written. Of a stream only the last line counts."""
    return [inner for value in _values(text) for inner in _inside(value)]


def with_keys(found: Sequence[Found], *keys: str) -> list[Found]:
    return [each for each in found if any(key in each for key in keys)]


def _values(text: str) -> list[Any]:
    """What is JSON: the whole text, the text in braces (a field with its name), a stream's last line, or parts."""
    if not any(brace in text for brace in "{[:") or text.count("{") + text.count("[") > MOST_BRACKETS:
        return []
    for whole in (text, f"{{{text.strip().rstrip(',')}}}"):
        if (value := _read(whole)) is not None:
            return [value]
    pieces = [line[5:] for line in map(str.strip, text.splitlines()) if line.startswith("data:")]
    streamed = [value for piece in pieces if (value := _read(piece)) is not None]
    if not streamed:
        return list(islice(_parts(text), MOST_PARTS))
    # A stream repeats its running totals: the last piece that says anything about drafts.
    return next(([each] for each in reversed(streamed) if _says_anything(each)), [])


def _parts(text: str) -> Iterator[Any]:
    """Every JSON object that begins a line. What is read in vain is bounded: each bracket could read to the end."""
    end, failed, in_vain = 0, 0, 0
    for start in (found.end() - 1 for found in _LINE_START.finditer(text)):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            failed += 1
            in_vain += getattr(error, "pos", len(text)) - start
            if failed == MOST_FAILED or in_vain > MOST_IN_VAIN:
                return
        else:
            yield value


def _says_anything(value: Any) -> bool:
    return any("draft" in key.lower() or "spec" in key for found in _inside(value) for key in found)


def _read(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _short(kind: Callable[[str], float]) -> Callable[[str], float | str]:
    return lambda written: kind(written) if len(written) < LONG else written


LONG = 40  # characters; a longer number stays text, so that it is refused with its name
_DECODER = json.JSONDecoder(parse_int=_short(int), parse_float=_short(float))


def _inside(value: Any) -> Iterator[Found]:
    """The objects in a value, outer ones first, without recursion: the text decides how deep it is."""
    waiting = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting.extend(reversed(list(here.values())))
        elif isinstance(here, list):
            waiting.extend(reversed(here))


@dataclass(frozen=True, slots=True)
class Names:
    """An engine's names for the same four fields. The first that is there counts: older names follow newer ones."""

    steps: tuple[str, ...]
    accepted: tuple[str, ...]
    drafted: tuple[str, ...]
    histogram: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Requests:
    """One request, or several added up. None where a field is missing."""

    steps: float | None
    accepted: float | None
    drafted: float | None
    histogram: tuple[float, ...]  # entry j: the steps that accepted exactly j drafted tokens

    @property
    def survival(self) -> tuple[float, ...]:
        steps = sum(self.histogram)
        return tuple(sum(self.histogram[j:]) / steps for j in range(1, len(self.histogram))) if steps else ()

    def counters(self, engine: str, steps: float | None, **more: Any) -> ServingCounters:
        tokens = 1 + self.accepted / steps if steps and self.accepted is not None else None
        length = self.drafted / steps if steps and tokens and self.drafted else None
        return ServingCounters(engine, tokens, length, self.survival, None, self.drafted, self.accepted, **more)


def read_requests(found: Sequence[Found], names: Names) -> Requests:
    """Add up what these objects say; InputError where that is no number, or contradicts itself."""
    read = [_request_of(each, names) for each in found]
    longest = max((len(each.histogram) for each in read), default=0)
    histograms = [each.histogram + (0.0,) * (longest - len(each.histogram)) for each in read]
    total = Requests(
        _sum([each.steps for each in read]),
        _sum([each.accepted for each in read]),
        _sum([each.drafted for each in read]),
        tuple(map(sum, zip(*histograms, strict=True))) if all(each.histogram for each in read) else (),
    )
    counts, accepted = total.histogram, sum(j * count for j, count in enumerate(total.histogram))
    if counts and total.steps is not None and sum(counts) != total.steps:
        raise InputError(f"The histogram counts {sum(counts):,.0f} steps, but {total.steps:,.0f} are reported.")
    if counts and total.accepted is not None and accepted != total.accepted:
        raise InputError(f"The histogram counts {accepted:,.0f} accepted, but {total.accepted:,.0f} are reported.")
    return total


def _request_of(found: Found, names: Names) -> Requests:
    histogram = _first(found, names.histogram)
    if histogram is not None and (not isinstance(histogram, list) or len(histogram) > MAX_POSITIONS + 1):
        raise InputError(f"{names.histogram[0]} is {shown(str(histogram))}, which is not a list of counts.")
    steps, accepted, drafted = (
        None if (value := _first(found, each)) is None else number(value, each[0])
        for each in (names.steps, names.accepted, names.drafted)
    )
    counts = tuple(number(count, names.histogram[0]) for count in histogram or ())
    if counts and steps is None:
        steps = sum(counts)
    if counts and accepted is None:
        accepted = sum(j * count for j, count in enumerate(counts))
    return Requests(steps, accepted, drafted, counts)


def _first(found: Found, names: tuple[str, ...]) -> object:
    return next((found[name] for name in names if found.get(name) is not None), None)


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def name_of_line(line: str) -> str | None:
    """The name of the counter that a line begins with, without prefix and `_total`; None for another line."""
    found = _NAME.match(line) if len(line) <= MAX_LINE or "{" not in line else None
    return found[3] if found and found[3] in KNOWN else None


class Series:
    def __init__(self, text: str, found: Sequence[Found]) -> None:
        self.values: dict[str, Values] = defaultdict(lambda: defaultdict(list))
        self.samples = 0
        self.prefix = ""  # vllm, llamacpp, sglang, or none
        for line in map(str.strip, text.splitlines()):
            if len(line) <= MAX_LINE or "{" not in line:
                self._read_line(line)
        for each in found:
            self._read_object(each)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def total(self, name: str) -> float | None:
        return sum(_counted(name, values) for values in self.values[name].values()) if name in self else None

    def latency(self) -> float | None:
        for name, count in LATENCY.items():
            seconds, tokens = self.total(name), self.total(count)
            if seconds and tokens:
                return seconds / tokens
        return None

    def mean(self, name: str) -> float | None:
        """The mean of a gauge over all ranks, without the draft model's own worker."""
        if name not in self:
            return None
        values = [each[-1] for labels, each in self.values[name].items() if ("engine_type", "draft") not in labels]
        return sum(values) / len(values) if values else None

    def by_position(self, name: str, most: int) -> list[float]:
        counts: dict[int, float] = defaultdict(float)
        for labels, values in self.values.get(name, {}).items():
            position = dict(labels).get("position", "")
            if not position.isdecimal() or len(position) > 3 or int(position) >= most:
                raise InputError(f"A per-position counter has position {shown(position)}; 0, 1, 2, … were expected.")
            counts[int(position)] += _counted(name, values)
        if sorted(counts) != list(range(len(counts))):
            raise InputError("The per-position counters must be those of positions 0, 1, 2, … without a gap.")
        return [counts[position] for position in range(len(counts))]

    def _read_line(self, line: str) -> None:
        name = _NAME.match(line)
        if name is None or name[3] not in KNOWN or not (written := _written_value(line)):
            return
        self.samples += 1
        if self.samples > MOST_SAMPLES:
            raise InputError(f"The text has more than {MOST_SAMPLES:,} lines of speculation counters: paste fewer.")
        if written.startswith("["):
            self._add_list(name, numbers(written.strip("[]").split(","), name[0]))
        elif "{" in line:
            labels, value = _sample(line, name[0], written)
            self._add(name, labels, value)
        else:
            self._add(name, (), number(_without_timestamp(written), name[0]))

    def _read_object(self, found: Found) -> None:
        for key, value in found.items():
            name = _NAME.fullmatch(key)
            if name is None or name[3] not in KNOWN or isinstance(value, dict):
                continue
            if isinstance(value, list):
                self._add_list(name, [number(each, key) for each in value])
            elif value is not None:
                self._add(name, (), number(value, key))

    def _add_list(self, name: re.Match[str], values: Sequence[float]) -> None:
        for position, value in enumerate(values):
            self._add(name, (("position", str(position)),), value)

    def _add(self, name: re.Match[str], labels: Labels, value: float) -> None:
        self.prefix = self.prefix or name[1] or ""
        self.values[SAME.get(name[3], name[3])][labels].append(value)


def _written_value(line: str) -> str:
    """What follows the name and its labels; empty if the line was cut off before it."""
    if "{" not in line:
        parts = _SEPARATOR.split(re.sub(r"^(vllm|llamacpp|sglang):", "", line), maxsplit=1)
        return parts[1].strip() if len(parts) > 1 else ""
    _, brace, rest = line.rpartition("}")
    return rest.strip(" \t|") if brace else ""


def _without_timestamp(written: str) -> str:
    """Prometheus may write the time of the sample after the value."""
    value, _, rest = written.partition(" ")
    return value if rest.strip().isdecimal() else " ".join(written.split())


def _sample(line: str, name: str, written: str) -> tuple[Labels, float]:
    from prometheus_client.parser import text_string_to_metric_families  # few visitors need it: not at start-up

    value = number(_without_timestamp(written.replace("\t", " ")), name)
    try:
        [family] = text_string_to_metric_families(f"{line[: line.rindex('}') + 1]} 1")
        [sample] = family.samples
    except ValueError:  # the parser's own messages repeat the whole line
        raise InputError(f"The labels of {name[:60]} cannot be read.") from None
    return tuple(sorted(sample.labels.items())), value


def _counted(name: str, values: list[float]) -> float:
    """A counter's value. If it was pasted twice, what was counted between the two."""
    counted = values[-1] - values[0] if len(values) > 1 else values[0]
    if counted < 0:
        raise InputError(f"{name} is smaller in the second copy: paste the older copy first, from one server start.")
    return counted
