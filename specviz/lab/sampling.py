"""The exercise with chance: one round's verdict, compared with exact distributions of the right rule and of mistakes.

`judge(drafted, q, p, uniform)` gives how many drafted tokens are accepted, and the target's own token after them. q
has a row for each drafted token, p one more; `uniform()` is a random number from 0 to 1.

A right solution is called wrong with a probability of a few in a billion: chi-squared is not exact so far out. The seed
is fixed, so a file that passed passes again.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random

from specviz.lab.exercise import LabFinding, StudentFunction, describe, outcome
from specviz.lab.formulas import Row, acceptance_chance, leftover
from specviz.measure.proof.algebra import ACCEPT, BONUS, REPLACE, one_hot, to_probs
from specviz.measure.proof.findings import look
from specviz.measure.proof.rows import REAL, Pieces

DRAWS = 10_000
FALSE_ALARM = 1e-9
ROUNDING = 1e-12  # a chance that is 0
RoundOutcome = tuple[int, int | None]  # accepted tokens, and the token after them
Seen = tuple[int | None, ...]  # both drafted tokens, and the outcome
Chances = dict[RoundOutcome, float]
Rule = Callable[[Sequence[int], Sequence[Row], Sequence[Row]], Chances]

Q = ((0.55, 0.25, 0.15, 0.05), (0.10, 0.60, 0.05, 0.25))  # of each drafted token
P = ((0.20, 0.40, 0.10, 0.30), (0.30, 0.30, 0.15, 0.25), (0.05, 0.15, 0.70, 0.10))


@dataclass(frozen=True, slots=True)
class Chain:
    """A rule that judges one guess after the other; the right one, unless a piece of it is another."""

    pieces: Pieces = REAL
    row: int = 0  # that the replacement is drawn from, after the rejected place

    def __call__(self, drafted: Sequence[int], q: Sequence[Row], p: Sequence[Row]) -> Chances:
        found, reached, target = Chances(), 1.0, to_probs(p)
        for i, token in enumerate(drafted):
            of_draft = to_probs(q[i])
            chance = float(ACCEPT[self.pieces.accept](target[i], of_draft)[token])
            rest = REPLACE[self.pieces.replace](target[i + self.row], of_draft, one_hot(token, len(of_draft)))
            _spread(found, i, rest.tolist(), reached * (1 - chance))
            reached *= chance
        bonus = BONUS[self.pieces.bonus](target)
        if bonus is not None:
            _spread(found, len(drafted), bonus.tolist(), reached)
        elif reached > 0:
            found[len(drafted), None] = reached
        return found


def _spread(found: Chances, accepted: int, weights: Sequence[float], share: float) -> None:
    if share > 0:
        for token, weight in enumerate(weights):
            found[accepted, token] = found.get((accepted, token), 0.0) + share * weight


def _one_number(drafted: Sequence[int], q: Sequence[Row], p: Sequence[Row]) -> Chances:
    """One random number is drawn for the whole draft: a place is accepted if all chances until it are above it."""
    found, least = Chances(), 1.0
    for i, token in enumerate(drafted):
        chance = min(least, acceptance_chance(p[i], q[i], token))
        _spread(found, i, leftover(p[i], q[i]), least - chance)
        least = chance
    _spread(found, len(drafted), p[len(drafted)], least)
    return found


def _all_accepted_counted(drafted: Sequence[int], q: Sequence[Row], p: Sequence[Row]) -> Chances:
    """It goes on after a rejection: accepted tokens are counted wherever they stand."""
    found = Chances()
    chances = [acceptance_chance(p[i], q[i], token) for i, token in enumerate(drafted)]
    for kept in product((True, False), repeat=len(drafted)):
        share = 1.0
        for keep, chance in zip(kept, chances, strict=True):
            share *= chance if keep else 1 - chance
        last = max((i for i, keep in enumerate(kept) if not keep), default=None)
        rest = p[len(drafted)] if last is None else leftover(p[last], q[last])
        _spread(found, sum(kept), rest, share)
    return found


RIGHT: Rule = Chain()
WRONG: Mapping[str, Rule] = {
    "replaced_from_target": Chain(Pieces(replace="replaced_from_target")),
    "always_accepted": Chain(Pieces(accept="always_accepted")),
    "bonus_forgotten": Chain(Pieces(bonus="bonus_forgotten")),
    "bonus_of_last_row": Chain(Pieces(bonus="bonus_of_last_row")),
    "replaced_from_next_row": Chain(row=1),
    "most_probable_instead": Chain(Pieces(replace="most_probable_instead")),
    "most_probable_bonus": Chain(Pieces(bonus="most_probable_bonus")),
    "one_number": _one_number,
    "goes_on": _all_accepted_counted,
    "upside_down": Chain(Pieces(accept="upside_down")),
    "accepted_when_equal": Chain(Pieces(accept="accepted_when_equal")),
    "all_or_nothing": Chain(Pieces(accept="all_or_nothing")),
    "replaced_from_draft": Chain(Pieces(replace="replaced_from_draft")),
}


@dataclass(frozen=True)
class SamplingExercise:
    name: str = "judge"
    seed: int = 2211

    def check(self, student: StudentFunction) -> LabFinding:
        counts = Counter[Seen]()
        for drafted, given in _draws(student, self.seed):
            if not (isinstance(given, tuple) and _is_outcome(given, len(drafted))):
                example = describe(self.name, (list(drafted), "q", "p", "uniform"), given, "(accepted, token)")
                return LabFinding(example=example)
            counts[*drafted, *given] += 1
        if _p_value(counts, RIGHT) > FALSE_ALARM:
            return LabFinding(right=True)
        likely = {kind: _p_value(counts, rule) for kind, rule in WRONG.items()}
        best = max(likely, key=likely.__getitem__)
        if likely[best] > FALSE_ALARM:
            return LabFinding(kind=best)
        return LabFinding(example=_furthest(counts))


def _draws(student: StudentFunction, seed: int) -> Iterator[tuple[tuple[int, ...], object]]:
    """Drafted tokens, drawn from q, and what the function makes of them."""
    random = Random(seed)
    for _ in range(DRAWS):
        drafted = tuple(random.choices(range(len(row)), row)[0] for row in Q)
        given = outcome(student, (drafted, Q, P, random.random))
        yield drafted, tuple(given) if isinstance(given, list | tuple) else given


def _is_outcome(given: tuple[object, ...], drafted: int) -> bool:
    if len(given) != len(("accepted", "token")):
        return False
    accepted, token = given
    return isinstance(accepted, int) and 0 <= accepted <= drafted and (token is None or isinstance(token, int))


def _p_value(counts: Mapping[Seen, int], rule: Rule) -> float:
    """Chi-squared over every drafted pair, count and token; 0 where something was seen that the rule never does."""
    means = {
        (*draft, *last): DRAWS * prod(row[token] for token, row in zip(draft, Q, strict=True)) * chance
        for draft in product(*(range(len(row)) for row in Q))
        for last, chance in rule(draft, Q, P).items()
        if chance > ROUNDING
    }
    if any(seen not in means for seen in counts):
        return 0.0
    return look([counts.get(each, 0) for each in means], list(means.values())).p_value


def _furthest(counts: Mapping[Seen, int]) -> str:
    """The first written token whose share is furthest from the target's."""
    written = Counter[int | None]()
    for (first, _, accepted, token), times in counts.items():
        written[first if accepted else token] += times
    shares = {token: written[token] / DRAWS for token in range(len(P[0]))}
    token = max(shares, key=lambda each: abs(shares[each] - P[0][each]))
    return f"token {token} is written first in {shares[token]:.1%} of the draws, and p says {P[0][token]:.1%}"
