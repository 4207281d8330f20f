"""Whether two servers wrote the same texts, and each the same as itself when it is asked again. Pure.

Above temperature 0 nothing is compared: the texts are two draws each, and one pair of draws tests nothing.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from specviz.measure.endpoints.pairs import answered_by_both
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side

# Shorter: the same until one of the two ends. Broken: they differ only where a character was cut in two.
TextMatch = Literal["same", "shorter", "broken", "different"]
BROKEN = "\ufffd"  # stands for half a character, in what a server writes token by token


@dataclass(frozen=True, slots=True)
class Sameness:
    pairs: int  # that could be compared
    same: int
    different: int
    broken: int  # different only where a server cut characters in two: this proves nothing
    unsteady: list[Side]  # those that write another text when they are asked again

    @property
    def identical(self) -> bool | None:
        """None: only characters that were cut in two tell them apart."""
        return None if self.same < self.same + self.broken == self.pairs else self.same == self.pairs


def find_sameness(result: BenchResult) -> Sameness | None:
    """None above temperature 0, where no texts are given, and for one server alone."""
    both, _ = answered_by_both(result.answers)
    pairs = [(its["with"], its["without"]) for its in both if _known(*its.values())]
    if not pairs or not result.settings.greedy:
        return None
    found = Counter(_compare(*pair) for pair in pairs)
    unsteady = [side for side in SIDES if _is_unsteady(result, side)]
    return Sameness(len(pairs), found["same"], found["different"], found["broken"], unsteady)


def _is_unsteady(result: BenchResult, side: Side) -> bool:
    """Whether one of its texts to a prompt, at any concurrency, differs from its first."""
    first: dict[int, Answer] = {}
    own = [answer for answer in result.done() if answer.side == side]
    again = [(first.setdefault(answer.prompt, answer), answer) for answer in own]
    return any(_known(*pair) and _compare(*pair) == "different" for pair in again)


def _have_ids(one: Answer, other: Answer) -> bool:
    return bool(one.token_ids and other.token_ids)


def _known(one: Answer, other: Answer) -> bool:
    return _have_ids(one, other) or bool(one.text or other.text)


def _compare(one: Answer, other: Answer) -> TextMatch:
    if _have_ids(one, other):
        until = min(len(one.token_ids), len(other.token_ids))
        equal, begin = one.token_ids == other.token_ids, one.token_ids[:until] == other.token_ids[:until]
        return "same" if equal else "shorter" if begin else "different"
    if one.text == other.text:
        return "same"
    if BROKEN in one.text + other.text:
        texts = [[char for char in each.text if char.isascii()] for each in (one, other)]
        return "broken" if texts[0] == texts[1] else "different"
    return "shorter" if one.text.startswith(other.text) or other.text.startswith(one.text) else "different"
