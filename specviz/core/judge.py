"""One judge of every speedup: the word that its interval supports, with the colour and the symbol of that word.

- A 95 % interval above 1 helps; one below 1 hurts. One that contains 1 is about even where all of it lies within
  1 / 1.05 to 1.05, and is too close to call where it reaches further.
- A single measured pair has no interval: its size decides, outside 1 / 1.05 to 1.05, and the words say "looks".
- A modelled speedup has none either: its size decides, and it is called modelled.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from specviz.core.numbers import times
from specviz.core.texts import Sentences

say = Sentences("judge")

Label = Literal["helps", "neutral", "hurts"]  # as in files
VerdictWord = Literal["helps", "about even", "too close to call", "hurts"]
Basis = Literal["interval", "one pair", "modelled"]
Interval = tuple[float, float]

HELPS: VerdictWord = "helps"
EVEN: VerdictWord = "about even"
UNTOLD: VerdictWord = "too close to call"
HURTS: VerdictWord = "hurts"

NEUTRAL = 1.05  # nobody would notice a speedup from 1 / 1.05 to 1.05
ONE_RUN = 1.05  # a margin, chosen: a run that is timed again differs by more than its own rounds' times say
LEAST_CHECK = 0.9  # of a plain step, in formats that help checks and not plain steps; the least that was seen is 0.92


@dataclass(frozen=True, slots=True)
class VerdictLook:
    word: VerdictWord
    label: Label
    color: str  # of words, as Streamlit names it
    icon: str  # of words: a Material symbol
    fill: str  # of marks in figures: Okabe-Ito, legible on light and dark
    shape: str  # of marks in figures, as Plotly names it: never colour alone
    mark: str  # before a number on a mark

    @property
    def said(self) -> str:
        """The word, as readers see it."""
        return say({HELPS: "helps", EVEN: "even", UNTOLD: "untold", HURTS: "hurts"}[self.word])

    @property
    def looks(self) -> str:
        """The word for a single pair: "looks like it helps"."""
        return say({HELPS: "looks_helps", EVEN: "looks_even", UNTOLD: "untold", HURTS: "looks_hurts"}[self.word])


LOOKS: Mapping[VerdictWord, VerdictLook] = {
    HELPS: VerdictLook(HELPS, "helps", "green", "trending_up", "#0072B2", "square", ""),
    EVEN: VerdictLook(EVEN, "neutral", "gray", "trending_flat", "#5f6b7a", "circle-open", "≈ "),
    UNTOLD: VerdictLook(UNTOLD, "neutral", "gray", "question_mark", "#808a97", "diamond-open", "? "),
    HURTS: VerdictLook(HURTS, "hurts", "orange", "trending_down", "#D55E00", "square-open", ""),
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """A speedup, measured or modelled, with its 95 % interval and the word that it supports."""

    word: VerdictWord
    speedup: float
    basis: Basis
    interval: Interval | None = None  # None: not known, as of a single pair
    trusted: bool = True  # False: the machine was busy, so neither the speedup nor the label says anything

    @property
    def look(self) -> VerdictLook:
        return LOOKS[self.word]

    @property
    def label(self) -> Label:
        return self.look.label

    @property
    def certain(self) -> bool:
        """Whether an interval supports the label, on a machine that was not busy."""
        return self.trusted and self.basis == "interval" and self.word != UNTOLD

    @property
    def said(self) -> str:
        """ "helps", "looks like it helps" of a single pair, or "not trusted"."""
        if not self.trusted:
            return say("not_trusted")
        return self.look.looks if self.basis == "one pair" else self.look.said

    @property
    def headline(self) -> str:
        """ "Helps, 1.90×", "Looks like it helps, 1.90×", "Helps, 1.90×, modelled" or "Not trusted, 1.90×"."""
        looks, modelled = f"{self.said[0].upper()}{self.said[1:]}", self.basis == "modelled"
        return say("headline_modelled" if modelled else "headline", looks=looks, speedup=self.speedup)

    @property
    def shown(self) -> str:
        """ "1.90× (1.82–1.98)", with a question mark where it is not trusted."""
        return times(self.speedup, self.interval, "" if self.trusted else "?")


def judge(speedup: float, interval: Interval | None, *, modelled: bool = False) -> Judgement:
    """What can be said of a speedup.

    Args:
        speedup: the time of the target alone over that of speculative decoding.
        interval: its 95 % interval; None, or NaN at both ends, where it has none.
        modelled: whether no clock measured it; its size alone then decides.
    """
    if interval is None or math.isnan(interval[0]):
        interval = None
    if modelled or interval is None:
        by_size = HELPS if speedup > NEUTRAL else HURTS if speedup < 1 / NEUTRAL else EVEN
        return Judgement(by_size, speedup, "modelled" if modelled else "one pair", interval)
    low, high = interval
    word = HELPS if low > 1 else HURTS if high < 1 else UNTOLD
    if word == UNTOLD and low >= 1 / NEUTRAL and high <= NEUTRAL:
        word = EVEN
    return Judgement(word, speedup, "interval", interval)


def widen_for_next_run(interval: Interval) -> Interval:
    """The interval of one run, as wide as it has to be for another run of the same settings to get the same word.

    Its rounds' times say how noisy this run was, not by how much the next one differs. With `ONE_RUN` more at both
    ends, all of 30 intervals that were measured contain the median speedup of their setting; 27 do without. So one run
    can help or hurt, but only repeats can be about even.
    """
    low, high = interval
    return low / ONE_RUN, high * ONE_RUN


def least_check(dtype: str) -> float:
    """The time of a check, in plain steps, below which it is an error of timing; `dtype` is the target's format.

    In float32 a pass over several tokens takes as long as a pass over one, or longer. In bfloat16 it can take less: a
    processor's instructions for that format help a check, and not a plain step.
    """
    return (1.0 if dtype == "float32" else LEAST_CHECK) / ONE_RUN
