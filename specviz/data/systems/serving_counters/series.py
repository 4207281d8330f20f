"""Counters that are written as name, labels and value: Prometheus pages and its API, printed lists, or JSON.

They come with any engine's prefix or none.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import MAX_POSITIONS, figure, number, numbers, shown
from specviz.data.systems.serving_counters.pasted import MAX_LINE
from specviz.data.systems.serving_counters.records import JsonObject

say = Sentences("counters")

MOST_SAMPLES = 5_000
Labels = tuple[tuple[str, str], ...]
Values = dict[Labels, list[float]]  # labels → the values in the order pasted

SAME = {"tokens_predicted": "generation_tokens", "requests_processing": "num_requests_running"}  # llama.cpp's names
DRAFTING = {"num_drafts", "num_draft_tokens", "num_accepted_tokens", "num_accepted_tokens_per_pos"}
SGLANG = {"spec_accept_length", "spec_accept_rate", "spec_num_steps", "spec_num_draft_tokens", "num_running_reqs"}
SGLANG |= {"spec_verify_calls"}
# TensorRT-LLM (tensorrt_llm/metrics): tokens by position; FastDeploy: tokens with the target's own ones.
# Text Generation Inference: a histogram. vLLM before its version 1: an efficiency, and emitted tokens like FastDeploy.
OTHERS = {"request_skipped_tokens_sum", "request_skipped_tokens_count", "request_generated_tokens_count", "efficiency"}
OTHERS |= {"drafted_tokens", "accepted_tokens", "acceptance_length", "num_emitted_tokens"}
# The time of an output token of a request: its sum, and how many it is the sum of. vLLM's inter_token_latency has one
# value a step, not a token, and is not read. (vllm/v1/metrics/stats.py, llama.cpp's tools/server.)
PER_TOKEN = "request_time_per_output_token_seconds"
LATENCY = {f"{PER_TOKEN}_sum": f"{PER_TOKEN}_count", "tokens_predicted_seconds": "generation_tokens"}
LATENCIES = {*LATENCY, f"{PER_TOKEN}_count"}
ENGINES = {*DRAFTING, *LATENCIES, "generation_tokens", "num_requests_running", "request_success", *SAME}
KNOWN = ENGINES | SGLANG | OTHERS
PREFIXES = "vllm|llamacpp|sglang|trtllm|fastdeploy|tgi"
_NAME = re.compile(
    rf"(?:({PREFIXES})[:_]|[a-z]\w{{1,30}}:(?=spec_decode_))?(?:(spec_decode)_)?([a-z_]+?)(?:_total)?(?=[\s{{=:|\"',;]|$)"
)
# What may stand before a name: signs of a list or a table, the file and the number of a line as `grep` writes them.
_BEFORE = re.compile(rf"[\s|*+•-]{{0,20}}(?:[^\s{{}}]{{1,80}}?[:-](?=(?:{PREFIXES})[:_]))?")
_PRINTED = re.compile(
    r"(?:Counter|Gauge|Vector)\(name='([\w:]{1,100})',\s*labels=\{([^{}]{0,400})\},\s*values?=(\[[\d.,\s]*\]|[^\s,)\]]+)"
)
_LABEL = re.compile(r"'(\w{1,60})': '([^']{0,200})'")


def name_of_line(line: str) -> str | None:
    """The name of the counter that a line begins with, without prefix and `_total`; None for another line."""
    found = _name(line) if len(line) <= MAX_LINE or "{" not in line else None
    return found[3] if found else None


def _name(line: str) -> re.Match[str] | None:
    before = _BEFORE.match(line)
    found = _NAME.match(line, before.end() if before else 0)
    return found if found and found[3] in KNOWN else None


class MetricSeries:
    def __init__(self, text: str, found: Sequence[JsonObject]) -> None:
        self.values: dict[str, Values] = defaultdict(lambda: defaultdict(list))
        self.samples = 0
        self.prefix = ""  # vllm, llamacpp, sglang, …, or none
        self.used: set[str] = set()  # the names that were asked for
        for line in map(str.strip, text.splitlines()):
            if len(line) <= MAX_LINE or "{" not in line:
                self._read_line(line)
        for each in found:
            self._read_object(each)
        for written, labels, value in (*_read_api(found), *_printed(text)):
            if (known := _NAME.fullmatch(written)) and known[3] in KNOWN:
                self._add_any(known, labels, value)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    @property
    def read(self) -> list[str]:
        """The names that were asked for and found, in the order of the text."""
        return [name for name in self.values if name in self.used]

    def total(self, name: str) -> float | None:
        if name not in self:
            return None
        self.used.add(name)
        return sum(_counted(name, values) for values in self.values[name].values())

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
        self.used.add(name)
        values = [each[-1] for labels, each in self.values[name].items() if ("engine_type", "draft") not in labels]
        return sum(values) / len(values) if values else None

    def list_positions(self, name: str, label: str = "position") -> list[float]:
        counts: dict[int, float] = defaultdict(float)
        self.used.add(name)
        for labels, values in self.values.get(name, {}).items():
            position = dict(labels).get(label, "")
            if not position.isdecimal() or len(position) > 3 or int(position) >= MAX_POSITIONS:
                raise InputError(say("wrong_position", position=shown(position)))
            counts[int(position)] += _counted(name, values)
        if sorted(counts) != list(range(len(counts))):
            raise InputError(say("position_gap"))
        return [counts[position] for position in range(len(counts))]

    def _read_line(self, line: str) -> None:
        name = _name(line)
        if name is None:
            return
        line = line.partition(" # {")[0]
        if not (written := _written_value(line[name.end() :])):
            return
        if written.startswith("["):
            self._add_list(name, numbers(written.strip("[]").split(","), name[0]))
        elif "{" in line[name.end() :]:
            labels, value = _sample(line[name.start() :], name[0], written)
            self._add(name, labels, value)
        else:
            self._add(name, (), number(_drop_timestamp(written), name[0]))

    def _read_object(self, found: JsonObject) -> None:
        for key, value in found.items():
            name = _NAME.fullmatch(key)
            if name is None or name[3] not in KNOWN or isinstance(value, dict):
                continue
            if value is not None:
                self._add_any(name, (), value)

    def _add_list(self, name: re.Match[str], values: Sequence[float]) -> None:
        for position, value in enumerate(values):
            self._add(name, (("position", str(position)),), value)

    def _add_any(self, name: re.Match[str], labels: Labels, value: object) -> None:
        if isinstance(value, list):
            self._add_list(name, [number(each, name[0]) for each in value])
        else:
            self._add(name, labels, number(value, name[0]))

    def _add(self, name: re.Match[str], labels: Labels, value: float) -> None:
        self.samples += 1
        if self.samples > MOST_SAMPLES:
            raise InputError(say("too_many_lines", most=MOST_SAMPLES))
        self.prefix = self.prefix or name[1] or ""
        self.values[SAME.get(name[3], name[3])][labels].append(value)


def _read_api(found: Sequence[JsonObject]) -> Iterator[tuple[str, Labels, object]]:
    """Samples of Prometheus' HTTP API. A range holds several values in time: its first and its last one are taken."""
    for each in found:
        labels, value = each.get("metric"), each.get("value")
        if not isinstance(labels, dict) or not isinstance(name := labels.get("__name__"), str):
            continue
        samples = [value] if value is not None else each.get("values")
        kept = tuple(sorted((key, str(label)) for key, label in labels.items() if key != "__name__"))
        for sample in (samples[:1] + samples[1:][-1:]) if isinstance(samples, list) else ():
            yield name, kept, sample[1] if isinstance(sample, list) and len(sample) == 2 else sample


def _printed(text: str) -> Iterator[tuple[str, Labels, object]]:
    """Samples as Python prints them: vLLM's `llm.get_metrics()` (vllm/v1/metrics/reader.py)."""
    for name, labels, value in _PRINTED.findall(text):
        kept = tuple(sorted(_LABEL.findall(labels)))
        yield name, kept, value.strip("[]").split(",") if value.startswith("[") else value


def _written_value(after: str) -> str:
    """The value, of what follows a name; empty if the line was cut off before it."""
    if "{" not in after:
        return after.strip(" \t:=|,;\"'")
    _, brace, rest = after.rpartition("}")
    return rest.strip(" \t|:=,") if brace else ""


def _drop_timestamp(written: str) -> str:
    """Prometheus may write the time of the sample after the value, and an example of one (“# {…} 1.0”)."""
    value, _, rest = written.partition(" ")
    return figure(value if rest.strip().isdecimal() else " ".join(written.split()))


def _sample(line: str, name: str, written: str) -> tuple[Labels, float]:
    from prometheus_client.parser import text_string_to_metric_families  # few visitors need it: not at start-up

    value = number(_drop_timestamp(written.replace("\t", " ")), name)
    try:
        [family] = text_string_to_metric_families(f"{line[: line.rindex('}') + 1]} 1")
        [sample] = family.samples
    except ValueError:  # the parser's own messages repeat the whole line
        raise InputError(say("no_labels", name=name[:60])) from None
    return tuple(sorted(sample.labels.items())), value


def _counted(name: str, values: list[float]) -> float:
    """A counter's value. If it was pasted twice, what was counted between the two."""
    counted = values[-1] - values[0] if len(values) > 1 else values[0]
    if counted < 0:
        raise InputError(say("smaller_second", name=name))
    return counted
