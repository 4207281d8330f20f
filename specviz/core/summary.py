"""A run's figures by name, for notebooks and programs: `specviz.summary`."""

from dataclasses import asdict
from typing import Any

from specviz.core.metrics import count, speedup
from specviz.core.trace import Trace
from specviz.core.verdict import verdict_of_run, why_no_verdict


def summary(trace: Trace) -> dict[str, Any]:
    """What was counted, and the measured speedup with its verdict; None where the run does not say.

    Keys:
        rounds, drafted, accepted, rejected, discarded, emitted: counts. Of a tree, every node is drafted.
        acceptance_rate: accepted / drafted. per_judgement_rate: accepted / (accepted + rejected).
        tokens_per_target_call: emitted / rounds.
        speedup: seconds of the target alone / seconds of speculative decoding, measured, one pair of runs.
        verdict: the words and the reason; or why there is none.
    """
    counts, verdict = count(trace.rounds), verdict_of_run(trace)
    return {
        **asdict(counts),
        "acceptance_rate": counts.acceptance_rate,
        "per_judgement_rate": counts.per_judgement_rate,
        "tokens_per_target_call": counts.tokens_per_target_call,
        "speedup": speedup(trace),
        "verdict": f"{verdict.headline}. {verdict.reason}" if verdict else f"No verdict: {why_no_verdict(trace)}.",
    }
