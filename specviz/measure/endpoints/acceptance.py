"""What was accepted, in one definition, from the answers themselves or from a server's counters. Pure.

Of a round, the target's own token (the bonus or the correction) is not counted as accepted. So an answer's first token
is the prompt's, each round adds its accepted tokens and one of the target's own, and each pass without a draft adds
one: written = answers + passes + accepted, but for what the limit of tokens cut off.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, Self

from specviz.measure.endpoints.result import Accepted, Answer, BenchResult
from specviz.systems.counts import add_up

NOTHING = Accepted(0, 0, 0)  # of an answer without counts beside answers with counts: llama.cpp leaves out zeros
Counted = tuple[Accepted, int | None, int]  # with the tokens written meanwhile, in so many answers


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of some answers. Tokens, but for `rounds` and `answers`."""

    drafted: int = 0
    accepted: int = 0
    rounds: int | None = None  # None: not all of them are counted
    per_position: tuple[int, ...] = ()
    written: int | None = None  # by the server meanwhile; None: it does not say
    answers: int = 0  # that wrote at least one token

    @classmethod
    def of(cls, counted: Iterable[Counted]) -> Self:
        every = list(counted)
        counts = [each for each, _, _ in every]
        columns = zip_longest(*(each.per_position for each in counts), fillvalue=0)
        return cls(
            sum(each.drafted for each in counts),
            sum(each.accepted for each in counts),
            add_up(each.rounds for each in counts),
            tuple(map(sum, columns)) if all(each.per_position or not each.accepted for each in counts) else (),
            add_up(written for _, written, _ in every),
            sum(answers for _, _, answers in every),
        )

    @property
    def rate(self) -> float | None:
        return self.accepted / self.drafted if self.drafted else None

    @property
    def survival(self) -> tuple[float, ...]:
        """The share of rounds that accepted position 1, 2, …"""
        return tuple(count / self.rounds for count in self.per_position) if self.rounds else ()

    @property
    def tokens_per_call(self) -> float | None:
        """Of a round that checked a draft, the target's own token included; of any pass where only these are known."""
        passes = self.rounds or ((self.written or 0) - self.answers - self.accepted)
        return 1 + self.accepted / passes if passes > 0 else None


def count_answer(answer: Answer) -> Counted:
    return answer.accepted or NOTHING, answer.tokens, int(bool(answer.tokens))


def reasoning_share(answers: Iterable[Answer]) -> float | None:
    """What share of these answers is reasoning: of tokens, else of characters. None: the server tells none apart."""
    sizes = [(each.tokens or len(each.text), each.reasoning) for each in answers if not each.problem]
    thought = sum(size * share for size, share in sizes)
    return thought / sum(size for size, _ in sizes) if thought else None


@dataclass(frozen=True, slots=True)
class AcceptanceFound:
    source: Literal["answers", "counters"]
    whole: Tally
    by_load: dict[float, Tally]


def find_acceptance(result: BenchResult) -> AcceptanceFound | None:
    """Of the server with speculation; None: nothing says what was accepted."""
    own = [answer for answer in result.done() if answer.side == "with"]
    by_load, in_answers = defaultdict[float, list[Counted]](list), any(answer.accepted for answer in own)
    for answer in own if in_answers else ():
        by_load[answer.load].append(count_answer(answer))
    answering = Counter(answer.block for answer in own if answer.tokens)
    for span in () if in_answers else result.spans:  # what it counted for others too: its speculation is the same
        if span.side == "with" and span.asked and span.accepted:
            by_load[span.load].append((span.accepted, span.counted, answering[span.block]))
    if not by_load:
        return None
    whole = Tally.of(counted for its in by_load.values() for counted in its)
    tallies = {load: Tally.of(its) for load, its in by_load.items()}
    return AcceptanceFound("answers" if in_answers else "counters", whole, tallies)
