"""What each piece of a rule computes, for all tokens at once: so what a rule writes is enumerated, not drawn.

A row is (vocabulary,): p is the target's, q the draft's.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from specviz.measure.proof import rows as proof

Probs = NDArray[np.float64]
TextOf = Callable[[int], str]  # of a token
SHOWN = 6  # tokens
DIGITS = 6


def _times(p: Probs, q: Probs) -> Probs:
    """p / q; 1 where q is 0, as such a token is never guessed."""
    return np.divide(p, q, out=np.ones_like(p), where=q > 0)


def _top(p: Probs, q: Probs) -> Probs:
    chances = np.zeros_like(p)
    chances[np.argpartition(-p, min(proof.TOP_ACCEPTED, len(p)) - 1)[: proof.TOP_ACCEPTED]] = 1.0
    return chances


def _typical(p: Probs, q: Probs) -> Probs:
    """Cai et al. 2024, Medusa, section 3.3.1."""
    entropy = -float(np.sum(p * np.log(p, out=np.zeros_like(p), where=p > 0)))
    return np.asarray(p > min(proof.TYPICAL_THRESHOLD, proof.TYPICAL_ALPHA * np.exp(-entropy)), dtype=np.float64)


ACCEPT: dict[proof.AcceptName, Callable[[Probs, Probs], Probs]] = {
    "ratio": lambda p, q: np.minimum(1.0, _times(p, q)),
    "accepted_when_equal": lambda p, q: p,
    "always_accepted": lambda p, q: np.ones_like(p),
    "all_or_nothing": lambda p, q: (p >= q).astype(float),
    "upside_down": lambda p, q: np.minimum(1.0, _times(q, p)),
    "top_k": _top,
    "lenient": lambda p, q: np.minimum(1.0, _times(p, proof.LENIENCE * q)),  # Leviathan et al. 2023, appendix A.5
    "typical": _typical,
    # verifies against w·p + (1 - w)·q, as `assistant_ensemble_weight` of transformers does (DIVERSE, 2026)
    "ensemble": lambda p, q: np.minimum(1.0, 1 - proof.ENSEMBLE_WEIGHT + proof.ENSEMBLE_WEIGHT * _times(p, q)),
}


def leftover(p: Probs, q: Probs) -> Probs:
    rest = np.maximum(0.0, p - q)
    total = rest.sum()
    return rest / total if total > 0 else p


def most_probable(p: Probs) -> Probs:
    return one_hot(int(p.argmax()), len(p))


def one_hot(token_id: int, vocabulary: int) -> Probs:
    row = np.zeros(vocabulary)
    row[token_id] = 1.0
    return row


def _without_rejected(p: Probs, q: Probs, rejected: Probs) -> Probs:
    """Each rejected token is replaced by a draw from p without it: p(y) / (1 - p(x)), of all x but y."""
    certain = p >= 1.0  # where nothing else is possible, p itself
    each = np.divide(rejected, 1 - p, out=np.zeros_like(p), where=~certain)
    written: Probs = p * (each.sum() - each) + p * rejected[certain].sum()
    return written


# What is written in place of rejected tokens; `rejected` has the probability of each of them.
REPLACE: dict[proof.ReplaceName, Callable[[Probs, Probs, Probs], Probs]] = {
    "leftover": lambda p, q, rejected: rejected.sum() * leftover(p, q),
    "without_rejected": _without_rejected,
    "replaced_from_target": lambda p, q, rejected: rejected.sum() * p,
    "replaced_from_draft": lambda p, q, rejected: rejected.sum() * q,
    "most_probable_instead": lambda p, q, rejected: rejected.sum() * most_probable(leftover(p, q)),
}
# What follows a draft that was accepted whole; p is (guesses + 1, vocabulary). None: nothing.
BONUS: dict[proof.BonusName, Callable[[NDArray[np.float64]], Probs | None]] = {
    "from_target": lambda p: p[-1],
    "most_probable_bonus": lambda p: most_probable(p[-1]),
    "bonus_of_last_row": lambda p: p[-2:][0],
    "bonus_forgotten": lambda p: None,
}


def written_by(pieces: proof.Pieces, p: Probs, q: Probs) -> tuple[float, Probs]:
    """How probable it is that a guess drawn from q is accepted, and how probable each token is in its place."""
    accepted = q * ACCEPT[pieces.accept](p, q)
    return float(accepted.sum()), accepted + REPLACE[pieces.replace](p, q, q - accepted)


def distance(p: Probs, other: Probs) -> float:
    """The total variation distance."""
    return float(np.abs(p - other).sum() / 2)


def to_probs(given: Any) -> Probs:
    """Numbers or a tensor, with sum 1 up to the last digit: models compute with fewer."""
    values = np.asarray(given, dtype=np.float64)
    probs: Probs = values / values.sum(axis=-1, keepdims=True)
    return probs


def enumerated(p: Probs, q: Sequence[Probs], guesses: Sequence[int], label_of: TextOf) -> proof.EnumeratedRules:
    """`p` is (guesses + 1, vocabulary): the target's row at each place, and the one after the last guess."""
    judged, bonus = dict[str, proof.WrittenPlaces](), dict[proof.BonusName, proof.WrittenPlaces]()
    for pieces in proof.judging():
        accepted, written = zip(*(written_by(pieces, *rows) for rows in zip(p, q, strict=False)), strict=True)
        judged[proof.judged_key(pieces)] = _places(p, written, label_of, accepted)
    for name, bonus_of in BONUS.items():
        row = bonus_of(p)
        bonus[name] = _places(p[-1:], [p[-1] if row is None else row], label_of)
    return proof.EnumeratedRules([*map(label_of, guesses)], judged, bonus)


def _places(
    p: Probs, written: Sequence[Probs], label_of: TextOf, accepted: Sequence[float] = ()
) -> proof.WrittenPlaces:
    distances = [distance(own, other) for own, other in zip(p, written, strict=False)]
    worst = int(np.argmax(np.round(distances, DIGITS)))
    own, other = p[worst], written[worst]
    # the largest differences; where there are none, the most probable tokens
    order = np.lexsort((-own, -np.round(np.abs(other - own), DIGITS)))[:SHOWN]
    tokens = [proof.TokenShare(label_of(i), _rounded(own[i]), _rounded(other[i])) for i in order.tolist()]
    return proof.WrittenPlaces([*map(_rounded, distances)], [*map(_rounded, accepted)], tokens)


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
