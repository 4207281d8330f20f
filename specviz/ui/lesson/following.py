"""The projected page and the notes of one browser go to the same moment: whoever moves tells the other."""

from functools import cache
from typing import Any, Literal

import streamlit as st

from specviz.ui.lesson.place import Walk
from specviz.ui.shared.components import component

KEY = "lesson_follow"


def follow(role: Literal["screen", "notes"], walk: Walk) -> None:
    """Mount what tells and hears. Nothing is to be seen of it.

    Args:
        role: which of the two windows this is; it hears the other.
        walk: moved when the other window has moved.
    """

    def moved() -> None:
        at = st.session_state[KEY].get("moment")
        if type(at) is int:
            walk.go(at, told=False)

    data = {"role": role, "lesson": walk.plan.name, "moment": walk.at, "moves": walk.moves}
    _component()(key=KEY, data=data, on_moment_change=moved)


@cache
def _component() -> Any:
    return component("specviz_lesson", '<div class="lesson-follow" hidden></div>', (), "lesson/follow.js")
