"""What the Same quality page has under way, beside the button that began it: the page is longer than a screen."""

from typing import Literal

import streamlit as st

from specviz.measure.proof.rule_names import rule_text
from specviz.service.job import JobView
from specviz.ui.proof.state import Proving, Task, cancel
from specviz.ui.shared.escaping import plain

Place = Literal["greedy", "near-tie", "sampling", "switch"]


def show_status(state: Proving, place: Place) -> None:
    """How far it is, with a way out; or why the last one ended. Nothing where it was not begun here."""
    if state.last is None or place_of(state.last) != place:
        return
    if state.task is not None:
        view = state.view
        with st.container(key="proof_status", border=True):
            done = len(view.results) / view.total if view and view.total else 0.0
            st.progress(done, plain(_progress_text(state.task, view)))
            st.button("Cancel", key="proof_cancel", icon=":material/close:", on_click=cancel)
    elif state.message:
        st.error(plain(state.message), icon=":material/error:")
    elif state.cancelled:
        st.info("Cancelled. What had come by then stays.", icon=":material/info:")


def place_of(task: Task) -> Place:
    """The part of the page whose button began it."""
    if task.what != "draws":
        return task.what
    return "sampling" if task.rule == "lossless" else "switch"


def _progress_text(task: Task, view: JobView | None) -> str:
    what = {"greedy": "Greedy comparison", "near-tie": "The near-tie, here"}
    name = what.get(task.what) or rule_text(task.rule).title
    if view is None or view.state == "waiting":
        waiting = view.message if view and view.message else "waiting for its turn"
        return f"{name}: {waiting}"
    if view.state == "loading":
        return f"{name}: loading {view.model}" if view.model else f"{name}: starting"
    return f"{name}: {len(view.results)} of {view.total} parts, {view.note}" if view.total else f"{name}: running"
