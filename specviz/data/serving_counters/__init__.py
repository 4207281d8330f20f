"""Speculation counters of vLLM, SGLang, llama.cpp, TensorRT-LLM and LM Studio, read from pasted text."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from specviz.core.errors import InputError
from specviz.data.serving_counters import llama_cpp, sglang, vllm
from specviz.data.serving_counters.counters import MAX_POSITIONS, ServingCounters, checked, number, shown
from specviz.data.serving_counters.llama_cpp import by_written
from specviz.data.serving_counters.pasted import (
    ENGINES,
    MAX_LINE,
    SGLANG,
    Found,
    Names,
    Series,
    name_of_line,
    objects,
    read_requests,
    with_keys,
)

__all__ = ["MAX_CHARACTERS", "MAX_POSITIONS", "NOTHING_FOUND", "ServingCounters", "read_counters"]

TENSORRT = Names(
    ("num_spec_steps",), ("total_accepted_draft_tokens",), ("total_draft_tokens",), ("acceptance_histogram",)
)
LM_STUDIO = [
    ("totalDraftTokensCount", "acceptedDraftTokensCount", "predictedTokensCount", "ignoredDraftTokensCount"),
    ("total_draft_tokens_count", "accepted_draft_tokens_count", "predicted_tokens_count", "ignored_draft_tokens_count"),
]
IGNORED = "{:,.0f} drafted tokens are not counted: LM Studio ignored them, so the main model did not check them."
PER_SECOND = ("tokensPerSecond", "tokens_per_second")
MAX_CHARACTERS = 1_000_000
NOTHING_FOUND = (
    "No speculative decoding counters were found in this text: paste the /metrics page of vLLM, SGLang or llama.cpp, "
    "a log line that names “SpecDecoding metrics”, “accept len” or “draft acceptance”, or the JSON of an answer."
)
NAMED = 12  # names that are listed at most


def from_tensorrt(found: Sequence[Found]) -> ServingCounters | None:
    requests = with_keys(found, "total_draft_tokens")
    if not requests:
        return None
    total = read_requests(requests, TENSORRT)
    if not total.drafted or total.accepted is None:
        raise InputError(
            "speculative_decoding says that nothing was drafted, or total_accepted_draft_tokens is missing."
        )
    return total.counters("TensorRT-LLM", total.steps or _steps(found, total.accepted))


def _steps(found: Sequence[Found], accepted: float) -> float | None:
    means = [each["avg_decoded_tokens_per_iter"] for each in with_keys(found, "avg_decoded_tokens_per_iter")]
    mean = number(means[0], "avg_decoded_tokens_per_iter") if len(means) == 1 else 0.0
    return accepted / (mean - 1) if mean > 1 else None


def from_lm_studio(found: Sequence[Found]) -> ServingCounters | None:
    """LM Studio's stats, in the names of either client. Ignored drafts were not checked, so they do not count."""
    for names in LM_STUDIO:
        if stats := with_keys(found, names[0]):
            total, accepted, written, ignored = (
                sum(number(each.get(name) or 0, name) for each in stats) for name in names
            )
            if total <= ignored:
                raise InputError(f"{names[0]} says that nothing was drafted for the main model to check.")
            counters = by_written("LM Studio", total - ignored, accepted, written, len(stats))
            counters = replace(counters, latency=_latency(stats))
            return replace(counters, notes=(*counters.notes, IGNORED.format(ignored))) if ignored else counters
    return None


def _latency(stats: Sequence[Found]) -> float | None:
    speeds = [number(each[name], name) for each in stats for name in PER_SECOND if each.get(name)]
    return 1 / speeds[0] if len(speeds) == len(stats) == 1 and speeds[0] else None


@dataclass(frozen=True, slots=True)
class Kind:
    names: frozenset[str] = frozenset()  # of fields in JSON, and of counters that have a line each
    last: str = ""  # a pattern: of the log lines with it, the last one is read
    also: tuple[str, ...] = ()  # of other lines, the last one with each of these patterns is read too


def what_was_read(text: str, found: Sequence[Found], kind: Kind) -> str:
    """What this reader took from the text, and what it left."""
    if found and not kind.last:
        keys = list(dict.fromkeys(key for each in found for key, value in each.items() if not isinstance(value, dict)))
        used, left = [key for key in keys if _is_of(key, kind)], [key for key in keys if not _is_of(key, kind)]
        return f"Read: {_listed(used)}.{f' Not used: {_listed(left)}.' if left else ''}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if kind.last:
        return _of_log(lines, kind)
    names = [(line, name_of_line(line)) for line in lines]
    used = list(dict.fromkeys(name for _, name in names if name in kind.names))
    also = [place for pattern in kind.also for place in _places(lines, pattern)]
    left = [line for place, (line, name) in enumerate(names) if name not in kind.names and place not in also]
    return f"Read: {_listed(used)}.{_left_lines(left)}"


def _is_of(key: str, kind: Kind) -> bool:
    return key in kind.names or (name_of_line(key) or key) in kind.names


def _of_log(lines: Sequence[str], kind: Kind) -> str:
    marked, *also = (_places(lines, pattern) for pattern in (kind.last, *kind.also))
    read = f"Read: the last of {len(marked)} lines" if len(marked) > 1 else "Read: the line"
    more = {places[-1] for places in also if places} - set(marked)
    left = [line for place, line in enumerate(lines) if place not in {*marked[-1:], *more}]
    return f"{read} about speculation{f', and {len(more)} more' if more else ''}.{_left_lines(left)}"


def _places(lines: Sequence[str], pattern: str) -> list[int]:
    return [place for place, line in enumerate(lines) if len(line) < MAX_LINE and re.search(pattern, line)]


def _left_lines(left: Sequence[str]) -> str:
    left = [line for line in left if not line.startswith("#")]  # comments of /metrics
    if not left:
        return ""
    return f" Not used: {len(left)} {'line' if len(left) == 1 else 'lines'}, such as {shown(left[0])}."


def _listed(names: Iterable[str]) -> str:
    every = [re.sub(r"[^\w.:-]", "?", name[:60]) for name in names]
    more = f" and {len(every) - NAMED} more" if len(every) > NAMED else ""
    return f"{', '.join(every[:NAMED]) or 'nothing'}{more}"


def read_counters(text: str) -> ServingCounters:
    """Read pasted metrics, log lines or answers: the last line, the difference of two pastes, the sum of answers."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.")
    found = objects(text)
    series = cache(lambda: Series(text, found))
    readers: tuple[tuple[Callable[[], ServingCounters | None], Kind], ...] = (
        (lambda: from_tensorrt(found), _kind(TENSORRT, "avg_decoded_tokens_per_iter")),
        (lambda: vllm.from_answers(found), _kind(vllm.NAMES, *vllm.LISTS, "num_spec_tokens", "completion_tokens")),
        (lambda: sglang.from_answers(found, text), _kind(sglang.NAMES, *sglang.LENGTHS, *sglang.DEPTHS)),
        (lambda: llama_cpp.from_answers(found), Kind(frozenset(llama_cpp.FIELDS))),
        (lambda: from_lm_studio(found), Kind(frozenset(name for names in (*LM_STUDIO, PER_SECOND) for name in names))),
        (lambda: vllm.from_counters(series()), Kind(frozenset(ENGINES))),
        (lambda: sglang.from_gauges(series(), text), Kind(frozenset(SGLANG), also=(sglang.STEPS,))),
        (lambda: vllm.from_log(text), Kind(last="SpecDecoding metrics:", also=(r"Running: *\d+ reqs",))),
        (lambda: sglang.from_log(text), Kind(last="accept len:", also=(sglang.STEPS,))),
        (lambda: llama_cpp.from_log(text), Kind(last="draft acceptance", also=("#gen drafts", "eval time ="))),
    )
    for read, kind in readers:
        if (counters := read()) is not None:
            return replace(checked(counters), reading=what_was_read(text, found, kind))
    raise InputError(NOTHING_FOUND)


def _kind(names: Names, *more: str) -> Kind:
    return Kind(frozenset((*names.steps, *names.accepted, *names.drafted, *names.histogram, *more)))
