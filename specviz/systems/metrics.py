"""Counters that are written as name, labels and value: Prometheus' pages and its API, printed lists, or JSON.

They come with any system's prefix or none.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from specviz.core.errors import InputError
from specviz.systems.counts import MAX_POSITIONS, number, numbers, say_count
from specviz.systems.finding import MAX_LINE, JsonObject

MOST_SAMPLES = 5_000
Labels = tuple[tuple[str, str], ...]

SAME = {"tokens_predicted": "generation_tokens", "requests_processing": "num_requests_running"}  # llama.cpp's names
COMMON = {*SAME, "generation_tokens", "num_requests_running", "request_success"}
PREFIXES = "vllm|llamacpp|sglang|trtllm"
_NAME = re.compile(
    rf"(?:({PREFIXES})[:_]|[a-z]\w{{1,30}}:(?=spec_decode_))?(?:(spec_decode)_)?([a-z_]+?)(?:_total)?(?=[\s{{=:|\"',;]|$)"
)
# What may stand before a name: signs of a list or a table, the file and the number of a line as `grep` writes them.
_BEFORE = re.compile(rf"[\s|*+•-]{{0,20}}(?:[^\s{{}}]{{1,80}}?[:-](?=(?:{PREFIXES})[:_]))?")
_PRINTED = re.compile(
    r"(?:Counter|Gauge|Vector)\(name='([\w:]{1,100})',\s*labels=\{([^{}]{0,400})\},\s*values?=(\[[\d.,\s]*\]|[^\s,)\]]+)"
)
_LABEL = re.compile(r"'(\w{1,60})': '([^']{0,200})'")


class Metrics:
    """The samples of a text whose names are known. A counter that is there twice counts what came between the two."""

    def __init__(self, text: str, found: Sequence[JsonObject], known: set[str]) -> None:
        self.values: dict[str, dict[Labels, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.samples = 0
        self.known = known | COMMON
        self.prefix = ""  # vllm, llamacpp, sglang, …, or none
        self.used: dict[str, None] = {}  # the names that were asked for and found
        for line in map(str.strip, text.splitlines()):
            if len(line) <= MAX_LINE or "{" not in line:
                self._read_line(line)
        for name, labels, value in _samples(text, found):
            if (of := _NAME.fullmatch(name)) and of[3] in self.known and not isinstance(value, dict):
                self._add(of, labels, value)

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def total(self, name: str) -> float | None:
        if name not in self:
            return None
        self.used[name] = None
        return sum(_counted(name, values) for values in self.values[name].values())

    def need(self, name: str) -> float:
        if (found := self.total(name)) is None:
            raise InputError(say_count("missing", name=name))
        return found

    def mean(self, name: str) -> float | None:
        """The mean of a gauge over all ranks, without the draft model's own worker."""
        found = self.values.get(name, {}).items()
        if not (values := [each[-1] for labels, each in found if ("engine_type", "draft") not in labels]):
            return None
        self.used[name] = None
        return sum(values) / len(values)

    def list_positions(self, name: str, label: str = "position") -> list[float]:
        counts: dict[str, float] = defaultdict(float)
        for labels, values in self.values.get(name, {}).items():
            self.used[name] = None
            counts[dict(labels).get(label, "")] += _counted(name, values)
        places = [str(place) for place in range(min(len(counts), MAX_POSITIONS))]
        if counts.keys() != set(places):
            raise InputError(say_count("position_gap"))
        return [counts[place] for place in places]

    def _read_line(self, line: str) -> None:
        before = _BEFORE.match(line)
        name = _NAME.match(line, before.end() if before else 0)
        if name is None or name[3] not in self.known:
            return
        after = line.partition(" # {")[0][name.end() :]  # Prometheus may write an example after the value
        labels, brace, written = after.rpartition("}")
        written = written.strip(" \t:=|,;\"'")
        if not written or ("{" in after and not brace):  # the line was cut off
            return
        if written.startswith("["):
            self._add(name, (), list(numbers(written.strip("[]").split(","), name[0])))
            return
        value, _, rest = written.replace("\t", " ").partition(" ")  # a time may follow the value
        value = value if rest.strip().isdecimal() else " ".join(written.split())
        if not brace:
            self._add(name, (), value)
            return
        from prometheus_client.parser import text_string_to_metric_families  # few visitors need it: not at start-up

        try:
            [family] = text_string_to_metric_families(f"x{labels}}} 1")
            [sample] = family.samples
        except ValueError:  # the parser's own messages repeat the whole line
            raise InputError(say_count("no_labels", name=name[0][:60])) from None
        self._add(name, tuple(sorted(sample.labels.items())), value)

    def _add(self, name: re.Match[str], labels: Labels, value: object) -> None:
        its = self.values[SAME.get(name[3], name[3])]
        self.prefix = self.prefix or name[1] or ""
        for position, each in enumerate(value) if isinstance(value, list) else [(None, value)]:
            self.samples += 1
            if self.samples > MOST_SAMPLES:
                raise InputError(say_count("too_many_lines", most=MOST_SAMPLES))
            its[labels if position is None else (("position", str(position)),)].append(number(each, name[0]))


def _samples(text: str, found: Sequence[JsonObject]) -> Iterator[tuple[str, Labels, object]]:
    """Samples as fields of JSON, of Prometheus' HTTP API, and as Python prints them."""
    yield from ((key, (), value) for each in found for key, value in each.items() if value is not None)
    for each in found:
        labels, value = each.get("metric"), each.get("value")
        if not isinstance(labels, dict) or not isinstance(name := labels.get("__name__"), str):
            continue
        samples = [value] if value is not None else each.get("values")
        kept = tuple(sorted((key, str(label)) for key, label in labels.items() if key != "__name__"))
        # A range holds several values in time: its first and its last one are taken.
        for sample in (samples[:1] + samples[1:][-1:]) if isinstance(samples, list) else ():
            yield name, kept, sample[1] if isinstance(sample, list) and len(sample) == 2 else sample
    for name, written, value in _PRINTED.findall(text):  # vLLM's `llm.get_metrics()` (vllm/v1/metrics/reader.py)
        kept = tuple(sorted(_LABEL.findall(written)))
        yield name, kept, value.strip("[]").split(",") if value.startswith("[") else value


def _counted(name: str, values: list[float]) -> float:
    counted = values[-1] - values[0] if len(values) > 1 else values[0]
    if counted < 0:
        raise InputError(say_count("smaller_second", name=name))
    return counted
