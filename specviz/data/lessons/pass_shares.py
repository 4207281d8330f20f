"""What one pass of the target spends its time on, as benchmarks/pass_shares.py measured it. No model, no Streamlit."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from specviz.core.files import RESULTS
from specviz.core.trace import Machine
from specviz.data.batches import Clock, Ratio
from specviz.data.stored import read_stored

FILE = RESULTS / "pass_shares.json"
Part = Literal["weights", "attention", "program", "rest"]
PARTS: tuple[Part, ...] = ("weights", "attention", "program", "rest")  # as drawn; together they are the whole pass


@dataclass(frozen=True, slots=True)
class Spread:
    median: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TimedPass:
    """One pass: its parts and the whole; its time over that of one token, and over the same pass in float32."""

    dtype: str
    tokens: int
    ms: dict[Part | Literal["whole"], Spread]
    ratio: Ratio
    to_float32: Ratio

    def share(self, part: Part) -> float:
        return self.ms[part].median / self.ms["whole"].median


@dataclass(frozen=True, slots=True)
class PassShares:
    machine: Machine
    created: str
    clock: Clock
    target: str
    weights: int  # numbers in the matrices
    past: int  # tokens in the cache
    repeats: int
    block: int
    passes: list[TimedPass]

    @property
    def most(self) -> int:
        return max(each.tokens for each in self.passes)

    def of(self, dtype: str, tokens: int) -> TimedPass:
        """Raises KeyError: it was not measured."""
        return {(each.dtype, each.tokens): each for each in self.passes}[dtype, tokens]


@cache
def pass_shares() -> PassShares:
    """Raises InputError: the file is missing or damaged."""
    return read_stored(FILE, PassShares, "the shares of a pass")
