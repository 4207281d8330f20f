"""Other systems: their runs as traces, their counters, their bench files. It calls none of them.

One file reads one system, and nothing else knows a system's words: `steps` of an answer, for a trace; counts of a text,
a page of counters or a log; `bench`, the requests of a bench file. What is only other names is rows of tables.
Begin with counts.py and table.py, then vllm.py.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.core.texts import AppTexts, NonEmptyText, join_choices
from specviz.core.trace import FILE, UPLOAD, Trace, TraceLimits, check_trace, parse_trace
from specviz.systems import llama_cpp, lm_studio, others, sglang, tensorrt_llm, transformers, vllm
from specviz.systems.benches import ToolRun
from specviz.systems.counts import Counts, figures_of, say_count
from specviz.systems.fields import Fields, pieces_of, say_record
from specviz.systems.finding import JsonObject, limited_in, log_records, objects, plain, rows_in, straight, walk
from specviz.systems.metrics import Metrics
from specviz.systems.table import SystemNames, counts_of, names_of, read_record, records_of
from specviz.systems.traces import RecordOptions, SystemReport, trace_of

__all__ = ["SYSTEMS", "Counts", "RecordOptions", "import_run", "open_run", "read_counters"]

conventions = AppTexts("tables/conventions", dict[str, NonEmptyText])

# What reads a record, and a field that only such a record has, by its names.
READERS: Mapping[str, tuple[Callable[[Sequence[Fields], RecordOptions], SystemReport], tuple[str, ...]]] = {
    "vllm": (vllm.steps, (vllm.MARK,)),
    "sglang": (sglang.steps, ("meta_info",)),
    "llama.cpp": (llama_cpp.steps, ("draft_n_accepted",)),
    "transformers": (transformers.steps, ("candidate_ids",)),
    "lmstudio": (lm_studio.steps, ("containsDrafted", "contains_drafted")),
}
# A name is followed by a colon, and a text that is the same word is not. As JSON escapes quotes, no text can hold both.
MARKS = {system: re.compile(rb'"(?:%s)"\s*:' % "|".join(names).encode()) for system, (_, names) in READERS.items()}
SYSTEMS = tuple(READERS)
MOST_UPLOADED = 10**6  # bytes: a record has many values for its size, so a larger one would take much memory

# In the order in which they are asked: each knows its own records better than those after it.
ROWS = (*others.ROWS, *tensorrt_llm.ROWS, *sglang.ROWS, *vllm.ROWS, *llama_cpp.ROWS, *lm_studio.ROWS)
KNOWN = frozenset(names_of((*ROWS, *vllm.LAST_ROWS)))
SAMPLES = vllm.METRICS | sglang.METRICS | tensorrt_llm.METRICS
TOOLS = (vllm.bench, sglang.bench, llama_cpp.bench, others.bench)

MAX_CHARACTERS = 1_000_000
MOST_LINES = 50_000  # each costs about as much as fifty characters
# In the names of whatever is counted: a text without one of them need not be read.
WORDS = ("draft", "accept", "spec", "decoding")
RATE = re.compile(r"accept\w{0,6}[ _](?:rate|len(?:gth)?)s?\b\D{0,200}\d", re.IGNORECASE)
NAMED = 12  # names that are listed at most
# Methods that write a whole block in one step.
_BLOCK = re.compile(r"(?<![a-z])(dflash|dspark|pard|p-?eagle|medusa)(?![a-z])", re.IGNORECASE)


def import_run(content: bytes, system: str, given: RecordOptions | None = None, limits: TraceLimits = FILE) -> Trace:
    """The run that a system's record describes, see docs/traces.md; InputError, one sentence, where it is none."""
    if system not in READERS:
        raise InputError(say_record("other_system", systems=join_choices([*SYSTEMS], "and"), system=repr(system[:40])))
    known, (steps, _) = given or RecordOptions(), READERS[system]
    return check_trace(trace_of(steps(pieces_of(content), known), known, limits), limits)


def system_of(content: bytes) -> str | None:
    """The system whose record this is, by a field that no other has; None for anything else, such as a trace."""
    return next((system for system, mark in MARKS.items() if mark.search(content)), None)


def open_run(content: bytes, given: RecordOptions | None = None) -> Trace:
    """The run in a file that a visitor opens: a trace, or a record of a system, which is known by its fields."""
    system = system_of(content)
    if system is None:
        return parse_trace(content, UPLOAD)
    if len(content) > MOST_UPLOADED:
        raise InputError(say_record("upload_too_large", most=MOST_UPLOADED // 10**6))
    return import_run(content, system, given, UPLOAD)


def read_bench(content: bytes) -> list[ToolRun]:
    """The runs in a result file of a bench tool, each of one load; InputError, one sentence, where it is none."""
    values = pieces_of(content)
    for bench in TOOLS:
        if runs := bench(values):
            return runs
    if "mean_ttft_ms" in values[-1].value:
        raise InputError(
            "it has no times of single requests: run vLLM's bench with --save-detailed, SGLang's with --output-details"
        )
    raise InputError(
        "it is no result file of vllm bench serve, SGLang's bench, llama.cpp's speed_bench.py or guidellm "
        "(benchmarks.json)"
    )


def counts_in_answer(pieces: Sequence[JsonObject]) -> Counts | None:
    """What the parts of one answer count, the last that counts anything: totals grow through a stream."""
    with suppress(InputError):
        if counts := llama_cpp.counts_in_stream([Fields("", piece) for piece in pieces]):
            return counts
    for piece in reversed(pieces):
        if not any(word in str(piece).lower() for word in WORDS):
            continue
        found = list(walk(piece))
        for system in (*ROWS, sglang.ROW, others.USAGE):
            with suppress(InputError):
                if records := records_of(system, found):
                    counts = read_record(records[-1])
                    zeros = system is others.USAGE and not counts.drafted  # other servers have its fields with zeros
                    if counts.drafted is not None and counts.accepted is not None and not zeros:
                        return counts
    return None


def counts_between(before: str, after: str) -> tuple[float | None, Counts | None]:
    """The tokens that a server wrote between two readings of its page /metrics, and what it drafted and accepted.

    Raises InputError where a counter became smaller: the server was started again.
    """
    metrics = Metrics(f"{before}\n{after}", [], SAMPLES)
    counts = None
    if {"num_draft_tokens", "num_accepted_tokens"} <= metrics.values.keys() or "drafted_tokens" in metrics:
        counts = tensorrt_llm.counts_in_metrics(metrics) or vllm.counts_in_metrics(metrics)
    return metrics.total("generation_tokens"), counts


def rests_between(before: str | None, after: str | None) -> bool:
    """Whether the server wrote nothing between two readings of its page, and has nothing under way; or has no page."""
    if before is None or after is None:
        return True
    try:
        metrics = Metrics(f"{before}\n{after}", [], SAMPLES)
        return not metrics.total("generation_tokens") and not metrics.mean("num_requests_running")
    except InputError:  # it was started again
        return True


def read_counters(text: str) -> Counts:
    """Read pasted metrics, log lines, answers or results: the last line, the difference of two pastes, or a sum.

    InputError, one sentence, where the text has no counters, or counters that contradict each other.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(say_count("too_long", count=len(text), most=MAX_CHARACTERS))
    why = say_count("nothing_found")
    if any(word in text.lower() for word in WORDS):
        if len(text.splitlines()) > MOST_LINES:
            raise InputError(say_count("too_many_lines", most=MOST_LINES))
        for written in dict.fromkeys((text, straight(text))):
            pasted = plain(written)
            found = objects(pasted)
            if (counts := _read(pasted, found)) is not None:
                figures, block = figures_of(counts, limited_in(found)), bool(_BLOCK.search(pasted))
                names = (counts.convention, "marginal")[: 1 + bool(figures.survival)]
                convention = " ".join(conventions()[name] for name in names)
                return replace(figures, reading=_reading(counts.used, pasted), block=block, convention=convention)
        why = say_count("no_counts" if RATE.search(text) else "nothing_found")
    raise InputError(f"{why} {say_count('two_counts')}")  # these can be written by hand


def _read(text: str, found: list[JsonObject]) -> Counts | None:
    """The counts in a text: of answers, lines of a log, lines of names and values, a page of counters."""
    return (
        sglang.counts_in_answers(found, text)
        or _first_of(ROWS, found)
        or vllm.counts_in_log(records := log_records(text))
        or sglang.counts_in_log(records, text)
        or llama_cpp.counts_in_log(records)
        or _first_of(ROWS, rows := rows_in(text, KNOWN))
        or tensorrt_llm.counts_in_metrics(metrics := Metrics(text, found, SAMPLES))
        or vllm.counts_in_metrics(metrics)
        or sglang.counts_in_metrics(metrics, text)
        or others.counts_in_usage(found)
        or _first_of(vllm.LAST_ROWS, found)
        or _first_of(vllm.LAST_ROWS, rows)
    )


def _first_of(systems: Sequence[SystemNames], found: Sequence[JsonObject]) -> Counts | None:
    """The counts of the first of these systems that has records here."""
    every = (records_of(system, found) for system in systems)
    return next((counts_of(records) for records in every if records), None)


def _reading(used: Iterable[str], text: str) -> str:
    """Which names were read, in the order of the text."""
    names = [re.sub(r"[^\w.:() %/-]", "?", name[:60]) for name in sorted(dict.fromkeys(used), key=text.find)]
    more = [say_count("more", count=len(names) - NAMED)] if len(names) > NAMED else []
    return say_count("read", names=join_choices([*names[:NAMED], *more], "and"))
