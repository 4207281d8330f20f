"""The result files of other bench tools, each read into the same type: vLLM's bench, SGLang's and AIPerf's.

They say how many tokens each answer has and when its parts came. None holds the prompts, or the temperature.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.core.outside import MostItems, outside
from specviz.core.problems import join_problems, problems_of
from specviz.data.systems.importers.record import pieces_of
from specviz.measure.endpoints.result import MAX_ANSWERS, MAX_POSITIONS, MAX_TOKENS, Accepted

LONGEST = 300  # characters of a name or a problem
TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
Number = Annotated[float, Field(ge=0, le=10**12, allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=0, le=10**12)]
Line = Annotated[str, Field(max_length=100_000)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Gaps = Annotated[list[Number], MostItems(100_000)]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    key: str  # what may say which prompt it was; empty: its place alone
    prompt_tokens: int | None
    began: float
    first: float
    seconds: float
    tokens: int
    text: str
    part_seconds: list[float]
    problem: str


@dataclass(frozen=True, slots=True)
class ToolRun:
    tool: str
    model: str
    created: str  # ISO 8601, or empty
    concurrency: int | None  # the most requests under way that were asked for; None: it does not say
    began_known: bool
    answers: list[ToolAnswer]
    accepted: Accepted | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Lists:
    """vLLM's and SGLang's file: an entry of each list is one request."""

    output_lens: Annotated[list[Whole], MostItems(MAX_ANSWERS)]
    ttfts: Annotated[list[Number], MostItems(MAX_ANSWERS)]
    itls: Annotated[list[Gaps], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    input_lens: Annotated[list[Whole], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    start_times: Annotated[list[Number], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    generated_texts: Annotated[list[Line], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    errors: Annotated[list[Line | None], MostItems(MAX_ANSWERS)] = field(default_factory=list)
    model_id: Line = ""
    date: Line = ""
    max_concurrency: Annotated[int, Field(ge=1, le=10**6)] | None = None
    accept_length: Number | None = None
    spec_decode_num_drafts: Whole | None = None
    spec_decode_draft_tokens: Whole = 0
    spec_decode_accepted_tokens: Whole = 0
    spec_decode_per_position_acceptance_rates: Annotated[list[Share], MostItems(MAX_POSITIONS)] = field(
        default_factory=list
    )

    def at(self, name: str, place: int, other: Any) -> Any:
        values = getattr(self, name)
        return values[place] if place < len(values) else other


@dataclass(frozen=True, slots=True)
class _Metric:
    value: Number | Gaps
    unit: Line = ""


@dataclass(frozen=True, slots=True)
class _Metrics:
    """Of one request of AIPerf; a failed one has none of them."""

    time_to_first_token: _Metric | None = None
    request_latency: _Metric | None = None
    output_sequence_length: _Metric | None = None
    output_token_count: _Metric | None = None
    input_sequence_length: _Metric | None = None
    inter_chunk_latency: _Metric | None = None


@dataclass(frozen=True, slots=True)
class _Metadata:
    request_start_ns: Annotated[int, Field(ge=0, le=10**20)]
    conversation_id: Line | None = None
    turn_index: Whole | None = None
    benchmark_phase: Line = "profiling"


@dataclass(frozen=True, slots=True)
class _Failure:
    message: Line | None = None


@dataclass(frozen=True, slots=True)
class _Record:
    metadata: _Metadata
    metrics: _Metrics = field(default_factory=_Metrics)
    error: _Failure | None = None


_LISTS: TypeAdapter[_Lists] = outside(_Lists)
_RECORD: TypeAdapter[_Record] = outside(_Record)


def read_run(content: bytes) -> ToolRun:
    """The run in a result file of one of these tools; InputError, one sentence, where it is none."""
    values = [piece.value for piece in pieces_of(content)]
    if "metadata" in values[0] and "metrics" in values[0]:
        return _read_aiperf(values)
    last = values[-1]  # SGLang adds a line for each run
    if "ttfts" in last:
        return _read_lists(last)
    if "mean_ttft_ms" in last:
        raise InputError(
            "it has no times of single requests: run vLLM's bench with --save-detailed, SGLang's with --output-details"
        )
    raise InputError("it is no result file of vllm bench serve, of SGLang's bench or of AIPerf (profile_export.jsonl)")


def _read(adapter: TypeAdapter[Any], value: Mapping[str, Any]) -> Any:
    try:
        return adapter.validate_python(value, strict=False)
    except ValidationError as error:
        raise InputError(join_problems("result file", problems_of(error)).rstrip(".")) from None


def _read_lists(value: Mapping[str, Any]) -> ToolRun:
    lists: _Lists = _read(_LISTS, value)
    count, start = len(lists.output_lens), min(lists.start_times, default=0.0)
    if not count or len(lists.ttfts) != count:
        raise InputError(f"it has {count} lengths and {len(lists.ttfts)} times to a first token")
    is_vllm = bool(lists.model_id)
    rounds = lists.spec_decode_num_drafts
    positions = [round(rate * (rounds or 0)) for rate in lists.spec_decode_per_position_acceptance_rates]
    accepted = Accepted(lists.spec_decode_draft_tokens, lists.spec_decode_accepted_tokens, rounds, positions)
    length = lists.accept_length
    return ToolRun(
        "vllm bench serve" if is_vllm else "SGLang's bench",
        first_words(lists.model_id, LONGEST),
        _iso(lists.date),
        lists.max_concurrency,
        len(lists.start_times) == count,
        [_answer_in(lists, place, start) for place in range(count)],
        None if rounds is None else accepted,
        ()
        if length is None
        else (f"The file says an accept length of {length:.2f}, the target's own token included.",),
    )


def _answer_in(lists: _Lists, place: int, start: float) -> ToolAnswer:
    first = lists.ttfts[place]
    parts = list(accumulate(lists.at("itls", place, []), initial=first))
    problem = lists.at("errors", place, "") or ""
    if not problem and not first:
        problem = "The tool counts it as failed."
    return ToolAnswer(
        "",
        lists.at("input_lens", place, None),
        max(0.0, lists.at("start_times", place, start) - start),
        first,
        parts[-1],
        lists.output_lens[place],
        lists.at("generated_texts", place, ""),
        parts if len(parts) <= MAX_TOKENS else [],
        first_words(problem, LONGEST),
    )


def _iso(date: str) -> str:
    """ "2026-11-26T22:39:00" of "20261126-223900"."""
    if len(date) == 15 and date.replace("-", "", 1).isdecimal():
        return f"{date[:4]}-{date[4:6]}-{date[6:8]}T{date[9:11]}:{date[11:13]}:{date[13:]}"
    return first_words(date, 40)


def _read_aiperf(values: Sequence[Mapping[str, Any]]) -> ToolRun:
    if len(values) > MAX_ANSWERS:
        raise InputError(f"it has {len(values):,} requests, and at most {MAX_ANSWERS:,} are read")
    records: list[_Record] = [_read(_RECORD, {**value, "metrics": value.get("metrics") or {}}) for value in values]
    records = [record for record in records if record.metadata.benchmark_phase == "profiling"]
    if not records:
        raise InputError("it has no request of the phase “profiling”")
    records.sort(key=lambda record: record.metadata.request_start_ns)
    start = records[0].metadata.request_start_ns
    return ToolRun("AIPerf", "", "", None, True, [_answer_of(record, start) for record in records])


def _answer_of(record: _Record, start: int) -> ToolAnswer:
    metrics, metadata = record.metrics, record.metadata
    first, seconds = _seconds(metrics.time_to_first_token), _seconds(metrics.request_latency)
    tokens = _whole(metrics.output_sequence_length) or _whole(metrics.output_token_count)
    problem = ""
    if record.error or first is None or seconds is None or not tokens:
        problem = (record.error and record.error.message) or "The tool counts it as failed."
    gaps = metrics.inter_chunk_latency
    unit = TIME_UNITS.get(gaps.unit, 0.0) if gaps else 0.0
    parts = [gap * unit for gap in gaps.value] if gaps and isinstance(gaps.value, list) and unit else []
    times = list(accumulate(parts, initial=first or 0.0)) if parts else []
    turn = f" {metadata.turn_index}" if metadata.turn_index else ""
    return ToolAnswer(
        f"{metadata.conversation_id}{turn}"[:LONGEST] if metadata.conversation_id else "",
        _whole(metrics.input_sequence_length),
        (metadata.request_start_ns - start) / 1e9,
        first or 0.0,
        max(seconds or 0.0, first or 0.0),
        tokens or 0,
        "",
        times if len(times) <= MAX_TOKENS else [],
        first_words(problem, LONGEST),
    )


def _seconds(metric: _Metric | None) -> float | None:
    if metric is None or isinstance(metric.value, list) or metric.unit not in TIME_UNITS:
        return None
    return metric.value * TIME_UNITS[metric.unit]


def _whole(metric: _Metric | None) -> int | None:
    return None if metric is None or isinstance(metric.value, list) else round(metric.value)
