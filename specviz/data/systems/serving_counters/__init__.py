"""Speculation counters of serving engines and benchmark tools, read from pasted text.

`names.SYSTEMS` is the table of what each system reports; `pasted` and `series` read the containers that it comes in.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters import llama_cpp, reading, sglang, vllm
from specviz.data.systems.serving_counters.counters import MAX_POSITIONS, ServingCounters, checked
from specviz.data.systems.serving_counters.names import ASKED_LAST, SYSTEMS, USAGE, SystemNames, conventions
from specviz.data.systems.serving_counters.pasted import log_records, objects, plain, select_keys, straight
from specviz.data.systems.serving_counters.reconciled import counters_of
from specviz.data.systems.serving_counters.records import JsonObject, Record, records_of
from specviz.data.systems.serving_counters.rows import rows
from specviz.data.systems.serving_counters.series import MetricSeries, name_of_line

say = Sentences("counters")

__all__ = ["MAX_CHARACTERS", "MAX_POSITIONS", "ServingCounters", "read_counters", "say"]

MAX_CHARACTERS = 1_000_000
MOST_LINES = 50_000  # each costs about as much as fifty characters
# In the names of whatever is counted: a text without one of them need not be read.
WORDS = ("draft", "accept", "spec", "emitted", "skipped", "decoding", "a.len")
RATE = re.compile(r"accept\w{0,6}[ _](?:rate|len(?:gth)?)s?\b\D{0,200}\d", re.IGNORECASE)
ReadText = ServingCounters | None


class PastedText:
    """A text in the forms that the readers want, each made once."""

    def __init__(self, text: str) -> None:
        self.text = plain(text)

    @cached_property
    def found(self) -> list[JsonObject]:
        return objects(self.text)

    @cached_property
    def rows(self) -> list[JsonObject]:
        return rows(self.log)

    @cached_property
    def log(self) -> list[str]:
        return log_records(self.text)

    @cached_property
    def series(self) -> MetricSeries:
        return MetricSeries(self.text, self.found)

    @property
    def limited(self) -> int:
        """How many answers ended at their limit of tokens."""
        reasons = [each["finish_reason"] for each in select_keys(self.found, "finish_reason")]
        return sum((reason.get("type") if isinstance(reason, dict) else reason) == "length" for reason in reasons)


def read_sglang(pasted: PastedText) -> ReadText:
    read = sglang.from_answers(pasted.found, pasted.text, pasted.limited)
    return replace(read[0], reading=reading.describe_names(pasted.found, read[1])) if read else None


def read_table(pasted: PastedText) -> ReadText:
    """Objects, and rows of tables and blocks, of the systems in the table of names."""
    return _read_systems(pasted, SYSTEMS)


def read_rest(pasted: PastedText) -> ReadText:
    return _read_systems(pasted, ASKED_LAST)


def _read_systems(pasted: PastedText, systems: Sequence[SystemNames]) -> ReadText:
    for system in systems:
        for found in (pasted.found, pasted.rows):
            if records := records_of(system, found):
                return _read_records(pasted, records, in_objects=found is pasted.found)
    return None


def _read_records(pasted: PastedText, records: Sequence[Record], in_objects: bool) -> ServingCounters:
    read, system = counters_of(records, pasted.limited), records[0].system
    engines = {engine for record in records if isinstance(engine := record.values.get("engine"), str)}
    used = list(dict.fromkeys(name for record in records for name in record.values if name in record.used))
    used += [name for record in records for name in record.used if name not in used]
    said = reading.describe_names(pasted.found, used) if in_objects else reading.describe_records(pasted.log, used)
    return replace(read, engine=_engine(system, engines), reading=said)


def _engine(system: SystemNames, engines: set[str]) -> str:
    """AIPerf stores the engine beside the record of a request."""
    known = {"vllm": "vLLM", "trtllm": "TensorRT-LLM", "sglang": "SGLang"}
    return known.get(engines.pop().lower(), system.engine) if len(engines) == 1 else system.engine


def read_usage(pasted: PastedText) -> ReadText:
    records = records_of(USAGE, pasted.found)
    if not any(record.number(name) for record in records for name in (USAGE.accepted, USAGE.rejected)):
        return None
    return _read_records(pasted, records, in_objects=True)


def read_series(pasted: PastedText) -> ReadText:
    read: ReadText = None
    for of_page in (
        vllm.from_tensorrt,
        vllm.from_fastdeploy,
        vllm.from_text_generation_inference,
        vllm.from_counters,
    ):
        read = read or of_page(pasted.series)
    read = read or sglang.from_gauges(pasted.series, pasted.text)
    if read is None:
        return None
    also = (sglang.STEPS,) if read.engine == "SGLang" else ()
    return replace(read, reading=_describe_series(pasted, also))


def _describe_series(pasted: PastedText, also: Sequence[str]) -> str:
    names = pasted.series.read
    if pasted.found and not any(name_of_line(line.strip()) for line in pasted.text.splitlines()):
        used = [key for each in pasted.found for key in each if (name_of_line(key) or key) in names]
        return reading.describe_names(pasted.found, used) if used else reading.describe_lines("", names)
    return reading.describe_lines(pasted.text, names, also)


def read_vllm_log(pasted: PastedText) -> ReadText:
    read = vllm.from_log(pasted.log)
    if read is None:
        return None
    said = reading.describe_log(pasted.log, f"(?!{vllm.IDLE})SpecDecoding metrics:", (r"Running: *\d+ reqs",))
    return replace(read, reading=said)


def read_sglang_log(pasted: PastedText) -> ReadText:
    read = sglang.from_log(pasted.log, pasted.text)
    return (
        replace(read, reading=reading.describe_log(pasted.log, f"(?!{sglang.IDLE})accept len:", (sglang.STEPS,)))
        if read
        else None
    )


def read_llama_log(pasted: PastedText) -> ReadText:
    read = llama_cpp.from_log(pasted.log)
    if read is None:
        return None
    statistics = (llama_cpp.KIND.pattern,) if say("since_start") in read.notes else ()
    also = (llama_cpp.WRITTEN.pattern, *statistics) if read.written else statistics
    return replace(read, reading=reading.describe_requests(pasted.log, "draft acceptance", also))


READERS: tuple[Callable[[PastedText], ReadText], ...] = (
    read_sglang,
    read_table,
    read_series,
    read_vllm_log,
    read_sglang_log,
    read_llama_log,
    read_usage,
    read_rest,
)


def read_counters(text: str) -> ServingCounters:
    """Read pasted metrics, log lines, answers or results: the last line, the difference of two pastes, or a sum.

    InputError, one sentence, where the text has no counters, or counters that contradict each other.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(say("too_long", count=len(text), most=MAX_CHARACTERS))
    lower = text.lower()
    if not any(word in lower for word in WORDS):
        raise InputError(say("nothing_found"))
    if len(text.splitlines()) > MOST_LINES:
        raise InputError(say("too_many_lines", most=MOST_LINES))
    for written in dict.fromkeys((text, straight(text))):
        pasted = PastedText(written)
        for read in READERS:
            if (counters := read(pasted)) is not None:
                drafter, block = reading.drafter_of(pasted.text)
                names = filter(None, (counters.convention, counters.rates))
                convention = " ".join(conventions()[name] for name in names)
                return replace(checked(counters), drafter=drafter, block=block, convention=convention)
    raise InputError(say("no_counts" if RATE.search(text) else "nothing_found"))
