"""The task under way on the Same quality page, shown beside its button, since the page is longer than a screen."""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from specviz.measure.proof.rule_names import rule_text
from specviz.service.job import JobView
from specviz.service.protocol import Progress
from specviz.ui.proof.state import Proving, Task
from specviz.ui.session import session
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.job_slot import waiting_line
from specviz.ui.shared.polling import while_busy

Place = Literal["greedy", "near-tie", "sampling", "switch"]
STOPPED = {
    "cancelled": "Cancelled. The results so far stay.",
    "lost": "This proof has expired. The results so far stay.",
}


def show_status(state: Proving, place: Place) -> None:
    """How far it is, with a Cancel button, or why the last one ended. Nothing where it was not started here."""
    view, slot = state.slot.view, state.slot
    if state.task is None or view is None or place_of(state.task) != place:
        return
    if slot.busy:
        with st.container(key="proof_status", border=True):
            while_busy(lambda: slot.busy, lambda: _progress(state), state.refresh, part=_part(place))
            st.button("Cancel", key="proof_cancel", icon=":material/close:", on_click=_cancel)
    elif slot.state == "failed":
        st.error(plain(slot.message), icon=":material/error:")
    elif slot.state in STOPPED:
        st.info(STOPPED[slot.state], icon=":material/info:")


def section(place: Literal["greedy", "sampling", "switch"], draw: Callable[[], None]) -> None:
    """Draw a section as a part of its own: it is drawn again alone when what it shows has grown."""
    st.fragment(draw, key=_part(place))()


def _part(place: Place) -> str:
    return f"proof_part_{'greedy' if place == 'near-tie' else place}"


def _cancel() -> None:
    session().proof.slot.cancel()
    st.rerun()  # the buttons of every section are free again


def _progress(state: Proving) -> None:
    task, view = state.task, state.slot.view
    if task and view:
        done = view.progress.done / view.progress.total if view.progress else 0.0
        st.progress(done, plain(_progress_text(task, view)))


def place_of(task: Task) -> Place:
    """The part of the page whose button started it."""
    if task.what == "draws":
        return "sampling" if task.rule == "lossless" else "switch"
    return "switch" if task.what == "forgotten row" else task.what


def _progress_text(task: Task, view: JobView) -> str:
    what = {"greedy": "Greedy comparison", "near-tie": "The near-tie, here"}
    name = what.get(task.what) or rule_text(task.rule).title
    doing = waiting_line(view) or (proof_step(view.progress) if view.progress else "running")
    return f"{name}: {doing}"


def proof_step(progress: Progress) -> str:
    """How far a proof is and what it does now, in words."""
    done = f"{progress.done} of {progress.total} parts"
    if progress.phase == "drawing":
        return f"{done}, drawing {progress.draws:,} {'more' if progress.done else 'tokens'} each way"
    return f"{done}, prompt {progress.done + 1} of {progress.total}"
