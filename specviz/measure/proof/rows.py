"""The results of a proof as plain values: batches of draws, and greedy comparisons. It imports no torch."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import AliasChoices, Field

from specviz.core.rounding import RoundingJudgement, judge_difference

BATCHES = 10  # a proof by sampling has this many parts; the test is made once after each
MOST_DRAWS = 20_000
CLASSES = 30  # the most probable tokens, each counted by itself
PLACES = 20  # equal parts of the probability, in which the places of drawn tokens are counted


@dataclass(frozen=True, slots=True)
class DrawBatch:
    """Draws of one position. Lists have one entry a class: some single tokens, then all other tokens together."""

    tokens: list[str]  # the classes' texts
    speculative: list[int]  # how often the speculative loop wrote each class
    plain: list[int]  # how often plain decoding did, once after each of the same texts
    expected: list[float]  # the expected count: the sum of the target's probabilities after those texts
    texts: int  # number of different texts before the position
    tries: int  # runs that were made; more than draws if not every run has the position
    proposed: int  # runs whose first round drafted something
    # Of these, runs whose first drafted token was accepted; older files call it "kept".
    accepted: Annotated[int, Field(validation_alias=AliasChoices("accepted", "kept"))]
    sum_of_products: float | None  # sum over tokens of p·q for the first drafted token; None without a draft
    sum_of_minima: float | None  # sum of min(p, q)
    # How often the place of the drawn token (see `draws.place_of`) is in each twentieth; empty in older files.
    speculative_places: list[int] = field(default_factory=list)
    plain_places: list[int] = field(default_factory=list)
    most_probable: float | None = None  # p of the token that q finds most probable; None in older files

    @property
    def draws(self) -> int:
        return sum(self.speculative)


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
