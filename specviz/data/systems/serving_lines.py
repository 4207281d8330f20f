"""The lines of a pasted log before the last one, which is the one that `read_counters` reads."""

from collections.abc import Callable
from contextlib import suppress
from statistics import median

from specviz.core.errors import InputError
from specviz.data.systems.serving_counters import ServingCounters, sglang, vllm
from specviz.data.systems.serving_counters.pasted import log_records, plain

MOST_LINES = 100  # the newest ones
ReadLine = Callable[[str], ServingCounters | None]
READERS: dict[str, tuple[str, ReadLine]] = {  # by engine: what marks its lines, and how one is read
    "vLLM": ("SpecDecoding metrics:", lambda line: vllm.from_log([line])),
    "SGLang": ("accept len:", lambda line: sglang.from_log([line], line)),
}


def tokens_before(text: str, engine: str) -> float | None:
    """The median tokens per target call of the lines before the last; None where there is no such line."""
    mark, read = READERS.get(engine, ("", None))
    if read is None or text.count(mark) < 2:
        return None
    lines = [line for line in log_records(plain(text)) if mark in line][-MOST_LINES - 1 : -1]
    found = list[float]()
    for line in lines:
        with suppress(InputError):
            if (counters := read(line)) and counters.tokens_per_target_call:
                found.append(counters.tokens_per_target_call)
    return median(found) if found else None
