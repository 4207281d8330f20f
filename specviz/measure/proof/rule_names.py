"""The acceptance rules that the proof can test: the lossless ones, wrong ones, and some that are lossy by design.

`RULES` are tested by drawing, `FORGETFUL` by comparing greedy outputs. Only names and sentences, for pages and for
messages to the engine; `other_rules` has the code. A run cannot use what is not lossless.
"""

from dataclasses import dataclass
from typing import Literal

from specviz.measure.proof.rows import CLASSES

RuleName = Literal[
    "lossless",
    "match",
    "block",
    "no-residual",
    "top-k",
    "greedy-draft",
    "lenient",
    "uncropped",
    "one-rare-token",
    "wrong-block",
    "typical",
    "ensemble",
    "forgotten-row",
]
Position = Literal["first", "second", "third", "after"]  # which new token is tested; after: the one after a rejection

POSITIONS: dict[Position, str] = {
    "first": "1st new token",
    "second": "2nd new token",
    "third": "3rd new token",
    "after": "the token after the first rejection",
}
TOP_ACCEPTED = 10  # "top-k": a drafted token is accepted if it is one of this many most probable ones
LENIENCE = 0.3  # "lenient": q is multiplied by it before the comparison
# "typical": the limits of Medusa's own code (posterior_threshold and posterior_alpha in medusa/model/medusa_model.py)
TYPICAL_THRESHOLD, TYPICAL_ALPHA = 0.09, 0.3
ENSEMBLE_WEIGHT = 0.5  # "ensemble": of the target; the draft has the rest


@dataclass(frozen=True, slots=True)
class RuleText:
    """What the page says about a rule."""

    name: RuleName
    title: str
    lossless: bool
    does: str  # one sentence: what it does
    why: str  # one sentence: why that is right or wrong
    position: Position = "first"  # the token at which it is seen
    joint: bool = False  # whether it judges a draft as a whole: it is then tested on whole drafts
    by_design: bool = False  # whether it is lossy on purpose, to be faster


RULES = (
    RuleText(
        "lossless",
        "The real rule",
        True,
        "Accept a drafted token with probability min(1, p/q). Replace the first rejected one by a draw from the part "
        "of p that is above q, (p − q)+.",
        "A token that the draft proposes too often is rejected just often enough, and the replacement adds exactly the "
        "tokens that are then missing.",
    ),
    RuleText(
        "match",
        "Accept only exact matches",
        True,
        "Draw a token from the target as in plain decoding, and accept the drafted one only if it is the same.",
        "Every token is the target’s own draw, so only the speed changes: fewer tokens are accepted than possible.",
    ),
    RuleText(
        "block",
        "Block verification",
        True,
        "Judge the draft as a whole: accept the longest prefix that the product of the ratios p/q supports, and draw "
        "the next token from what is then left of p.",
        "A token that p favours makes up for one before it that q favoured, so on average at least as many tokens are "
        "accepted as by the real rule (Sun et al. 2025, arXiv:2403.10444). Watch offers it under More.",
        joint=True,
    ),
    RuleText(
        "no-residual",
        "Skip the residual",
        False,
        "After a rejection, draw from the target’s whole p, not from the residual (p − q)+.",
        "A token that was just rejected can be drawn again, so the draft’s favourite tokens appear too often.",
    ),
    RuleText(
        "top-k",
        f"Accept all in the target’s top {TOP_ACCEPTED}",
        False,
        f"Accept a drafted token if it is one of the target’s {TOP_ACCEPTED} most probable ones, else replace it.",
        "Among these tokens, the draft’s probabilities replace the target’s.",
    ),
    RuleText(
        "greedy-draft",
        "Greedy draft, judged as if sampled",
        False,
        "The draft always proposes its most probable token, but the rule divides by q as if it had been drawn from q.",
        "The probability of proposing it is really 1, not q: it is accepted too often, and the residual is wrong.",
    ),
    RuleText(
        "lenient",
        "A lenient threshold",
        False,
        f"Accept a drafted token with probability min(1, p / ({LENIENCE} · q)): more are accepted, and it is faster.",
        "The draft’s favourite tokens appear more often than the target would write them. This is a known trade-off "
        "(“lenience”, Leviathan et al. 2023, appendix A.5), and it is not lossless.",
        by_design=True,
    ),
    RuleText(
        "uncropped",
        "A cache that is not cropped",
        False,
        "The rule is the real one, but after a rejection the rejected tokens stay in the target’s cache.",
        "From then on the target reads tokens that are not in the text, so the error shows only after a rejection.",
        "after",
    ),
    RuleText(
        "one-rare-token",
        "Always the same rare token",
        False,
        f"The rule is the real one, but the target’s least probable token replaces every token that is not among the "
        f"target’s {CLASSES} most probable ones.",
        "Each of these tokens is as frequent as it should be, and all others together are too. So counting sees "
        "nothing; the test of places, which looks inside “any other”, does.",
    ),
    RuleText(
        "wrong-block",
        "Block verification done wrong",
        False,
        "Accept the longest prefix whose product of min(1, p/q) is above the product of its random numbers. Replace "
        "the next token by a draw from (p − q)+, as if tokens were judged one by one.",
        "A published system shipped it (vllm-ascend, issue 7807). A product of random numbers is no random number, and "
        "the replacement comes from the wrong distribution, so the draft’s favourite tokens appear too often.",
        joint=True,
    ),
    RuleText(
        "typical",
        "Typical acceptance",
        False,
        f"Accept a drafted token if its p is above min({TYPICAL_THRESHOLD}, {TYPICAL_ALPHA} · e⁻ᴴ), where H is the "
        "entropy of p. Else draw from p.",
        "Medusa’s rule (Cai et al. 2024). It is lossy by design: every token that is probable enough is accepted, "
        "however often the draft proposes it.",
        by_design=True,
    ),
    RuleText(
        "ensemble",
        "An ensemble weight",
        False,
        f"Accept a drafted token with probability min(1, {1 - ENSEMBLE_WEIGHT:g} + {ENSEMBLE_WEIGHT:g} · p/q), as if "
        "the target were the mean of p and q.",
        "assistant_ensemble_weight in transformers (arXiv:2604.07622). It is lossy by design: each judged place is "
        "distributed as that mean, and the draft’s own errors are part of it.",
        by_design=True,
    ),
)

FORGETFUL = RuleText(
    "forgotten-row",
    "Greedy: a cache that forgets one row",
    False,
    "At temperature 0: at the first rejection, the target’s cache loses the last accepted token too.",
    "From then on the target reads a text with a hole in it. Some token changes although its lead is far larger than "
    "rounding explains.",
)

_BY_NAME = {rule.name: rule for rule in (*RULES, FORGETFUL)}


def rule_text(name: RuleName) -> RuleText:
    """What the page says about this rule."""
    return _BY_NAME[name]
