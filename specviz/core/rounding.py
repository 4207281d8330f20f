"""Can rounding explain that two greedy outputs differ? One limit for the proof, the verdict, Race and compare.

A pass over several tokens adds numbers in another order than a pass over one, so the logits of the two differ a little.
A greedy output changes only where the most probable token's lead over another one is smaller than that change. A larger
lead means that something else is wrong, for example the cache.
"""

from dataclasses import dataclass
from typing import Literal

Judged = Literal["rounding", "fails", "unknown"]

# In logits, the largest change of the most probable token's lead over any of the next nine, between the one-token pass
# and a pass over 2, 5, 9, 17 or all tokens of the same text: 20,650 comparisons of such passes in each format
# (benchmarks/rounding.py; benchmarks/results/rounding.json has n, quantiles and maxima of each model).
LARGEST_MEASURED = {"float32": 2.3e-5, "bfloat16": 0.1875}
MEASURED_ON = ("wren-base", "wren-small", "wren-mini", "wren-nano")
# Two for a lead that was computed in a third pass, which differs from both; two for other processors and texts.
SAFETY = 4
LIMITS = {number_format: SAFETY * largest for number_format, largest in LARGEST_MEASURED.items()}
SOURCE = (
    f"The limit is {SAFETY} times the largest change of a lead that was measured between the one-token pass and other "
    f"passes over the same text, on the models that come with the app: {LARGEST_MEASURED['float32']:.2g} logits in "
    f"float32, {LARGEST_MEASURED['bfloat16']:.2g} in bfloat16, of about 20,600 places and passes each "
    "(benchmarks/results/rounding.json). Other models may round more."
)


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
        return RoundingJudgement("unknown", "how far apart the scores of the two tokens are was not recorded")
    limit = LIMITS.get(dtype or "")
    if limit is None:
        return RoundingJudgement("unknown", f"the limit of rounding is not known for {dtype or 'this number format'}")
    size, most = f"{abs(lead):.2g} logits", f"the limit of {limit:.2g} for {dtype}"
    if abs(lead) <= limit:
        return RoundingJudgement("rounding", f"a near-tie, and rounding decides: {size}, within {most}")
    if target in MEASURED_ON:
        return RoundingJudgement(
            "fails", f"FAILS: this difference is larger than rounding explains: {size}, above {most}"
        )
    return RoundingJudgement(
        "unknown",
        f"{size}, above {most} that was measured on the models that come with the app; no limit is known for {target}",
    )
