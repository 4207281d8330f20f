"""Reading pasted text: which engine wrote it, and its counters."""

from collections.abc import Callable

from specviz.core.errors import InputError
from specviz.data.serving_counters import llama_cpp, other, sglang, vllm
from specviz.data.serving_counters.counters import ServingCounters, checked
from specviz.data.serving_counters.pasted_json import objects
from specviz.data.serving_counters.prometheus import Series

MAX_CHARACTERS = 1_000_000
NOTHING_FOUND = (
    "No speculative decoding counters were found in this text: paste the /metrics page of vLLM, SGLang or llama.cpp, "
    "a log line that names “SpecDecoding metrics”, “accept len” or “draft acceptance”, or the JSON of an answer."
)


def read_counters(text: str) -> ServingCounters:
    """Read pasted metrics, log lines or answers.

    Of several log lines, the last one is used. If a counter is pasted twice, the difference is used. Several answers
    are added up; of a stream the last line counts.

    Raises:
        InputError: one sentence about what is missing or impossible.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.")
    found = objects(text)
    readers: tuple[Callable[[], ServingCounters | None], ...] = (
        lambda: other.from_tensorrt(found),
        lambda: vllm.from_answers(found),
        lambda: sglang.from_answers(found, text),
        lambda: llama_cpp.from_answers(found),
        lambda: other.from_lm_studio(found),
        lambda: _from_series(Series(text, found), text),
        lambda: vllm.from_log(text),
        lambda: sglang.from_log(text),
        lambda: llama_cpp.from_log(text),
    )
    for read in readers:
        if (counters := read()) is not None:
            return checked(counters)
    raise InputError(NOTHING_FOUND)


def _from_series(series: Series, text: str) -> ServingCounters | None:
    return vllm.from_counters(series) or sglang.from_gauges(series, text)
