"""A rule of acceptance as a choice of three pieces: when a guess is accepted, what replaces it, and the bonus.

`algebra.py` has what each piece computes, assets/texts/tables/pieces.yaml what it is called.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

TOP_ACCEPTED = 10  # "top_k": a guess is accepted if it is one of this many most probable tokens
LENIENCE = 0.3  # "lenient": q is multiplied by it before the comparison
# "typical": the limits of Medusa's own code (posterior_threshold and posterior_alpha in medusa/model/medusa_model.py)
TYPICAL_THRESHOLD, TYPICAL_ALPHA = 0.09, 0.3
ENSEMBLE_WEIGHT = 0.5  # "ensemble": of the target; the draft has the rest

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
