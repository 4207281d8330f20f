"""A proof as plain values: its rules by name, batches of draws, greedy comparisons, the recorded one. No torch."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, TypeAdapter

from specviz.core.files import ASSETS, read_once
from specviz.core.outside import MostItems
from specviz.core.request import RunRequest
from specviz.core.rounding import RoundingJudgement, judge_difference
from specviz.core.texts import AppTexts, NonEmptyText
from specviz.models.catalogue import MODELS_FOLDER, bundled_names, weights_hash

TOP_ACCEPTED = 10  # "top_k": a guess is accepted if it is one of this many most probable tokens
LENIENCE = 0.3  # "lenient": q is multiplied by it before the comparison
# "typical": the limits of Medusa's own code (posterior_threshold and posterior_alpha in medusa/model/medusa_model.py)
TYPICAL_THRESHOLD, TYPICAL_ALPHA = 0.09, 0.3
ENSEMBLE_WEIGHT = 0.5  # "ensemble": of the target; the draft has the rest
BATCHES = 10  # a proof by sampling has this many parts; the test is made once after each
MOST_DRAWS = 20_000
CLASSES = 30  # the most probable tokens, each counted by itself
PLACES = 20  # equal parts of the probability, in which the places of drawn tokens are counted

# A rule as a choice of three pieces: when a guess is accepted, what replaces it, and the bonus. algebra.py has their
# arithmetic, assets/texts/tables/pieces.yaml their names.
AcceptName = Literal[
    "ratio",
    "accepted_when_equal",
    "always_accepted",
    "all_or_nothing",
    "upside_down",
    "top_k",
    "lenient",
    "typical",
    "ensemble",
]
ReplaceName = Literal[
    "leftover", "without_rejected", "replaced_from_target", "replaced_from_draft", "most_probable_instead"
]
BonusName = Literal["from_target", "most_probable_bonus", "bonus_of_last_row", "bonus_forgotten"]
PieceName = AcceptName | ReplaceName | BonusName
# Nothing is lost with these only: each way to accept leaves a part of p, and this replacement writes it.
PARTNERS: dict[AcceptName, ReplaceName] = {"ratio": "leftover", "accepted_when_equal": "without_rejected"}
RIGHT_BONUS: tuple[BonusName, ...] = ("from_target", "bonus_forgotten")  # the second is slower, and nothing else
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

POSITIONS: tuple[Position, ...] = get_args(Position)
LIMITS = {
    "CLASSES": CLASSES,
    "TOP_ACCEPTED": TOP_ACCEPTED,
    "LENIENCE": LENIENCE,
    "TYPICAL_THRESHOLD": TYPICAL_THRESHOLD,
    "TYPICAL_ALPHA": TYPICAL_ALPHA,
    "ENSEMBLE_WEIGHT": ENSEMBLE_WEIGHT,
    "DRAFT_WEIGHT": 1 - ENSEMBLE_WEIGHT,
}
PATH = ASSETS / "traces" / "proof.json"  # made by `python -m scripts.record proof`

LimitText = Annotated[NonEmptyText, AfterValidator(lambda text: text.format(**LIMITS))]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A rule; the names of wrong pieces are those of mistakes in assets/texts/lab.yaml or of rules."""

    accept: AcceptName = "ratio"
    replace: ReplaceName = "leftover"
    bonus: BonusName = "from_target"

    @property
    def wrong(self) -> PieceName | None:
        """The piece that makes judged places wrong."""
        if self.replace == PARTNERS.get(self.accept):
            return None
        return self.replace if self.accept == "ratio" else self.accept

    @property
    def lossless(self) -> bool:
        return self.wrong is None and self.bonus in RIGHT_BONUS


REAL = Pieces()


def judging() -> Iterator[Pieces]:
    """Every way to judge a guess."""
    return (Pieces(accept, replace) for accept, replace in product(get_args(AcceptName), get_args(ReplaceName)))


@dataclass(frozen=True, slots=True)
class RuleText:
    """What the page says about a rule; assets/texts/tables/rules.yaml explains the fields."""

    name: RuleName
    title: LimitText
    does: LimitText
    why: LimitText
    lossless: bool = False
    position: Position = "first"
    joint: bool = False
    by_design: bool = False
    pieces: Pieces | None = None  # None: its parts are none of a choice of pieces


rule_texts = AppTexts("tables/rules", tuple[RuleText, ...])
*RULES, FORGETFUL = rule_texts.read().content  # in English: what people read is `rule_text`
piece_titles = AppTexts("tables/pieces", dict[str, dict[PieceName, LimitText]])  # by the fields of `Pieces`


def rule_text(name: str | None) -> RuleText:
    return next(rule for rule in rule_texts() if rule.name == name)


# A student's file has batches too, so each part of them has a bound.
DrawnCount = Annotated[int, Field(ge=0, le=10**9)]
DrawnCounts = Annotated[list[DrawnCount], MostItems(CLASSES + 1)]
BatchTokens = Annotated[list[Annotated[str, Field(max_length=300)]], MostItems(CLASSES + 1)]
PlaceCounts = Annotated[list[DrawnCount], MostItems(PLACES)]
ExpectedDraws = Annotated[list[Annotated[float, Field(ge=0, le=10**9, allow_inf_nan=False)]], MostItems(CLASSES + 1)]


@dataclass(frozen=True, slots=True)
class DrawBatch:
    """Draws of one position. Lists have one entry a class: some single tokens, then all other tokens together."""

    tokens: BatchTokens  # the classes' texts
    speculative: DrawnCounts  # how often the speculative loop wrote each class
    plain: DrawnCounts  # how often plain decoding did, once after each of the same texts
    expected: ExpectedDraws  # the expected count: the sum of the target's probabilities after those texts
    # How often the place of the drawn token (see `draws.place_of`) is in each twentieth; empty in older files.
    speculative_places: PlaceCounts = field(default_factory=list)
    plain_places: PlaceCounts = field(default_factory=list)

    @property
    def draws(self) -> int:
        return sum(self.speculative)

    def plus(self, other: "DrawBatch") -> "DrawBatch":
        """Both together; they have the same classes."""
        counted = ("speculative", "plain", "expected", "speculative_places", "plain_places")
        pairs = {name: zip(getattr(self, name), getattr(other, name), strict=False) for name in counted}
        sums: dict[str, Any] = {name: [*map(sum, its)] for name, its in pairs.items()}
        return replace(self, **sums)


@dataclass(frozen=True, slots=True)
class Contenders:
    way: str  # "one token", "batched" or "float32"
    dtype: str
    plain: float  # of the token that plain decoding chose
    speculative: float  # of the token that the speculative loop chose

    @property
    def gap(self) -> float:
        return self.plain - self.speculative


@dataclass(frozen=True, slots=True)
class NearTie:
    position: int  # number of equal new tokens before it
    text: str  # the end of the text before it
    plain_token: str
    speculative_token: str
    batch: int  # number of tokens that the target read at once there
    ways: list[Contenders]

    @property
    def change(self) -> float:
        one, batched, *_ = self.ways
        return one.gap - batched.gap


@dataclass(frozen=True, slots=True)
class GreedyRow:
    preset: str  # its name; empty for the visitor's own prompt
    prompt: str
    target: str
    draft: str
    dtype: str  # the target's number format
    draft_length: int
    tokens: int  # number written by plain decoding
    same: int  # number of equal ids from the start
    drafted: int
    accepted: int
    near_tie: NearTie | None  # None if all are the same
    tree: Annotated[str | None, Field(exclude_if=lambda tree: tree is None)] = None

    @property
    def identical(self) -> bool:
        return self.near_tie is None

    @property
    def judged(self) -> RoundingJudgement | None:
        return judge_difference(self.near_tie.change, self.dtype, self.target) if self.near_tie else None


@dataclass(frozen=True, slots=True)
class TokenShare:
    text: str
    target: float  # its probability, p
    written: float  # with which a rule writes it


@dataclass(frozen=True, slots=True)
class WrittenPlaces:
    """What a piece writes at each place that it decides, if all guesses before were accepted; nothing is drawn."""

    distances: list[float]  # total variation distance from the target
    accepted: list[float]  # probability that the guess there is accepted; empty after the last one
    tokens: list[TokenShare]  # where it differs most, at the place of the largest distance


@dataclass(frozen=True, slots=True)
class EnumeratedRules:
    """Every rule of pieces along one draft."""

    guesses: list[str]
    judged: dict[str, WrittenPlaces]  # by the names of the first two pieces, see `judged_key`
    bonus: dict[BonusName, WrittenPlaces]


def judged_key(pieces: Pieces) -> str:
    return f"{pieces.accept} {pieces.replace}"


@dataclass(frozen=True, slots=True)
class RecordedDraws:
    rule: RuleName
    position: Position
    batches: list[DrawBatch]


@dataclass(frozen=True, slots=True)
class RecordedProof:
    created: str
    machine: str
    weights: dict[str, str]  # hash by model name
    request: RunRequest
    draws: list[RecordedDraws]
    greedy: list[GreedyRow]
    near_tie: GreedyRow  # in bfloat16
    forgotten_row: GreedyRow | None = None  # with a cache that forgets a row; None in older files
    enumerated: EnumeratedRules | None = None  # None in older files

    @property
    def changed_weights(self) -> list[str]:
        known = {name for name in self.weights if name in bundled_names()}
        return sorted(name for name in known if weights_hash(MODELS_FOLDER / name) != self.weights[name])


_PROOF: TypeAdapter[RecordedProof] = TypeAdapter(RecordedProof)


def dump_proof(proof: RecordedProof) -> bytes:
    return _PROOF.dump_json(proof, indent=1) + b"\n"


@read_once("No recorded proof")
def recorded_proof() -> RecordedProof | None:
    return _PROOF.validate_json(PATH.read_bytes())
