"""vLLM: its counters and its log line. (Its answers and its benchmark's results are in the table of names.)

llama.cpp's server has the same counters under the prefix `llamacpp:`. All leave out calls in which nothing was drafted
(vLLM, docs/features/speculative_decoding/acceptance_metrics.md: "Steps with no scheduled draft tokens are omitted").
With n-gram drafting these are often most calls. TensorRT-LLM and FastDeploy have counters of their own.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from specviz.core.errors import InputError
from specviz.core.texts import Sentences
from specviz.data.systems.serving_counters.counters import ServingCounters, field, numbers, whole
from specviz.data.systems.serving_counters.reconciled import FIRST_TOKENS, drafting_share
from specviz.data.systems.serving_counters.series import DRAFTING, MetricSeries

say = Sentences("counters")

IDLE = r"SpecDecoding metrics: Mean acceptance length: *nan"  # nothing was drafted since the last line
LENGTH_ROUNDING = 0.005  # the log line writes two decimals
OLD_ROUNDING = 0.02  # k is whole: an efficiency of three decimals gives it within this


def from_counters(series: MetricSeries) -> ServingCounters | None:
    if not any(name in series for name in DRAFTING) or series.prefix in ("trtllm", "fastdeploy", "tgi"):
        return None
    if "num_emitted_tokens" in series:
        return _read_version_0(series)
    drafts, drafted = series.total("num_drafts"), series.total("num_draft_tokens")
    accepted = series.total("num_accepted_tokens")
    by_position = series.list_positions("num_accepted_tokens_per_pos")
    if drafts is None:
        raise InputError(say("num_drafts_missing"))
    if accepted is None and not by_position:
        raise InputError(say("num_accepted_missing"))
    if drafts <= 0:
        raise InputError(say("num_drafts_zero"))
    accepted, written = sum(by_position) if accepted is None else accepted, series.total("generation_tokens")
    ended = series.total("request_success") or 0.0  # requests, of which each had its first token without a draft
    share = drafting_share(drafts, accepted, written, ended)
    counters = ServingCounters(
        "llama.cpp" if series.prefix == "llamacpp" else "vLLM",
        1 + accepted / drafts,
        (float(len(by_position)) or None) if drafted is None else drafted / drafts,
        tuple(count / drafts for count in by_position),
        series.mean("num_requests_running"),
        drafted,
        accepted,
        drafting_share=share,
        notes=() if share is not None else (say("only_drafting"),),
        latency=series.latency(),
        written=written,
        rates="marginal" if by_position else "",
        convention="own",
    )
    return counters if written is None else _bound_by_text(counters, drafts, accepted, written - ended)


def _read_version_0(series: MetricSeries) -> ServingCounters:
    """A page without rounds. With k drafted tokens each, efficiency is emitted / (rounds · (k + 1)), and k is whole."""
    emitted, drafted = series.total("num_emitted_tokens") or 0.0, series.total("num_draft_tokens")
    efficiency, rounds = series.mean("efficiency"), 0.0
    if drafted and emitted and efficiency and drafted < emitted / efficiency:
        rounds = emitted / efficiency - drafted
    length = drafted / rounds if drafted and rounds else 0.0
    if not rounds or not drafted or abs(length - round(length)) > OLD_ROUNDING * length:
        raise InputError(say("old_vllm"))
    rounds = drafted / round(length)
    accepted = max(0.0, emitted - rounds)
    return ServingCounters(
        "vLLM", emitted / rounds, float(round(length)), (), series.mean("num_requests_running"), drafted, accepted,
        notes=(say("only_drafting"),), convention="old_line",
    )  # fmt: skip


def _bound_by_text(counters: ServingCounters, drafts: float, accepted: float, written: float) -> ServingCounters:
    """Bounded by the tokens that rounds wrote. A few more are counted where limits cut drafts off: those stay.

    Fewer written tokens than calls are of another time or another server, so they bound nothing.
    """
    if written < drafts or drafts + accepted <= written + FIRST_TOKENS * drafts:
        return counters
    note = say("past_the_text", rounds=drafts, accepted=accepted, written=written)
    tokens = written / drafts
    bounded = replace(counters, tokens_per_target_call=tokens, accepted=max(0.0, written - drafts), bounded=True)
    return replace(bounded, survival=(), rates="", notes=(*counters.notes, note))


def from_log(records: Sequence[str]) -> ServingCounters | None:
    every = [line for line in records if "SpecDecoding metrics:" in line]
    if not every:
        return None
    lines = [line for line in every if not re.search(IDLE, line)]
    if not lines:
        raise InputError(say("line_nothing_drafted"))
    length = field(lines[-1], r"Mean acceptance length: *([^\s,]+)")
    if length is None:
        raise InputError(say("line_no_length"))
    accepted, drafted = (field(lines[-1], rf"{name}: *(\d+) tokens") for name in ("Accepted", "Drafted"))
    listed = re.search(r"Per-position acceptance rate:([\d., ]*)", lines[-1])
    survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
    if survival and length > len(survival) + 1.01:
        raise InputError(say("long_for_positions", length=length, count=len(survival)))
    running = [line for line in records if "Running:" in line]
    return ServingCounters(
        "vLLM",
        1 + sum(survival) if survival else length,
        _mean_drafted(length, accepted, drafted) or (float(len(survival)) or None),
        survival,
        field(running[-1], r"Running: *(\d+) reqs") if running else None,
        drafted,
        accepted,
        notes=(say("only_drafting"),),
        rates="marginal" if survival else "",
        convention="own",
    )


def _mean_drafted(length: float, accepted: float | None, drafted: float | None) -> float | None:
    """Drafted tokens a round. The line lists every position that may be drafted, used or not, so they do not count."""
    if not accepted or drafted is None or length <= 1:
        return None
    error = LENGTH_ROUNDING / (length - 1)
    return whole(drafted / whole(accepted / (length - 1), error), error)


def from_tensorrt(series: MetricSeries) -> ServingCounters | None:
    """TensorRT-LLM's page: tokens by position; every round drafts the first position, so it counts the rounds."""
    if series.prefix != "trtllm":
        return None
    drafted, accepted = (series.list_positions(f"{name}_tokens", "token_position") for name in ("drafted", "accepted"))
    if not drafted or drafted[0] <= 0:
        return _tensorrt_totals(series)
    counts = (accepted + [0.0] * len(drafted))[: max(len(drafted), len(accepted))]  # a position without one is left out
    return ServingCounters(
        "TensorRT-LLM",
        1 + sum(counts) / drafted[0],
        sum(drafted) / drafted[0],
        tuple(count / drafted[0] for count in counts),
        drafted=sum(drafted),
        accepted=sum(counts),
        notes=(say("only_drafting"),),
        rates="marginal",
        convention="own",
    )


def _tensorrt_totals(series: MetricSeries) -> ServingCounters | None:
    """Totals without positions. The gauge of the acceptance length is of the last step only, so it is not used."""
    drafted, accepted = series.total("num_draft_tokens"), series.total("num_accepted_tokens")
    if not drafted or accepted is None:
        raise InputError(say("trtllm_nothing"))
    return ServingCounters("TensorRT-LLM", None, drafted=drafted, accepted=accepted, convention="own")


def from_fastdeploy(series: MetricSeries) -> ServingCounters | None:
    """FastDeploy's page: emitted tokens are the accepted ones and one of the target's own a round."""
    emitted, accepted = series.total("num_emitted_tokens"), series.total("num_accepted_tokens")
    if emitted is None or accepted is None or series.prefix != "fastdeploy":
        return None
    rounds, drafted = emitted - accepted, series.total("num_draft_tokens")
    if rounds <= 0:
        raise InputError(say("emitted_few"))
    length = drafted / rounds if drafted else None
    return ServingCounters("FastDeploy", emitted / rounds, length, drafted=drafted, accepted=accepted, convention="own")


def from_text_generation_inference(series: MetricSeries) -> ServingCounters | None:
    """The page of Hugging Face's TGI: a histogram with the tokens of each call but one; a prompt's call has none."""
    skipped, calls = series.total("request_skipped_tokens_sum"), series.total("request_skipped_tokens_count")
    requests = series.total("request_generated_tokens_count")
    if skipped is None or calls is None:
        return None
    if requests is None or calls <= requests:
        raise InputError(say("tgi_missing"))
    length = 1 + skipped / (calls - requests)
    return ServingCounters(
        "TGI", length, accepted=skipped, over_all_calls=True, notes=(say("all_calls"),), convention="own"
    )
