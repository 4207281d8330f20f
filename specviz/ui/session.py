"""Everything the server remembers of one visitor between two runs of the script: a typed part for each page.

Only what widgets hold stands beside it in Streamlit's own session state, under the widgets' keys. The state modules of
the pages know nothing of this one: a page passes them their part.
"""

from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from specviz.data.links.hidden import View
from specviz.ui.be_the_draft.be_the_draft_state import BeTheDraftState
from specviz.ui.classes.classes_state import ClassState
from specviz.ui.learn.learn_state import LearnState
from specviz.ui.lesson.place import Walk
from specviz.ui.race.race_state import RaceState
from specviz.ui.same_quality.same_quality_state import SameQualityState
from specviz.ui.shared.arrival import Arrival
from specviz.ui.watch.watch_state import WatchState
from specviz.ui.when_it_helps.when_it_helps_state import WhenItHelpsState
from specviz.ui.worksheet.worksheet_state import Worksheet

KEY = "session"


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
    watch: WatchState = field(default_factory=WatchState)
    race: RaceState = field(default_factory=RaceState)
    when_it_helps: WhenItHelpsState = field(default_factory=WhenItHelpsState)
    worksheet: Worksheet = field(default_factory=Worksheet)
    learn: LearnState = field(default_factory=LearnState)
    same_quality: SameQualityState = field(default_factory=SameQualityState.recorded)
    be_the_draft: BeTheDraftState = field(default_factory=BeTheDraftState)
    classes: ClassState = field(default_factory=ClassState)

    def arrival(self, page: str) -> Arrival:
        return self.came.setdefault(page, Arrival())


def session() -> Session:
    if KEY not in st.session_state:
        st.session_state[KEY] = Session()
    found: Session = st.session_state[KEY]
    return found
