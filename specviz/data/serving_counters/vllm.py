"""vLLM: its counters, its log line, and the field `metrics.speculative_decoding` of an answer.

llama.cpp's server has the same counters under the prefix `llamacpp:`. All three leave out calls in which nothing was
drafted (vLLM, docs/features/speculative_decoding/acceptance_metrics.md: "Steps with no scheduled draft tokens are
omitted"). With n-gram drafting these are often most calls.
"""

import re
from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.data.serving_counters.counters import MAX_POSITIONS, ServingCounters, field, number, numbers, whole
from specviz.data.serving_counters.pasted import DRAFTING, Found, Names, Series, read_requests, with_keys

NAMES = Names(("num_spec_steps",), ("num_accepted_draft_tokens",), ("num_draft_tokens",), ("acceptance_histogram",))
LISTS = ("per_step_accepted", "per_step_drafted")  # with --per-request-spec-decode-metrics detailed
ONLY_DRAFTING = (
    "Only target calls that checked a draft are counted. A draft model drafts in every call; n-gram drafting does not, "
    "and these figures do not say how often."
)
FIRST_TOKENS = 0.05  # counters do not say how many requests' first tokens are among those written
LENGTH_ROUNDING = 0.005  # the log line writes two decimals


def from_counters(series: Series) -> ServingCounters | None:
    if not any(name in series for name in DRAFTING):
        return None
    drafts, drafted = series.total("num_drafts"), series.total("num_draft_tokens")
    accepted = series.total("num_accepted_tokens")
    by_position = series.by_position("num_accepted_tokens_per_pos", MAX_POSITIONS)
    if drafts is None:
        raise InputError("spec_decode_num_drafts_total is missing: without it the tokens per round are unknown.")
    if accepted is None and not by_position:
        raise InputError("spec_decode_num_accepted_tokens_total is missing.")
    if drafts <= 0:
        raise InputError("spec_decode_num_drafts_total says that nothing was drafted.")
    accepted = sum(by_position) if accepted is None else accepted
    share = _drafting_share(drafts, accepted, series.total("generation_tokens"))
    return ServingCounters(
        "llama.cpp" if series.prefix == "llamacpp" else "vLLM",
        1 + accepted / drafts,
        float(len(by_position)) if drafted is None else drafted / drafts,
        tuple(count / drafts for count in by_position),
        series.mean("num_requests_running"),
        drafted,
        accepted,
        drafting_share=share,
        notes=() if share is not None else (ONLY_DRAFTING,),
        latency=series.latency(),
    )


def from_log(text: str) -> ServingCounters | None:
    lines = [line for line in text.splitlines() if "SpecDecoding metrics:" in line]
    if not lines:
        return None
    length = field(lines[-1], r"Mean acceptance length: *([^\s,]+)")
    if length is None:
        raise InputError("The vLLM log line has no “Mean acceptance length”.")
    accepted, drafted = (field(lines[-1], rf"{name}: *(\d+) tokens") for name in ("Accepted", "Drafted"))
    listed = re.search(r"Per-position acceptance rate:([\d., ]*)", lines[-1])
    survival = numbers(listed[1].split(","), "A per-position rate") if listed else ()
    return ServingCounters(
        "vLLM",
        1 + sum(survival) if survival else length,
        _mean_drafted(length, accepted, drafted) or (float(len(survival)) or None),
        survival,
        field(text, r"Running: *(\d+) reqs"),
        drafted,
        accepted,
        notes=(ONLY_DRAFTING,),
    )


def _mean_drafted(length: float, accepted: float | None, drafted: float | None) -> float | None:
    """Drafted tokens a round. The line lists every position that may be drafted, used or not, so they do not count."""
    if not accepted or drafted is None or length <= 1:
        return None
    error = LENGTH_ROUNDING / (length - 1)
    return whole(drafted / whole(accepted / (length - 1), error), error)


def from_answers(found: Sequence[Found]) -> ServingCounters | None:
    metrics = [_counted(each) for each in with_keys(found, "mean_acceptance_length", *NAMES.histogram, *LISTS)]
    metrics = [each for each in metrics if "total_draft_tokens" not in each and "num_spec_steps" in each]
    if not metrics:
        return None
    total = read_requests(metrics, NAMES)
    if not total.steps or total.accepted is None:
        raise InputError("metrics.speculative_decoding says that nothing was drafted.")
    written = [each["completion_tokens"] for each in with_keys(found, "completion_tokens")]
    known = [float(tokens) for tokens in written if isinstance(tokens, int)]
    tokens = sum(known) if len(known) == len(metrics) else None
    share = _drafting_share(total.steps, total.accepted, tokens, len(metrics))
    notes = () if share is not None else (ONLY_DRAFTING,)
    return total.counters("vLLM", total.steps, drafting_share=share, notes=notes)


def _counted(found: Found) -> Found:
    """The same with the counts that its lists of steps add up to, where it has such lists and no histogram."""
    accepted, drafted = (found.get(name) for name in LISTS)
    if not isinstance(accepted, list) or found.get(NAMES.histogram[0]) is not None:
        return found
    counts = [number(each, LISTS[0]) for each in accepted]
    lengths = [number(each, LISTS[1]) for each in drafted] if isinstance(drafted, list) else []
    if lengths and len(lengths) != len(counts):
        raise InputError(f"{LISTS[0]} has {len(counts)} steps, and {LISTS[1]} {len(lengths)}.")
    most = max([*lengths, *counts, number(found.get("num_spec_tokens") or 0, "num_spec_tokens")], default=0)
    if most > MAX_POSITIONS or any(count != int(count) for count in counts):
        raise InputError(f"{LISTS[0]} must hold whole numbers up to {MAX_POSITIONS}.")
    histogram = [counts.count(place) for place in range(int(most) + 1)]
    sums = {"num_spec_steps": len(counts), "num_accepted_draft_tokens": sum(counts)}
    return {
        **found,
        **sums,
        **({"num_draft_tokens": sum(lengths)} if lengths else {}),
        "acceptance_histogram": histogram,
    }


def _drafting_share(steps: float, accepted: float, written: float | None, requests: int = 0) -> float | None:
    """Share of the calls that checked a draft: one writes its accepted tokens and one more, another call one token."""
    if written is None:
        return None
    others = written - requests - (steps + accepted)
    return steps / (steps + others) if others > steps * FIRST_TOKENS else 1.0
