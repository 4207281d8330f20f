"""What the recorded proof counted of each acceptance rule: how much it accepts, and how far it is from the target."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from specviz.core.files import ASSETS

PROOF = ASSETS / "traces" / "proof.json"


@dataclass(frozen=True, slots=True)
class Batch:
    """Draws of one token: how often each class of tokens was written, and how often the target alone would."""

    speculative: list[int]
    expected: list[float]
    proposed: int  # runs whose first round drafted something
    accepted: int  # of these, runs whose first guess was accepted


@dataclass(frozen=True, slots=True)
class Draws:
    rule: str
    batches: list[Batch]


@dataclass(frozen=True, slots=True)
class Counts:
    draws: int
    accepted: float  # share of the first guesses
    distance: float  # total variation from the target: the share of tokens that would have to be others


@dataclass(frozen=True, slots=True)
class RecordedRules:
    machine: str
    draws: list[Draws]

    def counts(self, rule: str) -> Counts:
        batches = next(each.batches for each in self.draws if each.rule == rule)
        written, wanted = _added([b.speculative for b in batches]), _added([b.expected for b in batches])
        draws = sum(written)
        apart = sum(abs(a - b) for a, b in zip(written, wanted, strict=True)) / 2
        accepted = sum(b.accepted for b in batches) / sum(b.proposed for b in batches)
        return Counts(int(draws), accepted, apart / draws)


def _added(rows: Sequence[Sequence[float]]) -> list[float]:
    return [sum(column) for column in zip(*rows, strict=True)]


@cache
def recorded_rules() -> RecordedRules:
    return TypeAdapter(RecordedRules).validate_json(PROOF.read_bytes())
