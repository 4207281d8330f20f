"""The answers of two servers to the same prompts, paired: how long each took, and what it wrote. Pure.

A ratio is always that of the server without speculation over that with it: above 1, speculation is faster.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import geometric_mean
from typing import Literal, NamedTuple, Self

from specviz.core.intervals import interval_of_ratios
from specviz.core.judge import UNTOLD, Interval, Judgement, judge
from specviz.core.numbers import times
from specviz.core.texts import join_choices
from specviz.measure.endpoints.result import SIDES, Answer, BenchResult, Side

FEWEST_TOKENS = 8  # of an answer: a few tokens are one or two rounds, so they time the network
FEWEST_RATIOS = 3  # the interval of two is so wide that it says nothing
WIDEST = 100  # times its low end: an interval that says nothing
SHORTEST = 1e-7  # seconds: no clock here tells less
Cut = Literal["", "not_cut", "no_count"]
Both = dict[Side, Answer]
# Shorter: the same until one of the two ends. Broken: they differ only where a character was cut in two.
TextMatch = Literal["same", "shorter", "broken", "different"]
BROKEN = "\ufffd"  # stands for half a character, in what a server writes token by token


@dataclass(frozen=True, slots=True)
class Gain:
    """A ratio of two servers: the geometric mean over prompts (or blocks), and its 95 % interval over them."""

    value: float
    interval: Interval | None  # None: too few
    ratios: tuple[float, ...]  # of each
    trusted: bool = True  # else no word is said of it

    @classmethod
    def from_ratios(cls, ratios: Iterable[float | None], *, trusted: bool = True) -> Self | None:
        """Of a sample: what has no interval says nothing of other prompts, so it has no word either."""
        every = tuple(ratio for ratio in ratios if ratio)
        if not every:
            return None
        interval = interval_of_ratios(every) if len(every) >= FEWEST_RATIOS else None
        if interval and interval[1] > WIDEST * interval[0]:
            interval = None
        return cls(geometric_mean(every), interval, every, trusted and interval is not None)

    @property
    def judged(self) -> Judgement:
        if self.trusted:
            return judge(self.value, self.interval)
        return Judgement(UNTOLD, self.value, "interval", trusted=self.interval is None)

    @property
    def shown(self) -> str:
        """ "1.41× (1.20–1.66)", "1.41× (1.20× and 1.66×)" of two, or "1.41×"."""
        two = f" ({join_choices([*map(times, self.ratios)], 'and')})" if len(self.ratios) == 2 else ""
        return times(self.value, self.interval) + two


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
        return self.later >= FEWEST_TOKENS - 1 and self.token_seconds > SHORTEST


def timed_until(answer: Answer, tokens: float = math.inf) -> Timed:
    """The answer up to the part that reaches so many tokens: a part may hold several, so it may reach a few more.

    Without counted parts each is taken to hold as many tokens. Without parts the answer is not cut: its rate is that
    of all its tokens.
    """
    written, parts = answer.tokens or 0, len(answer.part_seconds)
    first, counted = answer.first or 0.0, 0 < parts == len(answer.part_tokens)
    opening = float(answer.part_tokens[0]) if counted else 1.0
    if tokens >= written or not parts:
        return Timed(written, first, answer.seconds, opening)
    reached = list(accumulate(answer.part_tokens)) if counted else [written * (at + 1) / parts for at in range(parts)]
    until = next((at for at, its in enumerate(reached) if its >= tokens), parts - 1)
    return Timed(reached[until], first, answer.part_seconds[until], opening)


def time_whole(answers: Iterable[Answer]) -> list[Timed]:
    """Those that are long enough to be timed, each over all its tokens."""
    return [each for each in map(timed_until, answers) if each.usable]


@dataclass(frozen=True, slots=True)
class Within:
    """What an answer must keep: seconds until its first token, seconds of each later one. None: any."""

    ttft: float | None
    tpot: float | None

    @property
    def said(self) -> str:
        known = (("ttft", self.ttft), ("tpot", self.tpot))
        return join_choices([f"{name} {1000 * limit:g} ms" for name, limit in known if limit is not None], "and")

    def share(self, answers: Sequence[Answer]) -> float:
        """Of the answers; one that failed is not within. An answer too short to be timed has no time of a token."""
        return sum(map(self._holds, answers)) / len(answers) if answers else 0.0

    def _holds(self, answer: Answer) -> bool:
        first, timed = answer.first, timed_until(answer)
        if answer.problem or first is None:
            return False
        in_time = self.ttft is None or first <= self.ttft
        return in_time and (self.tpot is None or not timed.usable or timed.token_seconds <= self.tpot)


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers to one prompt, the same repeat at the same load, up to as many tokens."""

    answers: Both
    timed: dict[Side, Timed]
    cut: Cut  # "not_cut": one is longer, and cannot be cut; "no_count": they have the same text

    @property
    def ratio(self) -> float:
        return self.timed["without"].token_seconds / self.timed["with"].token_seconds


def answered_by_both(answers: Iterable[Answer]) -> tuple[list[Both], int]:
    """The answers of both servers to each prompt, repeat and load; how many have no partner."""
    found: dict[tuple[float, int, int], Both] = defaultdict(dict)
    for answer in answers:
        if not answer.problem:
            found[answer.load, answer.prompt, answer.repeat][answer.side] = answer
    both = [its for _, its in sorted(found.items(), key=lambda item: item[0]) if len(its) == 2]
    return both, len(found) - len(both)


def pair_answers(result: BenchResult) -> tuple[list[AnswerPair], Counter[str]]:
    """The pairs that can be timed, and how many are left out.

    Those that are `short` have fewer tokens than `FEWEST_TOKENS`, or no time between them. Those that are `uncounted`
    are two texts of which a server does not say how many tokens it wrote. A `single` answer has no partner.
    """
    both, single = answered_by_both(result.answers)
    pairs, left_out = list[AnswerPair](), Counter[str](single=single if result.without else 0)
    for answers in both:
        ours, plain = answers["with"], answers["without"]
        cut: Cut = ""
        if fewest := min(ours.tokens or 0, plain.tokens or 0):
            timed = {side: timed_until(answer, fewest) for side, answer in answers.items()}
            cut = "" if all(its.part_seconds or its.tokens == fewest for its in answers.values()) else "not_cut"
        elif ours.text == plain.text != "":  # the ratio of equal texts needs no count
            written = float(max(ours.tokens or 0, plain.tokens or 0) or len(plain.part_seconds))
            timed = {side: Timed(written, each.first or 0.0, each.seconds) for side, each in answers.items()}
            cut = "no_count"
        else:
            left_out["uncounted"] += 1
            continue
        if all(each.usable for each in timed.values()):
            pairs.append(AnswerPair(answers, timed, cut))
        else:
            left_out["short"] += 1
    return pairs, left_out


@dataclass(frozen=True, slots=True)
class PairGroup:
    """Pairs of one prompt, or of one block: their ratio is that of all their times together.

    So an answer that a busy server held back, and sent all at once, weighs no more than another.
    """

    number: int  # of the prompt, or of the block
    pairs: list[AnswerPair]

    @property
    def ratio(self) -> float:
        return self.token_seconds("without") / self.token_seconds("with")

    @property
    def gain(self) -> Gain:
        """With the interval over its pairs: it says how steady this prompt's times are, and nothing of others."""
        ratios = tuple(pair.ratio for pair in self.pairs)
        return Gain(self.ratio, interval_of_ratios(ratios) if len(ratios) >= FEWEST_RATIOS else None, ratios)

    @property
    def first_ratio(self) -> float | None:
        timed = [pair.timed for pair in self.pairs if min(each.first for each in pair.timed.values()) > SHORTEST]
        return sum(its["without"].first for its in timed) / sum(its["with"].first for its in timed) if timed else None

    def token_seconds(self, side: Side) -> float:
        timed = [pair.timed[side] for pair in self.pairs]
        return sum(each.last - each.first for each in timed) / sum(each.later for each in timed)


def group_pairs(pairs: Iterable[AnswerPair], number: Callable[[Answer], int]) -> list[PairGroup]:
    """In the order of the numbers."""
    groups: dict[int, list[AnswerPair]] = defaultdict(list)
    for pair in pairs:
        groups[number(pair.answers["with"])].append(pair)
    return [PairGroup(place, its) for place, its in sorted(groups.items())]


class Served(NamedTuple):
    """What one side wrote in one block: tokens of all its requests together."""

    tokens: int
    seconds: float

    @property
    def rate(self) -> float:
        return self.tokens / self.seconds


def serve_blocks(answers: Iterable[Answer]) -> list[dict[Side, Served]]:
    """What each side wrote in each block. A side is left out where a request failed or says no count of tokens."""
    blocks: dict[int, dict[Side, list[Answer]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        blocks[answer.block][answer.side].append(answer)
    found = list[dict[Side, Served]]()
    for sides in blocks.values():
        found.append({})
        for side, its in sides.items():
            seconds = max(each.began + each.seconds for each in its) - min(each.began for each in its)
            if all(each.tokens and not each.problem for each in its) and seconds > SHORTEST:
                found[-1][side] = Served(sum(each.tokens or 0 for each in its), seconds)
    return found


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
    """None above temperature 0 (the texts are two draws each), where no texts are given, and for one server alone."""
    both, _ = answered_by_both(result.answers)
    found = Counter(match for its in both if (match := _compare(its["with"], its["without"])))
    if not found or not result.settings.greedy:
        return None
    first: dict[tuple[Side, int], Answer] = {}  # to each prompt, at any load
    unsteady = {
        answer.side
        for answer in result.done()
        if _compare(first.setdefault((answer.side, answer.prompt), answer), answer) == "different"
    }
    names = [side for side in SIDES if side in unsteady]
    return Sameness(found.total(), found["same"], found["different"], found["broken"], names)


def _compare(one: Answer, other: Answer) -> TextMatch | None:
    """By ids where both have them. None: neither has a text."""
    if one.token_ids and other.token_ids:
        until = min(len(one.token_ids), len(other.token_ids))
        equal, begin = one.token_ids == other.token_ids, one.token_ids[:until] == other.token_ids[:until]
        return "same" if equal else "shorter" if begin else "different"
    if one.text == other.text:
        return "same" if one.text else None
    if BROKEN in one.text + other.text:
        texts = [[char for char in each.text if char.isascii()] for each in (one, other)]
        return "broken" if texts[0] == texts[1] else "different"
    return "shorter" if one.text.startswith(other.text) or other.text.startswith(one.text) else "different"
