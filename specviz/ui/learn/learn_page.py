"""Where a visitor is on the Learn page, its head with parts and words, and how all parts show a text."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, Self, get_args

import streamlit as st
from pydantic import BeforeValidator

from specviz.core.texts import Words
from specviz.data.lessons.glossary import explained
from specviz.data.lessons.story import steps
from specviz.data.links.page_link import PageLink
from specviz.data.texts import page_texts
from specviz.ui.classes.membership import class_chip, class_in_link, class_question
from specviz.ui.session import session
from specviz.ui.shared.address import address, went_there, write_address
from specviz.ui.shared.parts import Options, heading, notices
from specviz.ui.shared.persistent_widgets import set_widgets

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


IN_TWO_VOICES = ("story", "quiz", "words")  # the parts that are told in the field's words or in plain ones


def begin() -> LearnState:
    """The head of the page: title, parts, technical or plain words."""
    state = session().of(LearnState)
    given = {name: values[-1] for name, values in address().items() if name in state.link()}
    if given and went_there(given, state.written, state.seen):
        state.problems = go_to_place(state, given)
    state.seen = given
    with st.container(key="learn-head", horizontal=True):
        heading(SAYS["heading"])
        _choose("part", SAYS["part"], state)
        if state.part in IN_TWO_VOICES:
            _choose("words", SAYS["words"], state)
        class_chip()
    class_question()
    notices(state.problems)
    write_address(state.link() | class_in_link())
    state.written = state.link()
    return state


def _choose(name: Literal["part", "words"], label: str, state: LearnState) -> None:
    """A choice that survives a page switch: the state holds it, the widget only shows it."""
    key, labels = f"learn-{name}", page_texts("learn_parts" if name == "part" else "learn_words")
    set_widgets({key: getattr(state, name)})

    def chosen() -> None:
        state.problems, value = [], st.session_state[key]
        if value in labels:
            setattr(state, name, value)

    more: Options = {"label_visibility": "collapsed", "required": True, "on_change": chosen, "key": key}
    st.segmented_control(label, list(labels), format_func=labels.__getitem__, **more)


def paragraph(text: str, key: str, words: Words = "technical") -> None:
    """A paragraph for each line; words of the field show what they mean. For this app's own text and figures only."""
    st.html("".join(f'<p class="explains">{each}</p>' for each in explained(text, key, words).split("\n")))
