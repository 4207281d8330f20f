"""Other tools: systems that are only other names for the same counts, and bench files of tools that measure any system.

A system that needs code of its own to be read is not here: who has one writes its two counts by hand.
"""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate

from specviz.core.errors import InputError
from specviz.core.names import first_words
from specviz.systems.benches import FAILED, LONGEST, MOST_PARTS, ToolAnswer, ToolRun
from specviz.systems.fields import Fields
from specviz.systems.table import ANSWER, SystemNames

TIME_UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "seconds": 1.0}
PROFILING = "profiling"
# fmt: off
ROWS = (
    # AIPerf, profile_export_aiperf.json (docs/tutorials/spec-decode-metrics.md)
    SystemNames(
        "AIPerf", needs=("pooled_spec_decode_acceptance_histogram",),
        histogram=("pooled_spec_decode_acceptance_histogram",),
    ),
    # Spec-Bench: evaluation/speed.py, as printed
    SystemNames("Spec-Bench", needs=("#mean accepted tokens",), length=("#mean accepted tokens",)),
)
# Fields of OpenAI's usage. Other servers have them with zeros: so they are asked last, and zeros are no record.
USAGE = SystemNames(
    "OpenAI API", needs=("accepted_prediction_tokens",), accepted=("accepted_prediction_tokens",),
    rejected=("rejected_prediction_tokens",), written=ANSWER, by_written=True, convention="from_written",
)
# fmt: on


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
    answers = list[ToolAnswer]()
    for each, at in zip(done, began, strict=True):
        first, said = each.number("time_to_first_token_ms"), each.value.get("output")
        answers.append(
            ToolAnswer(
                began=(at or start) - start,
                first=None if first is None else first / 1000,
                seconds=each.need(each.number, "request_latency"),
                tokens=each.tokens("output_tokens") or 0,
                prompt_tokens=each.tokens("prompt_tokens"),
                text=said[:100_000] if isinstance(said, str) else "",
            )
        )
    answers += [ToolAnswer(problem=FAILED) for _ in requests.every("errored")]
    streams = 1 if alone else strategy.whole("streams") or strategy.whole("max_concurrency")
    return ToolRun("guidellm", answers, concurrency=streams, began_known=all(began))


def _read_aiperf(values: Sequence[Fields]) -> ToolRun:
    """profile_export.jsonl: a line for each request."""
    records = [each for each in values if each.inner("metadata").value.get("benchmark_phase", PROFILING) == PROFILING]
    if not records:
        raise InputError("it has no request of the phase “profiling”")
    began = list[int]()
    for each in records:
        metadata = each.inner("metadata")
        began.append(metadata.need(partial(metadata.whole, most=10**20), "request_start_ns"))
    start = min(began)
    timed = sorted(zip(began, records, strict=True), key=lambda pair: pair[0])
    return ToolRun("AIPerf", [_aiperf_answer(each, (at - start) / 1e9) for at, each in timed], began_known=True)


def _aiperf_answer(record: Fields, began: float) -> ToolAnswer:
    """A failed request has none of the metrics."""
    metrics, metadata = record.inner("metrics"), record.inner("metadata")

    def value(name: str, seconds: bool = False) -> float | None:
        metric = metrics.inner(name)
        unit = TIME_UNITS.get(metric.text("unit") or "") if seconds else 1
        found = metric.number("value") if unit else None
        return None if found is None or unit is None else found * unit

    first, seconds = value("time_to_first_token", seconds=True), value("request_latency", seconds=True)
    tokens = round(value("output_sequence_length") or value("output_token_count") or 0)
    problem = ""
    if record.has("error") or first is None or seconds is None or not tokens:
        problem = record.inner("error").text("message") or FAILED
    gaps = metrics.inner("inter_chunk_latency")
    unit = TIME_UNITS.get(gaps.text("unit") or "", 0.0)
    listed = gaps.numbers("value") if unit and isinstance(gaps.value.get("value"), list) else []
    times = [*accumulate((gap * unit for gap in listed), initial=first or 0.0)]
    name, turn = metadata.text("conversation_id") or "", metadata.whole("turn_index")
    prompt = value("input_sequence_length")
    return ToolAnswer(
        key=f"{name} {turn}"[:LONGEST] if name and turn else name[:LONGEST],
        prompt_tokens=None if prompt is None else round(prompt),
        began=began,
        first=first or 0.0,
        seconds=max(seconds or 0.0, first or 0.0),
        tokens=tokens,
        part_seconds=times if 1 < len(times) <= MOST_PARTS else [],
        problem=first_words(problem, LONGEST),
    )
