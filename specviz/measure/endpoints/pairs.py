"""The answers of two servers to the same prompts, paired, and how long each took for as many tokens. Pure.

A ratio is always that of the server without speculation over that with it: above 1, speculation is faster.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import geometric_mean, median
from typing import Literal, Self

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import Interval, Judgement, judge
from specviz.core.numbers import times
from specviz.data.texts import page_texts
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side

FEWEST_TOKENS = 8  # of an answer: a few tokens are one or two rounds, so they time the network
FEWEST_REPEATS = 3  # of a prompt: the interval of two is so wide that it says nothing
LUMP = 0.2  # of the median time of a token: a server that is busy may hold an answer back, and send it all at once
SHORTEST = 1e-7  # seconds: no clock here tells less
Cut = Literal["", "counted", "estimated", "not cut"]


@dataclass(frozen=True, slots=True)
class Gain:
    """A ratio of two servers: the geometric mean over prompts (or blocks), and its 95 % interval over them."""

    value: float
    interval: Interval | None  # None: one prompt
    of: int  # how many

    @classmethod
    def from_ratios(cls, ratios: Sequence[float]) -> Self | None:
        if not ratios:
            return None
        return cls(geometric_mean(ratios), interval_of_ratios(ratios) if len(ratios) > 1 else None, len(ratios))

    @property
    def judged(self) -> Judgement:
        return judge(self.value, self.interval)

    @property
    def said(self) -> str:
        """ "1.41× (95 % interval 1.20 to 1.66)", or "1.41×" of one prompt."""
        if self.interval is None:
            return times(self.value)
        low, high = self.interval
        return page_texts("servers")["gain_between"].format(value=self.value, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Timed:
    """One answer up to a number of tokens. Seconds from its request; `first` and `last` are of parts with text."""

    tokens: float
    first: float
    last: float

    @property
    def token_seconds(self) -> float:
        return (self.last - self.first) / (self.tokens - 1)

    @property
    def usable(self) -> bool:
        return self.tokens >= FEWEST_TOKENS and self.token_seconds > SHORTEST


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers to one prompt, the same repeat at the same concurrency, up to as many tokens."""

    with_: Answer
    without: Answer
    timed: dict[Side, Timed]
    cut: Cut  # how the longer one was cut; empty: they have as many tokens

    @property
    def ratio(self) -> float:
        return self.timed["without"].token_seconds / self.timed["with"].token_seconds

    @property
    def first_ratio(self) -> float | None:
        ours, plain = self.timed["with"].first, self.timed["without"].first
        return plain / ours if min(ours, plain) > SHORTEST else None

    @property
    def latency_ratio(self) -> float | None:
        """Of the whole answers; None where they have not as many tokens and cannot be cut."""
        return None if self.cut == "not cut" else self.timed["without"].last / self.timed["with"].last


@dataclass(frozen=True, slots=True)
class Paired:
    pairs: list[AnswerPair]
    short: int  # pairs that are left out: fewer tokens than `FEWEST_TOKENS`, or no time between them
    uncounted: int  # pairs that are left out: a server does not say how many tokens it wrote
    single: int  # answers without a partner
    lumps: int = 0  # pairs that are left out: one of the answers came all at once


def pair_answers(result: BenchResult) -> Paired:
    found: dict[tuple[int, int, int], dict[Side, Answer]] = defaultdict(dict)
    for answer in result.done():
        found[answer.concurrency, answer.prompt, answer.repeat][answer.side] = answer
    both = [(its["with"], its["without"]) for _, its in sorted(found.items()) if len(its) == 2]
    pairs, short, uncounted = list[AnswerPair](), 0, 0
    for ours, plain in both:
        if not ours.tokens or not plain.tokens:
            uncounted += 1
        elif pair := _pair(ours, plain):
            pairs.append(pair)
        else:
            short += 1
    steady = _drop_lumps(pairs)
    return Paired(steady, short, uncounted, len(found) - len(both) if result.without else 0, len(pairs) - len(steady))


def _drop_lumps(pairs: Sequence[AnswerPair]) -> list[AnswerPair]:
    """The pairs whose answers came token by token, or round by round: only such times say how long a token takes."""
    times: dict[tuple[Side, int], list[float]] = defaultdict(list)
    for pair in pairs:
        for side in SIDES:
            times[side, pair.with_.concurrency].append(pair.timed[side].token_seconds)
    least = {place: LUMP * median(its) for place, its in times.items()}
    return [
        pair
        for pair in pairs
        if all(pair.timed[side].token_seconds >= least[side, pair.with_.concurrency] for side in SIDES)
    ]


def _pair(ours: Answer, plain: Answer) -> AnswerPair | None:
    shorter = min(ours.tokens or 0, plain.tokens or 0)
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
    first = answer.first or 0.0
    if tokens >= written or not parts:
        return Timed(written, first, answer.seconds), "" if tokens >= written else "not cut"
    counted = len(answer.part_tokens) == parts
    reached = list(accumulate(answer.part_tokens)) if counted else [written * (at + 1) / parts for at in range(parts)]
    until, its = next(((at, its) for at, its in enumerate(reached) if its >= tokens), (parts - 1, reached[-1]))
    return Timed(its, first, answer.part_seconds[until]), "counted" if counted else "estimated"


@dataclass(frozen=True, slots=True)
class PromptGain:
    """One prompt at one concurrency: geometric means over its repeats."""

    prompt: int
    concurrency: int
    pairs: list[AnswerPair]

    @property
    def ratio(self) -> float:
        return geometric_mean([pair.ratio for pair in self.pairs])

    @property
    def gain(self) -> Gain:
        """With the interval over its repeats: it says how steady this prompt's times are, and nothing of others."""
        ratios = [pair.ratio for pair in self.pairs]
        return Gain(self.ratio, interval_of_ratios(ratios) if len(ratios) >= FEWEST_REPEATS else None, len(ratios))

    @property
    def first_ratio(self) -> float | None:
        return _mean(pair.first_ratio for pair in self.pairs)

    @property
    def latency_ratio(self) -> float | None:
        return _mean(pair.latency_ratio for pair in self.pairs)

    def token_seconds(self, side: Side) -> float:
        return geometric_mean([pair.timed[side].token_seconds for pair in self.pairs])


def _mean(ratios: Iterable[float | None]) -> float | None:
    known = [ratio for ratio in ratios if ratio is not None]
    return geometric_mean(known) if known else None


def gains_by_prompt(pairs: Sequence[AnswerPair]) -> list[PromptGain]:
    """In the order of the prompts, at each concurrency, from the lowest."""
    groups: dict[tuple[int, int], list[AnswerPair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.with_.concurrency, pair.with_.prompt].append(pair)
    return [PromptGain(prompt, load, its) for (load, prompt), its in sorted(groups.items())]


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
