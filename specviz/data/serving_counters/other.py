"""TensorRT-LLM and LM Studio: counts of a request.

TensorRT-LLM: `request_perf_metrics.speculative_decoding` counts tokens, not calls. Newer versions add steps and a
histogram for a request (`per_request_spec_decode_stats`), and the mean tokens of a call
(`avg_decoded_tokens_per_iter`).
LM Studio: stats of a prediction. What `ignored` means is not documented, so it is not used.
"""

from collections.abc import Sequence

from specviz.core.errors import InputError
from specviz.data.serving_counters.answers import Names, read_requests
from specviz.data.serving_counters.counters import ServingCounters
from specviz.data.serving_counters.llama_cpp import by_written
from specviz.data.serving_counters.numbers import number
from specviz.data.serving_counters.pasted_json import Found, with_keys

TENSORRT = Names(
    ("num_spec_steps",), ("total_accepted_draft_tokens",), ("total_draft_tokens",), ("acceptance_histogram",)
)
LM_STUDIO = [
    ("totalDraftTokensCount", "acceptedDraftTokensCount", "predictedTokensCount"),
    ("total_draft_tokens_count", "accepted_draft_tokens_count", "predicted_tokens_count"),
]


def from_tensorrt(found: Sequence[Found]) -> ServingCounters | None:
    """TensorRT-LLM's field `speculative_decoding` of one or several requests."""
    requests = with_keys(found, "total_draft_tokens")
    if not requests:
        return None
    total = read_requests(requests, TENSORRT)
    if not total.drafted or total.accepted is None:
        raise InputError(
            "speculative_decoding says that nothing was drafted, or total_accepted_draft_tokens is missing."
        )
    steps = total.steps or _steps(found, total.accepted)
    return ServingCounters(
        "TensorRT-LLM",
        1 + total.accepted / steps if steps else None,
        total.drafted / steps if steps else None,
        total.survival,
        drafted=total.drafted,
        accepted=total.accepted,
    )


def _steps(found: Sequence[Found], accepted: float) -> float | None:
    """The calls of one request, from the mean tokens of a call."""
    means = [each["avg_decoded_tokens_per_iter"] for each in with_keys(found, "avg_decoded_tokens_per_iter")]
    mean = number(means[0], "avg_decoded_tokens_per_iter") if len(means) == 1 else 0.0
    return accepted / (mean - 1) if mean > 1 else None


def from_lm_studio(found: Sequence[Found]) -> ServingCounters | None:
    """LM Studio's stats of one or several predictions, in the names of its JavaScript or its Python client."""
    for names in LM_STUDIO:
        if stats := with_keys(found, names[0]):
            drafted, accepted, written = (sum(number(each.get(name) or 0, name) for each in stats) for name in names)
            if not drafted:
                raise InputError(f"{names[0]} says that nothing was drafted.")
            return by_written("LM Studio", drafted, accepted, written, len(stats))
    return None
