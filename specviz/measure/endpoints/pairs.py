"""The answers of two servers to the same prompts, paired, and how long each took for as many tokens. Pure.

A ratio is always that of the server without speculation over that with it: above 1, speculation is faster.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import geometric_mean
from typing import Literal, Self

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import UNTOLD, Interval, Judgement, judge
from specviz.core.numbers import times
from specviz.core.texts import join_choices
from specviz.data.texts import page_texts
from specviz.measure.endpoints.result import Answer, BenchResult, Side

FEWEST_TOKENS = 8  # of an answer: a few tokens are one or two rounds, so they time the network
FEWEST_RATIOS = 3  # the interval of two is so wide that it says nothing
SHORTEST = 1e-7  # seconds: no clock here tells less
Cut = Literal["", "counted", "estimated", "not cut", "no count"]


@dataclass(frozen=True, slots=True)
class Gain:
    """A ratio of two servers: the geometric mean over prompts (or blocks), and its 95 % interval over them."""

    value: float
    interval: Interval | None  # None: too few
    ratios: tuple[float, ...]  # of each
    trusted: bool = True  # else nothing is said of it

    @classmethod
    def from_ratios(cls, ratios: Iterable[float], *, trusted: bool = True) -> Self | None:
        every = tuple(ratios)
        if not every:
            return None
        interval = interval_of_ratios(every) if len(every) >= FEWEST_RATIOS else None
        return cls(geometric_mean(every), interval, every, trusted)

    @property
    def judged(self) -> Judgement:
        return judge(self.value, self.interval) if self.trusted else Judgement(UNTOLD, self.value, "interval")

    @property
    def said(self) -> str:
        """ "1.41× (95 % interval 1.20 to 1.66)", "1.41× (1.20× and 1.66×)" of two, or "1.41×" of one."""
        if self.interval is None:
            each = join_choices([times(ratio) for ratio in self.ratios], "and")
            return f"{times(self.value)} ({each})" if len(self.ratios) > 1 else each
        low, high = self.interval
        return page_texts("servers")["gain_between"].format(value=self.value, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer up to a number of tokens. Seconds from its request; `first` and `last` are of parts with text."""

    tokens: float
    first: float
    last: float
    opening: float = 1.0  # tokens of the first part: the time until it says nothing of a token's

    @property
    def later(self) -> float:
        return self.tokens - self.opening

    @property
    def token_seconds(self) -> float:
        return (self.last - self.first) / self.later

    @property
    def usable(self) -> bool:
        return self.tokens >= FEWEST_TOKENS and self.later > 0 and self.token_seconds > SHORTEST


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers to one prompt, the same repeat at the same concurrency, up to as many tokens."""

    with_: Answer
    without: Answer
    timed: dict[Side, Timed]
    cut: Cut  # how the longer one was cut; empty: they have as many tokens; "no count": they have the same text

    @property
    def concurrency(self) -> int:
        return self.with_.concurrency

    @property
    def ratio(self) -> float:
        return self.timed["without"].token_seconds / self.timed["with"].token_seconds

    def answer(self, side: Side) -> Answer:
        return self.with_ if side == "with" else self.without

    @property
    def parts_counted(self) -> bool:
        """Whether it is known how many tokens came with each part of both answers."""
        return all(len(each.part_tokens) == len(each.part_seconds) > 0 for each in (self.with_, self.without))


@dataclass(frozen=True, slots=True)
class Paired:
    pairs: list[AnswerPair]
    short: int  # pairs that are left out: fewer tokens than `FEWEST_TOKENS`, or no time between them
    uncounted: int  # pairs of two texts that are left out: a server does not say how many tokens it wrote
    single: int  # answers without a partner


def pair_answers(result: BenchResult) -> Paired:
    found: dict[tuple[int, int, int], dict[Side, Answer]] = defaultdict(dict)
    for answer in result.done():
        found[answer.concurrency, answer.prompt, answer.repeat][answer.side] = answer
    both = [(its["with"], its["without"]) for _, its in sorted(found.items()) if len(its) == 2]
    pairs, short, uncounted = list[AnswerPair](), 0, 0
    for ours, plain in both:
        if not (ours.tokens and plain.tokens) and not (ours.text == plain.text != ""):
            uncounted += 1
        elif pair := _pair(ours, plain):
            pairs.append(pair)
        else:
            short += 1
    return Paired(pairs, short, uncounted, len(found) - len(both) if result.without else 0)


def _pair(ours: Answer, plain: Answer) -> AnswerPair | None:
    """The two of them; None: too short to be timed. The ratio of equal texts needs no count."""
    if not (ours.tokens and plain.tokens):
        written = float(ours.tokens or plain.tokens or len(plain.part_seconds))
        both = {each.side: Timed(written, each.first or 0.0, each.seconds) for each in (ours, plain)}
        return AnswerPair(ours, plain, both, "no count") if all(each.usable for each in both.values()) else None
    shorter = min(ours.tokens, plain.tokens)
    timed = {answer.side: timed_until(answer, shorter) for answer in (ours, plain)}
    if not all(each.usable for each, _ in timed.values()):
        return None
    cuts = {cut for _, cut in timed.values()}
    cut = next(kind for kind in ("not cut", "estimated", "counted", "") if kind in cuts)
    return AnswerPair(ours, plain, {side: each for side, (each, _) in timed.items()}, cut)


def timed_until(answer: Answer, tokens: int) -> tuple[Timed, Cut]:
    """The answer up to the part that reaches so many tokens: a part may hold several, so it may reach a few more.

    Without counted parts each is taken to hold as many tokens. Without parts the answer is not cut: its rate is that
    of all its tokens.
    """
    written, parts = answer.tokens or 0, len(answer.part_seconds)
    first, counted = answer.first or 0.0, 0 < parts == len(answer.part_tokens)
    opening = float(answer.part_tokens[0]) if counted else 1.0
    if tokens >= written or not parts:
        return Timed(written, first, answer.seconds, opening), "" if tokens >= written else "not cut"
    reached = list(accumulate(answer.part_tokens)) if counted else [written * (at + 1) / parts for at in range(parts)]
    until, its = next(((at, its) for at, its in enumerate(reached) if its >= tokens), (parts - 1, reached[-1]))
    return Timed(its, first, answer.part_seconds[until], opening), "counted" if counted else "estimated"


@dataclass(frozen=True, slots=True)
class PairGroup:
    """Pairs of one prompt, or of one block, at one concurrency: their ratio is that of all their times together.

    So an answer that a busy server held back, and sent all at once, weighs no more than another.
    """

    number: int  # of the prompt, or of the block
    concurrency: int
    pairs: list[AnswerPair]

    @property
    def ratio(self) -> float:
        return self.token_seconds("without") / self.token_seconds("with")

    @property
    def gain(self) -> Gain:
        """With the interval over its pairs: it says how steady this prompt's times are, and nothing of others."""
        ratios = [pair.ratio for pair in self.pairs]
        interval = interval_of_ratios(ratios) if len(ratios) >= FEWEST_RATIOS else None
        return Gain(self.ratio, interval, tuple(ratios))

    @property
    def first_ratio(self) -> float | None:
        return self._ratio_of([(pair.timed["without"].first, pair.timed["with"].first) for pair in self.pairs])

    @property
    def latency_ratio(self) -> float | None:
        """Of whole answers that have as many tokens, or can be cut."""
        whole = [pair.timed for pair in self.pairs if pair.cut != "not cut"]
        return self._ratio_of([(timed["without"].last, timed["with"].last) for timed in whole])

    def _ratio_of(self, seconds: Sequence[tuple[float, float]]) -> float | None:
        timed = [each for each in seconds if min(each) > SHORTEST]
        return sum(plain for plain, _ in timed) / sum(ours for _, ours in timed) if timed else None

    def token_seconds(self, side: Side) -> float:
        timed = [pair.timed[side] for pair in self.pairs]
        return sum(each.last - each.first for each in timed) / sum(each.later for each in timed)


def group_pairs(pairs: Iterable[AnswerPair], number: Callable[[AnswerPair], int]) -> list[PairGroup]:
    """At each concurrency, from the lowest, in the order of the numbers."""
    groups: dict[tuple[int, int], list[AnswerPair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.concurrency, number(pair)].append(pair)
    return [PairGroup(place, load, its) for (load, place), its in sorted(groups.items())]


def group_by_prompt(pairs: Iterable[AnswerPair]) -> list[PairGroup]:
    return group_pairs(pairs, lambda pair: pair.with_.prompt)


@dataclass(frozen=True, slots=True)
class ServedBlock:
    """Answers that one side was asked for together. A failed one is in `asked`, and its tokens are not counted."""

    side: Side
    began: float
    ended: float
    tokens: int
    asked: frozenset[tuple[int, int]]  # prompt and repeat
    complete: bool  # whether none failed, and each says how many tokens it wrote

    @property
    def rate(self) -> float:
        """Tokens a second of all its requests together."""
        return self.tokens / (self.ended - self.began)


def blocks_of(answers: Iterable[Answer], concurrency: int) -> list[ServedBlock]:
    """The blocks of one concurrency in the order in which they ran."""
    groups: dict[tuple[Side, int], list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.concurrency == concurrency:
            groups[answer.side, answer.block].append(answer)
    blocks = [
        ServedBlock(
            side,
            min(answer.began for answer in its),
            max(answer.began + answer.seconds for answer in its),
            sum(answer.tokens or 0 for answer in its),
            frozenset((answer.prompt, answer.repeat) for answer in its),
            all(answer.tokens and not answer.problem for answer in its),
        )
        for (side, _), its in groups.items()
    ]
    return sorted(blocks, key=lambda block: block.began)


def usable_blocks(blocks: Iterable[ServedBlock]) -> list[ServedBlock]:
    return [block for block in blocks if block.complete and block.ended - block.began > SHORTEST]


def throughput_ratios(blocks: Sequence[ServedBlock]) -> list[float]:
    """Tokens a second with speculation over those without, of neighbours in time that were asked the same."""
    ratios, waiting = list[float](), None
    for block in usable_blocks(blocks):
        if waiting and waiting.side != block.side and waiting.asked == block.asked:
            ours, plain = (waiting, block) if waiting.side == "with" else (block, waiting)
            ratios.append(ours.rate / plain.rate)
            waiting = None
        else:
            waiting = block
    return ratios
