"""The acceptance rules that the proof can test: the lossless ones, wrong ones, and some that are lossy by design."""

from dataclasses import dataclass
from typing import Literal

import yaml
from pydantic import TypeAdapter

from specviz.core.files import ASSETS
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


LIMITS = {
    "CLASSES": CLASSES,
    "TOP_ACCEPTED": TOP_ACCEPTED,
    "LENIENCE": LENIENCE,
    "TYPICAL_THRESHOLD": TYPICAL_THRESHOLD,
    "TYPICAL_ALPHA": TYPICAL_ALPHA,
    "ENSEMBLE_WEIGHT": ENSEMBLE_WEIGHT,
    "DRAFT_WEIGHT": 1 - ENSEMBLE_WEIGHT,
}


@dataclass(frozen=True, slots=True)
class RuleText:
    """What the page says about a rule; assets/rules.yaml explains the fields."""

    name: RuleName
    title: str
    does: str
    why: str
    lossless: bool = False
    position: Position = "first"
    joint: bool = False
    by_design: bool = False


def _filled(given: dict[str, str | bool]) -> dict[str, str | bool]:
    return {key: value.format(**LIMITS) if isinstance(value, str) else value for key, value in given.items()}


FILE = ASSETS / "rules.yaml"
*RULES, FORGETFUL = TypeAdapter(list[RuleText]).validate_python(
    [_filled(each) for each in yaml.safe_load(FILE.read_text(encoding="utf-8"))]
)

_BY_NAME = {rule.name: rule for rule in (*RULES, FORGETFUL)}


def rule_text(name: RuleName) -> RuleText:
    return _BY_NAME[name]
