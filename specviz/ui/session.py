"""Everything the server remembers of one visitor between two runs of the script: a typed part for each page.

Only what widgets hold stands beside it in Streamlit's own session state, under the widgets' keys.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import streamlit as st

from specviz.data.links.hidden import View
from specviz.data.links.page_link import Params
from specviz.ui.lesson.place import Walk

KEY = "session"
Found = TypeVar("Found")
Part = TypeVar("Part")


@dataclass(slots=True)
class Arrival:
    """What is kept of the link by which the visitor came to a page."""

    read: bool = False  # the link; once in a visit, and once in each moment of a lesson
    acted: bool = False  # the visitor chose something or opened a link: from here on the address says what
    notes: list[str] = field(default_factory=list)  # what of the link could not be used

    def read_once(self, given: Params, reading: Callable[[Params], tuple[Found, list[str]]]) -> Found | None:
        """What the link asks for, where it was not read before; None later.

        `reading` makes of the address's parameters what is asked for, and a line for each part that cannot be used. It
        may say itself whether that was an act of the visitor.
        """
        if self.read:
            return None
        self.acted = self.acted or bool(given)
        found, self.notes = reading(given)
        self.read = True
        return found

    def change(self) -> None:
        """Something else was asked for: what the link could not have is no longer said."""
        self.acted, self.notes = True, []


@dataclass(slots=True)
class Session:
    view: View | None = None  # how much is shown; None before the first page
    chosen_view: View | None = None  # in this visit: the browser is to remember it
    left_view: View | None = None  # for the projector view: the one to come back to
    language: str = ""  # its code; none before the first page
    chosen_language: str = ""  # in this visit: the browser is to remember it
    wanted_page: str = ""  # which a button asked for, until it is there
    hidden: frozenset[str] | None = None  # names of controls that are taken away; None before a link was read
    walk: Walk | None = None  # the lesson under way
    own_plans: list[str] = field(default_factory=list)  # names of lesson plans that this visitor uploaded
    plan_problems: list[str] = field(default_factory=list)  # why the last one is none
    notes: Walk | None = None  # where the notes of a lesson are, in a window of their own
    asked: dict[str, Any] = field(default_factory=dict)  # the models of `Form`, by page
    came: dict[str, Arrival] = field(default_factory=dict)  # by page
    parts: dict[type, Any] = field(default_factory=dict)  # what the pages keep, each under its type

    def arrival(self, page: str) -> Arrival:
        return self.came.setdefault(page, Arrival())

    def of(self, kind: type[Part]) -> Part:
        """The part of this type; a new one until a page has put something there."""
        if kind not in self.parts:
            self.parts.setdefault(kind, kind())  # two scripts of one visitor may come here together
        found: Part = self.parts[kind]
        return found

    def put(self, *parts: object) -> Self:
        self.parts |= {type(part): part for part in parts}
        return self


def session() -> Session:
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    found: Session = st.session_state[KEY]
    return found
