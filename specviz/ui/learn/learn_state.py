"""Where a visitor is on the Learn page: in the session and in the address, so that it can be left and resumed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator

from specviz.core.texts import Words
from specviz.data.lessons.story import steps
from specviz.data.links.page_link import PageLink
from specviz.data.texts import page_texts

SAYS = page_texts("learn")
LearnPart = Literal["story", "methods", "load", "quiz", "words", "why", "teach"]
PARTS: tuple[LearnPart, ...] = get_args(LearnPart)
# What numbers in links mean: the steps of the story before others were added. And a step's name in older links.
NUMBERED = ("slow", "idea", "round", "acceptance", "rejection", "bonus", "same", "pays", "no-gain", "engineer")
RENAMED = {"theatre": "no-gain"}


def _step(lesson: str) -> int:
    """A step's place in the story, from its name or from its number in the story of ten steps."""
    if re.fullmatch(r"[0-9]{1,3}", lesson) and 1 <= int(lesson) <= len(NUMBERED):
        lesson = NUMBERED[int(lesson) - 1]
    return [step.name for step in steps()].index(RENAMED.get(lesson, lesson))


class LearnLink(PageLink):
    """The address of a place on the page; what it leaves out stays as it is."""

    lesson: Annotated[int | None, BeforeValidator(_step)] = None
    part: LearnPart | None = None
    words: Words | None = None

    @classmethod
    def refusal(cls, field: str, given: str | list[str], default: Self) -> str:
        return SAYS[f"link_{field}"].format(last=len(NUMBERED))


@dataclass(slots=True)
class LearnState:
    lesson: int = 0  # index of a step of the story
    words: Words = "technical"
    part: LearnPart = "story"
    answers: dict[str, int] = field(default_factory=dict)  # by the question's key
    touched: bool = False  # the visitor answered, or took an answer back
    written: dict[str, str] = field(default_factory=dict)  # the address this page last wrote
    seen: dict[str, str] = field(default_factory=dict)  # the address that the browser sent last
    problems: list[str] = field(default_factory=list)  # what a link asked for and cannot have

    def link(self) -> dict[str, str]:
        return {"part": self.part, "lesson": steps()[self.lesson].name, "words": self.words}


def go_to_place(state: LearnState, given: Mapping[str, str]) -> list[str]:
    """Go to the place an address names. A part of it that cannot be used changes nothing and gives one line."""
    link, problems = LearnLink.read(given)
    state.lesson = state.lesson if link.lesson is None else link.lesson
    state.part = link.part or ("story" if "lesson" in given else state.part)
    state.words = link.words or state.words
    return problems
