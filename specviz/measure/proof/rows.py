"""What the proof's tasks answer, as plain values: batches of draws, and greedy comparisons. No torch in it."""

from dataclasses import dataclass

BATCHES = 10  # a proof by sampling comes in so many parts; after each the test is made once
MOST_DRAWS = 20_000


@dataclass(frozen=True, slots=True)
class DrawBatch:
    """Draws of one position. Lists have an entry a class: some single tokens, and at the end all others together."""

    tokens: list[str]  # the classes' texts
    speculative: list[int]  # how often the speculative loop wrote each
    plain: list[int]  # how often plain decoding did, asked once after each of the same texts
    expected: list[float]  # how often it is to be expected: the target's probabilities after those texts, summed
    texts: int  # different texts before the position
    tries: int  # runs made for them; more than draws where the position is not in every run
    proposed: int  # runs whose first round drafted something
    kept: int  # of these, runs whose first drafted token was accepted
    sum_of_products: float | None  # sum over tokens of p·q for the first drafted token; None where there is no draft
    sum_of_minima: float | None  # sum of min(p, q)

    @property
    def draws(self) -> int:
        """Tokens drawn each way."""
        return sum(self.speculative)


@dataclass(frozen=True, slots=True)
class Contenders:
    """The logits of two tokens as one computation has them."""

    way: str  # "one token", "batched" or "float32"
    dtype: str
    plain: float  # of the token plain decoding took
    speculative: float  # of the one the speculative loop took

    @property
    def gap(self) -> float:
        """How far the plain run's token is ahead; below 0 it is behind."""
        return self.plain - self.speculative


@dataclass(frozen=True, slots=True)
class NearTie:
    """The place where two greedy outputs part."""

    position: int  # new tokens that are the same before it
    text: str  # the end of the text before it
    plain_token: str
    speculative_token: str
    batch: int  # tokens that the target read at once there
    ways: list[Contenders]


@dataclass(frozen=True, slots=True)
class GreedyRow:
    """One prompt, decoded greedily both ways."""

    preset: str  # its name; empty for a prompt of the visitor's own
    prompt: str
    target: str
    draft: str
    dtype: str  # the target's number format
    draft_length: int
    tokens: int  # written by plain decoding
    same: int  # how many from the start are the same, id for id
    drafted: int
    accepted: int
    near_tie: NearTie | None  # None where all are the same

    @property
    def identical(self) -> bool:
        """Whether both wrote the same ids."""
        return self.near_tie is None
