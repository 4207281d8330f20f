"""Counters written as name and value: Prometheus pages, printed lists, JSON. Any engine's prefix, or none."""

import re
from collections import defaultdict
from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import number, numbers, shown
from specviz.data.serving_counters.pasted_json import Found

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
