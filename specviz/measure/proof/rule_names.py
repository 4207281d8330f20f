"""The acceptance rules that the proof can test: the lossless one, a slower one, and some that are wrong on purpose.

`RULES` are tested by drawing, `FORGETFUL` by comparing greedy outputs. Only names and sentences, for pages and for
messages to the engine; `other_rules` has the code. A run cannot use the wrong ones: runs always use the lossless rule.
"""

from dataclasses import dataclass
from typing import Literal

from specviz.measure.proof.rows import CLASSES

RuleName = Literal[
    "lossless",
    "match",
    "no-residual",
    "top-k",
    "greedy-draft",
    "lenient",
    "uncropped",
    "one-rare-token",
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


@dataclass(frozen=True, slots=True)
class RuleText:
    """What the page says about a rule."""

    name: RuleName
    title: str
    lossless: bool
    does: str  # one sentence: what it does
    why: str  # one sentence: why that is right or wrong
    position: Position = "first"  # the token at which it is seen


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
