"""Where a visitor is in the story: in the session and in the address, so that it can be left and resumed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator

from specviz.data.lessons.steps import NUMBERED, STEPS
from specviz.data.lessons.story import Words
from specviz.data.page_link import PageLink

Part = Literal["story", "methods", "quiz", "words", "why", "teach"]
PARTS: tuple[Part, ...] = get_args(Part)
NAMES = {step.name: number for number, step in enumerate(STEPS)}
NAMES["theatre"] = NAMES["no-gain"]  # the step's name in older links


def _step(lesson: str) -> int:
    """A step's place in STEPS, from its name, or from its number in the story before three steps were added."""
    if lesson in NAMES:
        return NAMES[lesson]
    if re.fullmatch(r"[0-9]{1,3}", lesson) and 1 <= int(lesson) <= len(NUMBERED):
        return STEPS.index(NUMBERED[int(lesson) - 1])
    raise ValueError("not a step")


class LearnLink(PageLink):
    """The address of a place on the page; what it leaves out stays as it is."""

    lesson: Annotated[int | None, BeforeValidator(_step)] = None
    part: Part | None = None
    words: Words | None = None

    @classmethod
    def refusal(cls, field: str, given: str | list[str], default: Self) -> str:
        """One line for a part of the address that cannot be used."""
        return {
            "lesson": f"That link names no step of this story: the steps are 1 to {len(NUMBERED)}.",
            "part": "That link names no part of this page: they are story, methods, quiz, words, why and teach.",
            "words": "That link asks for words that are neither plain nor technical.",
        }[field]


@dataclass(slots=True)
class Learning:
    """One visitor's place and answers."""

    lesson: int = 0  # index into STEPS
    words: Words = "technical"
    part: Part = "story"
    answers: dict[str, int] = field(default_factory=dict)  # by the question's key
    touched: bool = False  # the visitor answered, or took an answer back
    written: dict[str, str] = field(default_factory=dict)  # the address this page last wrote
    problems: list[str] = field(default_factory=list)  # what a link asked for and cannot have

    def link(self) -> dict[str, str]:
        """The address that leads back here."""
        return {"part": self.part, "lesson": STEPS[self.lesson].name, "words": self.words}


def take(state: Learning, given: Mapping[str, str]) -> list[str]:
    """Go to the place an address names. A part of it that cannot be used changes nothing and gives one line."""
    link, problems = LearnLink.read(given)
    state.lesson = state.lesson if link.lesson is None else link.lesson
    state.part = link.part or ("story" if "lesson" in given else state.part)
    state.words = link.words or state.words
    return problems
