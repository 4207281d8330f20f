"""Can rounding explain that two greedy outputs differ? One limit for the proof, the verdict, Race and compare.

A pass over several tokens adds numbers in another order than a pass over one, so the logits of the two differ a little.
A greedy output changes only where the most probable token's lead over another one is smaller than that change. A larger
lead means that something else is wrong, for example the cache.
"""

from dataclasses import dataclass
from typing import Literal

from specviz.core.texts import Sentences

say = Sentences("rounding")

Judged = Literal["rounding", "fails", "unknown"]

# In logits, the largest change of the most probable token's lead over any of the next nine, between the one-token pass
# and a pass over 2, 5, 9, 17 or all tokens of the same text: 20,650 comparisons of such passes in each format
# (benchmarks/results/rounding.json has n, quantiles and maxima of each model).
LARGEST_MEASURED = {"float32": 2.3e-5, "bfloat16": 0.1875}
MEASURED_ON = ("wren-base", "wren-small", "wren-mini", "wren-nano")
# Two for a lead that was computed in a third pass, which differs from both; two for other processors and texts.
SAFETY = 4
LIMITS = {number_format: SAFETY * largest for number_format, largest in LARGEST_MEASURED.items()}


@dataclass(frozen=True, slots=True)
class RoundingJudgement:
    state: Judged
    sentence: str  # without a full stop at its end


def judge_difference(lead: float | None, dtype: str | None, target: str) -> RoundingJudgement:
    """Whether rounding explains that two greedy outputs part here.

    Args:
        lead: how far apart the scores of the two tokens are, or how much that distance changes between the two passes;
            in logits. None where it is not known.
        dtype: the target's number format.
        target: the target's name. "fails" is only said of the models that the limits were measured on.
    """
    if lead is None:
        return RoundingJudgement("unknown", say("not_recorded"))
    limit = LIMITS.get(dtype or "")
    if limit is None:
        return RoundingJudgement("unknown", say("no_limit", dtype=dtype) if dtype else say("no_limit_unnamed"))
    size = abs(lead)
    if size <= limit:
        return RoundingJudgement("rounding", say("near_tie", size=size, limit=limit, dtype=dtype))
    if target in MEASURED_ON:
        return RoundingJudgement("fails", say("fails", size=size, limit=limit, dtype=dtype))
    return RoundingJudgement("unknown", say("other_model", size=size, limit=limit, dtype=dtype, target=target))


def explain_limits() -> str:
    exact, fast = (LARGEST_MEASURED[number_format] for number_format in ("float32", "bfloat16"))
    return say("limits_from", safety=SAFETY, exact=exact, fast=fast)
