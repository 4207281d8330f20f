"""What was accepted, in one definition, from the answers themselves or from a server's counters. Pure.

Of a round, the target's own token (the bonus or the correction) is not counted as accepted. So an answer's first token
is the prompt's, each round adds its accepted tokens and one of the target's own, and each pass without a draft adds
one: written = answers + passes + accepted, but for what the limit of tokens cut off.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal, TypeVar

from specviz.measure.endpoints.result import Accepted, Answer, BenchResult, Span

NOTHING = Accepted(0, 0, 0)  # of an answer without counts beside answers with counts: llama.cpp leaves out zeros
Source = Literal["answers", "counters"]
KEY = TypeVar("KEY", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Tally:
    """The counts of some answers. Tokens, but for `rounds` and `answers`."""

    drafted: int
    accepted: int
    rounds: int | None  # None: not all of them are counted
    per_position: tuple[int, ...]
    written: int | None  # by the server meanwhile; None: it does not say
    answers: int  # that wrote at least one token

    @property
    def rate(self) -> float | None:
        return self.accepted / self.drafted if self.drafted else None

    @property
    def survival(self) -> tuple[float, ...]:
        """The share of rounds that accepted position 1, 2, …"""
        return tuple(count / self.rounds for count in self.per_position) if self.rounds else ()

    @property
    def passes(self) -> int | None:
        """Passes of the target after the prompts', as the written tokens say: at least the rounds."""
        if self.written is None:
            return self.rounds
        return max(self.rounds or 0, self.written - self.answers - self.accepted) or None

    @property
    def tokens_per_call(self) -> float | None:
        """Of a round that checked a draft, the target's own token included; of any pass where only these are known."""
        calls = self.rounds or self.passes
        return 1 + self.accepted / calls if calls else None

    @property
    def cut_off(self) -> int:
        """Counted tokens that were not written: what the limit cut off. Below 0: passes that checked no draft."""
        if self.written is None or self.rounds is None:
            return 0
        return self.rounds + self.accepted - (self.written - self.answers)

    @property
    def agrees(self) -> bool | None:
        """Whether no more tokens were cut off than each answer's last round has; None: it cannot be checked."""
        if self.written is None or not self.rounds:
            return None
        longest = max(len(self.per_position), -(-self.drafted // self.rounds))
        return self.cut_off <= self.answers * longest


@dataclass(frozen=True, slots=True)
class AcceptanceFound:
    source: Source
    whole: Tally
    by_workload: dict[str, Tally]
    by_concurrency: dict[int, Tally]


def find_acceptance(result: BenchResult) -> AcceptanceFound | None:
    """Of the server with speculation; None: nothing says what was accepted."""
    own = [answer for answer in result.done() if answer.side == "with"]
    if any(answer.accepted for answer in own):
        workloads = [prompt.workload for prompt in result.prompts]
        return AcceptanceFound(
            "answers",
            tally_answers(own),
            _grouped(own, lambda answer: workloads[answer.prompt], tally_answers),
            _grouped(own, lambda answer: answer.concurrency, tally_answers),
        )
    spans = [span for span in result.spans if span.side == "with" and span.asked and span.accepted]
    if not spans:
        return None

    def tally(its: list[Span]) -> Tally:
        return _tally_spans(its, result)

    named = [span for span in spans if span.workload]
    return AcceptanceFound(
        "counters",
        tally(spans),
        _grouped(named, lambda span: span.workload, tally),
        _grouped(spans, lambda span: span.concurrency, tally),
    )


ITEM = TypeVar("ITEM", Answer, Span)


def _grouped(items: list[ITEM], key: Callable[[ITEM], KEY], tally: Callable[[list[ITEM]], Tally]) -> dict[KEY, Tally]:
    groups: dict[KEY, list[ITEM]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return {name: tally(its) for name, its in groups.items()}


def tally_answers(answers: list[Answer]) -> Tally:
    known = all(answer.tokens is not None for answer in answers)
    written = sum(answer.tokens or 0 for answer in answers) if known else None
    return _tally([answer.accepted or NOTHING for answer in answers], written, _answering(answers))


def _tally_spans(spans: list[Span], result: BenchResult) -> Tally:
    """`written` is what the server counted, for others too: its counts of speculation are of the same."""
    blocks = {span.block for span in spans}
    answers = [answer for answer in result.answers if answer.side == "with" and answer.block in blocks]
    written = sum(span.ours if span.written is None else span.written for span in spans)
    return _tally([span.accepted for span in spans if span.accepted], written, _answering(answers))


def _answering(answers: Iterable[Answer]) -> int:
    return sum(1 for answer in answers if answer.tokens)


def _tally(counts: list[Accepted], written: int | None, answers: int) -> Tally:
    rounds = [each.rounds for each in counts]
    positions = [each.per_position for each in counts]
    complete = all(each.per_position or not each.accepted for each in counts)
    return Tally(
        sum(each.drafted for each in counts),
        sum(each.accepted for each in counts),
        None if None in rounds else sum(each or 0 for each in rounds),
        tuple(sum(column) for column in zip_longest(*positions, fillvalue=0)) if complete else (),
        written,
        answers,
    )
