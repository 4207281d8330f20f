"""Where a visitor is in the story: kept in the session and in the address, so that it can be left and resumed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import streamlit as st

from specviz.data.lessons.steps import STEPS
from specviz.data.lessons.story import Words

Part = Literal["story", "quiz", "words", "why"]
PARTS: tuple[Part, ...] = get_args(Part)
NAMES = {step.name: number for number, step in enumerate(STEPS)}


@dataclass(slots=True)
class Learning:
    """One visitor's place and answers; lives in the session."""

    lesson: int = 0  # index into STEPS
    words: Words = "technical"
    part: Part = "story"
    answers: dict[str, int] = field(default_factory=dict)  # by the question's key
    written: dict[str, str] = field(default_factory=dict)  # the address this page last wrote
    problems: list[str] = field(default_factory=list)  # what a link asked for and cannot have

    def link(self) -> dict[str, str]:
        """The address that leads back here."""
        return {"part": self.part, "lesson": str(self.lesson + 1), "words": self.words}


def learning() -> Learning:
    """This visitor's place: the address's where it names one that this page did not write itself."""
    state: Learning = st.session_state.setdefault("learning", Learning())
    given = {name: st.query_params[name] for name in ("part", "lesson", "words") if name in st.query_params}
    if given and given != state.written:
        state.problems = take(state, given)
    return state


def remember(state: Learning) -> None:
    """Write the place into the address."""
    link = state.link()
    if {name: st.query_params.get(name) for name in link} != link:
        st.query_params.from_dict(link)
    state.written = link


def take(state: Learning, given: Mapping[str, str]) -> list[str]:
    """Go where an address says. What it says wrongly is left as it was, with one line each."""
    problems = []
    lesson = given.get("lesson")
    if lesson in NAMES:
        state.lesson = NAMES[lesson]
    elif lesson is not None and re.fullmatch(r"[0-9]{1,3}", lesson) and 1 <= int(lesson) <= len(STEPS):
        state.lesson = int(lesson) - 1
    elif lesson is not None:
        problems.append(f"That link names no step of this story: the steps are 1 to {len(STEPS)}.")
    part = next((part for part in PARTS if part == given.get("part")), None)
    if "part" in given and part is None:
        problems.append("That link names no part of this page: they are story, quiz, words and why.")
    state.part = part or ("story" if "lesson" in given else state.part)
    words = given.get("words", state.words)
    if words not in get_args(Words):
        problems.append("That link asks for words that are neither plain nor technical.")
    else:
        state.words = "plain" if words == "plain" else "technical"
    return problems
