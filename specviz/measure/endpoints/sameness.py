"""Whether two servers wrote the same texts, and each the same as itself when it is asked again. Pure.

Above temperature 0 nothing is compared: the texts are two draws each, and one pair of draws tests nothing.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side

# Shorter: the same until one of the two ends. Broken: they differ only where a character was cut in two.
TextMatch = Literal["same", "shorter", "broken", "different"]
BROKEN = "\ufffd"  # stands for half a character, in what a server writes token by token


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """One server's own texts to the same prompt, at any concurrency, each compared with its first."""

    prompts: int = 0  # that it was asked more than once
    unsteady: int = 0  # of these: it wrote different texts


@dataclass(frozen=True, slots=True)
class Sameness:
    pairs: int = 0  # that could be compared
    same: int = 0
    shorter: int = 0  # the same until one of the two ends
    broken: int = 0  # different only where a server cut characters in two: this proves nothing
    by_ids: int = 0  # pairs that were compared by token ids, the others as text
    again: dict[Side, AskedAgain] = field(default_factory=dict)

    @property
    def different(self) -> int:
        return self.pairs - self.same - self.shorter - self.broken

    @property
    def identical(self) -> bool | None:
        """None: only characters that were cut in two tell them apart."""
        return None if self.same < self.same + self.broken == self.pairs else self.same == self.pairs

    @property
    def unsteady(self) -> list[Side]:
        return [side for side, its in self.again.items() if its.unsteady]


def find_sameness(result: BenchResult) -> Sameness | None:
    """None above temperature 0, where no texts are given, and for one server alone."""
    if not result.settings.greedy or result.without is None:
        return None
    both: dict[tuple[int, int, int], dict[Side, Answer]] = defaultdict(dict)
    for answer in result.done():
        both[answer.prompt, answer.repeat, answer.concurrency][answer.side] = answer
    pairs = [
        (its["with"], its["without"]) for _, its in sorted(both.items()) if len(its) == 2 and _known(*its.values())
    ]
    if not pairs:
        return None
    compared = [_agreement(*pair) for pair in pairs]
    return Sameness(
        len(pairs),
        compared.count("same"),
        compared.count("shorter"),
        compared.count("broken"),
        sum(_have_ids(*pair) for pair in pairs),
        {side: _asked_again(answer for answer in result.done() if answer.side == side) for side in SIDES},
    )


def _have_ids(one: Answer, other: Answer) -> bool:
    return bool(one.token_ids and other.token_ids)


def _known(one: Answer, other: Answer) -> bool:
    return _have_ids(one, other) or bool(one.text or other.text)


def _agreement(one: Answer, other: Answer) -> TextMatch:
    if _have_ids(one, other):
        if one.token_ids == other.token_ids:
            return "same"
        until = min(len(one.token_ids), len(other.token_ids))
        return "shorter" if one.token_ids[:until] == other.token_ids[:until] else "different"
    if one.text == other.text:
        return "same"
    if BROKEN in one.text + other.text:
        texts = [[char for char in each.text if char.isascii()] for each in (one, other)]
        return "broken" if texts[0] == texts[1] else "different"
    return "shorter" if one.text.startswith(other.text) or other.text.startswith(one.text) else "different"


def _asked_again(answers: Iterable[Answer]) -> AskedAgain:
    by_prompt: dict[int, list[Answer]] = defaultdict(list)
    for answer in answers:
        by_prompt[answer.prompt].append(answer)
    several = [(first, others) for first, *others in by_prompt.values() if others]
    unsteady = sum(
        any(_known(first, other) and _agreement(first, other) == "different" for other in others)
        for first, others in several
    )
    return AskedAgain(len(several), unsteady)
