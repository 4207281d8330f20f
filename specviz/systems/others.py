"""Other tools: systems that are only other names for the same counts, and bench files of tools that measure any system.

A system that needs code of its own to be read is not here: who has one writes its two counts by hand.
"""

from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.systems.benches import FAILED, LONGEST, MOST_PARTS, ToolAnswer, ToolRun
from specviz.systems.fields import Fields
from specviz.systems.finding import JsonObject
from specviz.systems.table import ANSWER, SystemNames

TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}


def _without_own_token(values: JsonObject) -> JsonObject:
    """The histogram of speculation_profile.json counts the target's own token: here from none accepted on."""
    lengths = values.get("acceptance_length_histogram")
    if not isinstance(lengths, dict) or not all(key.isdecimal() for key in lengths):
        return values
    return values | {"accepted_histogram": {str(int(key) - 1): count for key, count in lengths.items() if int(key)}}


ROWS = (
    # AIPerf, profile_export_aiperf.json (docs/tutorials/spec-decode-metrics.md), and as printed
    SystemNames(
        "AIPerf",
        needs=("pooled_spec_decode_acceptance_histogram",),
        histogram=("pooled_spec_decode_acceptance_histogram",),
    ),
    SystemNames("AIPerf", needs=("acceptance length",), with_all=("spec decode steps",), length=("acceptance length",)),
    # speculators: examples/evaluate, CSV
    SystemNames(
        "vLLM",
        needs=("acceptance_length",),
        with_all=("num_drafts",),
        rounds=("num_drafts",),
        drafted=("num_draft_tokens",),
        accepted=("num_accepted_tokens",),
        length=("acceptance_length",),
        marginal=("acceptance_at_pos",),
        milliseconds=("mean_itl_ms",),
    ),
    # NVIDIA Model Optimizer: specdec_bench, speculation_profile.json
    SystemNames(
        "speculation_profile.json",
        needs=("marginal_accept_rates", "conditional_accept_rates"),
        length=("mean_accept_length",),
        histogram=("accepted_histogram",),
        marginal=("marginal_accept_rates",),
        conditional=("conditional_accept_rates",),
        prepare=_without_own_token,
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
    requests = run.inner("requests")
    failed = [ToolAnswer("", None, 0.0, None, 0.0, 0, "", (), FAILED) for _ in requests.every("errored")]
    every = [_guidellm_answer(each) for each in requests.every("successful")]
    strategy = (run.inner("config") if run.has("config") else run.inner("args")).inner("strategy")
    concurrency = strategy.whole("streams") or strategy.whole("max_concurrency")
    began = [float(each.value.get("request_start_time") or 0.0) for each in requests.every("successful")]
    start = min(began, default=0.0)
    answers = [
        ToolAnswer("", each.prompt_tokens, at - start, each.first, each.seconds, each.tokens, each.text)
        for at, each in zip(began, every, strict=True)
    ]
    return ToolRun("guidellm", "", "", 1 if concurrency is None and _is(strategy, "synchronous") else concurrency,
                   all(began) and bool(began), [*answers, *failed])  # fmt: skip


def _is(strategy: Fields, kind: str) -> bool:
    return kind in (strategy.value.get("type_"), strategy.value.get("type"))


def _guidellm_answer(request: Fields) -> ToolAnswer:
    first, seconds = request.number("time_to_first_token_ms"), request.number("request_latency")
    tokens = request.tokens("output_tokens") or 0
    if seconds is None:
        request.refuse("request_latency", "Field required")
    said = request.value.get("output")
    return ToolAnswer(
        "", request.tokens("prompt_tokens"), 0.0, None if first is None else first / 1000, seconds or 0.0, tokens,
        said[:100_000] if isinstance(said, str) else "",
    )  # fmt: skip


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
