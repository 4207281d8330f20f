"""Every rule of pieces along one draft, place by place, from the probabilities of both models."""

from collections.abc import Callable, Sequence

import numpy as np

from specviz.measure.proof.algebra import BONUS, Probs, distance, written_by
from specviz.measure.proof.pieces import Pieces, judging
from specviz.measure.proof.rows import EnumeratedRules, TokenShare, WrittenPlaces, judged_key

SHOWN = 6  # tokens
DIGITS = 6
TextOf = Callable[[int], str]  # of a token


def enumerated(p: Probs, q: Sequence[Probs], guesses: Sequence[int], label_of: TextOf) -> EnumeratedRules:
    """`p` is (guesses + 1, vocabulary): the target's row at each place, and the one after the last guess."""
    judged = {judged_key(pieces): _judged(pieces, p, q, label_of) for pieces in judging()}
    bonus_rows = {name: bonus_of(p) for name, bonus_of in BONUS.items()}
    last = p[-1]
    bonus = {name: _places(p[-1:], [last if row is None else row], label_of) for name, row in bonus_rows.items()}
    return EnumeratedRules([label_of(token_id) for token_id in guesses], judged, bonus)


def _judged(pieces: Pieces, p: Probs, q: Sequence[Probs], label_of: TextOf) -> WrittenPlaces:
    accepted, written = zip(*(written_by(pieces, *rows) for rows in zip(p, q, strict=False)), strict=True)
    return _places(p, written, label_of, accepted)


def _places(p: Probs, written: Sequence[Probs], label_of: TextOf, accepted: Sequence[float] = ()) -> WrittenPlaces:
    distances = [distance(own, other) for own, other in zip(p, written, strict=False)]
    worst = int(np.argmax(np.round(distances, DIGITS)))
    own, other = p[worst], written[worst]
    # the largest differences; where there are none, the most probable tokens
    order = np.lexsort((-own, -np.round(np.abs(other - own), DIGITS)))[:SHOWN]
    tokens = [TokenShare(label_of(i), _rounded(own[i]), _rounded(other[i])) for i in order.tolist()]
    return WrittenPlaces([*map(_rounded, distances)], [*map(_rounded, accepted)], tokens)


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
