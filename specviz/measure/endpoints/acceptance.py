"""What was accepted, in one definition, from the answers themselves or from a server's counters. Pure.

Of a round, the target's own token (the bonus or the correction) is not counted as accepted. So an answer's first token
is the prompt's, each round adds its accepted tokens and one of the target's own, and each pass without a draft adds
one: written = answers + passes + accepted, but for what the limit of tokens cut off.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from specviz.measure.endpoints.result import Accepted, Answer, BenchResult

NOTHING = Accepted(0, 0, 0)  # of an answer without counts beside answers with counts: llama.cpp leaves out zeros
Source = Literal["answers", "counters"]


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of some answers. Tokens, but for `rounds` and `answers`."""

    drafted: int = 0
    accepted: int = 0
    rounds: int | None = None  # None: not all of them are counted
    per_position: tuple[int, ...] = ()
    written: int | None = None  # by the server meanwhile; None: it does not say
    answers: int = 0  # that wrote at least one token

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


@dataclass(frozen=True, slots=True)
class AcceptanceFound:
    source: Source
    whole: Tally
    by_workload: dict[str, Tally]
    by_load: dict[float, Tally]


def find_acceptance(result: BenchResult) -> AcceptanceFound | None:
    """Of the server with speculation; None: nothing says what was accepted."""
    own = [answer for answer in result.done() if answer.side == "with"]
    spans = [span for span in result.spans if span.side == "with" and span.asked]
    source: Source = "answers" if any(answer.accepted for answer in own) else "counters"
    found = [(result.prompts[each.prompt].workload, each.load, _tally_answer(each)) for each in own]
    if source == "counters":  # what the server counted, for others too: its counts of speculation are of the same
        answering = Counter(answer.block for answer in own if answer.tokens)
        found = [
            (span.workload, span.load, _tally(span.accepted, span.counted, answering[span.block]))
            for span in spans
            if span.accepted
        ]
    if not found:
        return None
    by_workload, by_load = defaultdict[str, list[Tally]](list), defaultdict[float, list[Tally]](list)
    for workload, load, tally in found:
        by_load[load].append(tally)
        if workload:
            by_workload[workload].append(tally)
    return AcceptanceFound(
        source,
        _add(tally for _, _, tally in found),
        {name: _add(its) for name, its in by_workload.items()},
        {load: _add(its) for load, its in by_load.items()},
    )


def tally_answers(answers: Iterable[Answer]) -> Tally:
    return _add(map(_tally_answer, answers))


def _tally_answer(answer: Answer) -> Tally:
    return _tally(answer.accepted or NOTHING, answer.tokens, int(bool(answer.tokens)))


def _tally(counts: Accepted, written: int | None, answers: int) -> Tally:
    return Tally(counts.drafted, counts.accepted, counts.rounds, tuple(counts.per_position), written, answers)


def _add(tallies: Iterable[Tally]) -> Tally:
    every = list(tallies)
    complete = all(each.per_position or not each.accepted for each in every)
    positions = [sum(column) for column in zip_longest(*(each.per_position for each in every), fillvalue=0)]
    return Tally(
        sum(each.drafted for each in every),
        sum(each.accepted for each in every),
        _add_known([each.rounds for each in every]),
        tuple(positions) if complete else (),
        _add_known([each.written for each in every]),
        sum(each.answers for each in every),
    )


def _add_known(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
