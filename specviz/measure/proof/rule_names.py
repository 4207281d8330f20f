"""The acceptance rules the proof can try: the lossless one, a slower one, and those broken on purpose.

Names and sentences only, so that pages and messages to the engine can hold them; `other_rules` does
what they say. None of them is reachable from a run: runs always take the lossless rule.
"""

from dataclasses import dataclass
from typing import Literal

RuleName = Literal["lossless", "match", "no-residual", "top-k", "greedy-draft", "lenient", "uncropped"]
Position = Literal["first", "second", "third", "after"]  # which new token is looked at; after: right after a rejection

POSITIONS: dict[Position, str] = {
    "first": "1st new token",
    "second": "2nd new token",
    "third": "3rd new token",
    "after": "the token after the first rejection",
}
KEPT_LIKELIEST = 10  # "top-k": a drafted token is kept if it is one of the target's so many likeliest, else not
LENIENCE = 0.3  # "lenient": q is multiplied by it before the comparison


@dataclass(frozen=True, slots=True)
class RuleText:
    """What a person is told of a rule."""

    name: RuleName
    title: str
    lossless: bool
    does: str  # one sentence: what it does
    why: str  # one sentence: what is wrong with that, or why it is right
    position: Position = "first"  # where it shows


RULES = (
    RuleText(
        "lossless",
        "The real rule",
        True,
        "Keep a drafted token with probability min(1, p/q); replace the first one that fails by a draw from what the "
        "target wants more than the draft does, (p − q)+.",
        "Tokens the draft proposes too often are thinned out, and exactly what is then missing is filled in.",
    ),
    RuleText(
        "match",
        "Keep only exact matches",
        True,
        "Draw a token from the target as plain decoding would, and keep the drafted one only when it is the same.",
        "Every token is the target’s own draw, so nothing changes but the speed: matches are rarer than need be.",
    ),
    RuleText(
        "no-residual",
        "Skip the residual",
        False,
        "After a rejection, draw from the target’s p as it is, not from what is left of it, (p − q)+.",
        "Tokens the draft likes get a second chance after being rejected, so they come too often.",
    ),
    RuleText(
        "top-k",
        f"Keep all in the target’s top {KEPT_LIKELIEST}",
        False,
        f"Keep a drafted token whenever it is one of the target’s {KEPT_LIKELIEST} likeliest, else replace it.",
        "Among those few, the draft’s odds replace the target’s.",
    ),
    RuleText(
        "greedy-draft",
        "Greedy draft, judged as if sampled",
        False,
        "The draft always proposes its likeliest token, but the rule divides by q as if it had been drawn from q.",
        "The proposal’s real probability is 1, not q: it is kept too often, and the residual is the wrong one.",
    ),
    RuleText(
        "lenient",
        "A lenient threshold",
        False,
        f"Keep a drafted token with probability min(1, p / ({LENIENCE} · q)): more guesses survive, and it is quicker.",
        "The draft’s favourites survive more often than the target would have written them. It is a known trade "
        "(“lenience”, Leviathan et al. 2023, appendix A.5), and not lossless.",
    ),
    RuleText(
        "uncropped",
        "A cache that is not cropped",
        False,
        "The rule is the real one, but after a rejection the target’s cache keeps the rejected tokens.",
        "From then on the target reads words that are not in the text: the bug does not show until after a rejection.",
        "after",
    ),
)

_BY_NAME = {rule.name: rule for rule in RULES}


def rule_text(name: RuleName) -> RuleText:
    """What a person is told of this rule."""
    return _BY_NAME[name]
