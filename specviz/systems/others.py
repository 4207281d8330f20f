"""Other tools: systems that are only other names for the same counts, and bench files of tools that measure any system.

A system that needs code of its own to be read is not here: who has one writes its two counts by hand.
"""

from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.systems.benches import FAILED, LONGEST, MOST_PARTS, ToolAnswer, ToolRun
from specviz.systems.fields import Fields
from specviz.systems.table import ANSWER, SystemNames

TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}


ROWS = (
    # AIPerf, profile_export_aiperf.json (docs/tutorials/spec-decode-metrics.md)
    SystemNames(
        "AIPerf",
        needs=("pooled_spec_decode_acceptance_histogram",),
        histogram=("pooled_spec_decode_acceptance_histogram",),
    ),
    # Spec-Bench: evaluation/speed.py, as printed
    SystemNames("Spec-Bench", needs=("#mean accepted tokens",), length=("#mean accepted tokens",)),
)
# Fields of OpenAI's usage. Other servers have them with zeros: so they are asked last, and zeros are no record.
USAGE = SystemNames(
    "OpenAI API",
    needs=("accepted_prediction_tokens",),
    accepted=("accepted_prediction_tokens",),
    rejected=("rejected_prediction_tokens",),
    written=ANSWER,
    by_written=True,
    convention="from_written",
)


def bench(values: Sequence[Fields]) -> list[ToolRun] | None:
    if all(each.has("metadata") and "metrics" in each.value for each in values):
        return [_read_aiperf(values)]
    runs = values[0].every("benchmarks") if len(values) == 1 and values[0].has("benchmarks") else []
    return [_read_guidellm(each) for each in runs if each.inner("requests").has("successful")]


def _read_guidellm(run: Fields) -> ToolRun:
    """One load of guidellm's file (0.3 to 0.5)."""
    requests, config = run.inner("requests"), run.inner("config" if run.has("config") else "args")
    done, strategy = requests.every("successful"), config.inner("strategy")
    alone = "synchronous" in (strategy.value.get("type_"), strategy.value.get("type"))
    began = [each.number("request_start_time") or each.number("start_time") for each in done]
    start = min((at for at in began if at), default=0.0)
    answers = [_guidellm_answer(each, (at or start) - start) for each, at in zip(done, began, strict=True)]
    answers += [ToolAnswer("", None, 0.0, None, 0.0, 0, problem=FAILED) for _ in requests.every("errored")]
    streams = 1 if alone else strategy.whole("streams") or strategy.whole("max_concurrency")
    return ToolRun("guidellm", "", "", streams, all(began), answers)


def _guidellm_answer(request: Fields, began: float) -> ToolAnswer:
    first, seconds = request.number("time_to_first_token_ms"), request.number("request_latency")
    if seconds is None:
        request.refuse("request_latency", "Field required")
    said = request.value.get("output")
    return ToolAnswer(
        "",
        request.tokens("prompt_tokens"),
        began,
        None if first is None else first / 1000,
        seconds or 0.0,
        request.tokens("output_tokens") or 0,
        said[:100_000] if isinstance(said, str) else "",
    )


def _read_aiperf(values: Sequence[Fields]) -> ToolRun:
    """profile_export.jsonl: a line for each request."""
    records = [each for each in values if each.inner("metadata").value.get("benchmark_phase", PROFILING) == PROFILING]
    if not records:
        raise InputError("it has no request of the phase “profiling”")
    began = {id(each): each.inner("metadata").whole("request_start_ns", 10**20) for each in records}
    if missing := next((each for each in records if began[id(each)] is None), None):
        missing.inner("metadata").refuse("request_start_ns", "Field required")
    records.sort(key=lambda each: began[id(each)] or 0)
    start = began[id(records[0])] or 0
    answers = [_aiperf_answer(each, ((began[id(each)] or 0) - start) / 1e9) for each in records]
    return ToolRun("AIPerf", "", "", None, True, answers)


PROFILING = "profiling"


def _aiperf_answer(record: Fields, began: float) -> ToolAnswer:
    """A failed request has none of the metrics."""
    metrics, metadata = record.inner("metrics"), record.inner("metadata")
    first, seconds = (_seconds(metrics.inner(name)) for name in ("time_to_first_token", "request_latency"))
    tokens = _tokens(metrics.inner("output_sequence_length")) or _tokens(metrics.inner("output_token_count"))
    problem = ""
    if record.has("error") or first is None or seconds is None or not tokens:
        problem = record.inner("error").text("message") or FAILED
    gaps = metrics.inner("inter_chunk_latency")
    unit = TIME_UNITS.get(gaps.text("unit") or "", 0.0)
    times = [first or 0.0]
    for gap in gaps.numbers("value") if unit and isinstance(gaps.value.get("value"), list) else ():
        times.append(times[-1] + gap * unit)
    name, turn = metadata.text("conversation_id"), metadata.whole("turn_index")
    return ToolAnswer(
        f"{name} {turn}"[:LONGEST] if name and turn else (name or "")[:LONGEST],
        _tokens(metrics.inner("input_sequence_length")),
        began,
        first or 0.0,
        max(seconds or 0.0, first or 0.0),
        tokens or 0,
        "",
        times if 1 < len(times) <= MOST_PARTS else [],
        first_words(problem, LONGEST),
    )


def _seconds(metric: Fields) -> float | None:
    unit = TIME_UNITS.get(metric.text("unit") or "")
    value = metric.number("value") if unit else None
    return value * unit if value is not None and unit else None


def _tokens(metric: Fields) -> int | None:
    value = metric.number("value")
    return None if value is None else round(value)
