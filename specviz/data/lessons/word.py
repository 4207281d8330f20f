"""One word of the glossary."""

import re
from dataclasses import dataclass
from typing import Literal

from specviz.data.lessons.story import Says

Picture = Literal["round", "full", "costs", "prefill", "speedup", ""]
Marked = Literal["drafted", "accepted", "rejected", "discarded", "correction", "bonus", "emitted", "judged", ""]


@dataclass(frozen=True, slots=True)
class Word:
    """One word, what it means, its picture (empty for none) and the step of the story that shows it."""

    name: str
    says: Says
    picture: Picture
    lesson: str  # a step's name
    marked: Marked = ""  # what is ringed in a picture of a round
    symbol: str = ""
    figure: str = ""  # a template: this word's figure in the recorded run
    also: tuple[str, ...] = ()  # other forms found in texts

    @property
    def id(self) -> str:
        """For links and elements."""
        return re.sub(r"[^a-z]+", "-", self.name.lower()).strip("-")
