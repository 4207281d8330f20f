"""TensorRT-LLM: its answers, its statistics of iterations, its page of counters. It reports no steps in order."""

from dataclasses import replace

from specviz.core.errors import InputError
from specviz.systems.counts import Counts, say_count
from specviz.systems.metrics import Metrics
from specviz.systems.table import ANSWER, SystemNames

PLACES = ("drafted_tokens", "accepted_tokens")
METRICS = {*PLACES, "num_draft_tokens", "num_accepted_tokens", "acceptance_length"}
# fmt: off
ROWS = (
    # tensorrt_llm/serve/openai_protocol.py
    SystemNames(
        "TensorRT-LLM", needs=("total_draft_tokens",), rounds=("num_spec_steps",), drafted=("total_draft_tokens",),
        accepted=("total_accepted_draft_tokens",), histogram=("acceptance_histogram",),
        length=("avg_decoded_tokens_per_iter",), written=ANSWER,
    ),
    # Of iterations: acceptanceLength is (accepted + requests) / requests
    SystemNames(
        "TensorRT-LLM", needs=("numDraftTokens",), rounds=("numRequestsWithDraftTokens",),
        accepted=("numAcceptedTokens",), drafted=("numDraftTokens",),
    ),
)
# fmt: on


def counts_in_metrics(metrics: Metrics) -> Counts | None:
    """Tokens by position (tensorrt_llm/metrics); every round drafts the first position, so it counts the rounds.

    The gauge of the acceptance length is of the last step only, so it is not used.
    """
    if metrics.prefix != "trtllm":
        return None
    drafted, accepted = (metrics.list_positions(name, "token_position") for name in PLACES)
    if not drafted or drafted[0] <= 0:
        totals = metrics.need("num_draft_tokens"), metrics.need("num_accepted_tokens")
        found = Counts("TensorRT-LLM", drafted=totals[0], accepted=totals[1])
    elif len(accepted) > len(drafted):
        raise InputError(say_count("position_gap"))
    else:
        shares = tuple(count / drafted[0] for count in accepted) + (0.0,) * (len(drafted) - len(accepted))
        found = Counts("TensorRT-LLM", rounds=drafted[0], drafted=sum(drafted), accepted=sum(accepted), survival=shares)
    return replace(found, of_server=True, used=tuple(metrics.used))
