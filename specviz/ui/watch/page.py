"""The Watch page: the run on screen, and everything drawn from it."""

from dataclasses import replace

import streamlit as st

from specviz.core.errors import InputError
from specviz.core.trace import parse_trace
from specviz.data.first_run import first_draft_guesses, first_trace
from specviz.data.permalink import link_of
from specviz.models.catalogue import changed_weights
from specviz.ui.session import session
from specviz.ui.shared.address import write_address
from specviz.ui.shared.escaping import plain
from specviz.ui.shared.notices import notices
from specviz.ui.shared.persistent_widgets import seconds_since_set
from specviz.ui.stage.component import stage
from specviz.ui.stage.data import stage_data
from specviz.ui.watch.controls import FormInput, ask_draft_length, fill_in_trace
from specviz.ui.watch.outcome import show_files, show_outcome
from specviz.ui.watch.state import Watching, recorded_run

POLL_RUNNING, POLL_WAITING = 0.4, 1.5  # seconds
RECEIVED_SECONDS = 2.5  # after which a browser on a slow phone has received what the widgets were set to


def watch(asked: FormInput) -> Watching:
    """Submit what was asked for, unless it runs already; nothing runs live before the visitor acts."""
    watching = session().watch
    if watching.shown is None and (recorded := first_trace()):
        watching.shown = replace(recorded_run(recorded, "first"), draft_guesses=first_draft_guesses())
    if asked.acted and not asked.problem and (asked.again or asked.request != watching.request):
        watching.submit(asked.request, asked.preset)
        write_address(link_of(asked.request, watching.step, asked.preset))
    watching.refused = asked.problem is not None
    notices([*watching.form.notes, asked.problem])
    return watching


def show_run(watching: Watching) -> None:
    """Draw the run; while something is under way the drawing repeats by itself.

    Polling faster or slower needs a rerun of the whole script. Where the script has just set its widgets (an undo, a
    preset), a slow browser would never receive them. So the first drawing shows what is known already, and a later one
    waits before it asks for the rerun.
    """
    known = [watching.refresh()]
    every = _poll_seconds(watching)

    @st.fragment(run_every=every)
    def drawing() -> None:
        if watching.form.slider_released:
            watching.form.slider_released = False
            st.rerun()  # the draft length is the page's business, not this drawing's alone
        notice = known.pop() if known else watching.refresh()
        _draw(watching, notice)
        received = seconds_since_set() > RECEIVED_SECONDS
        if _poll_seconds(watching) != every and (received or every is None):  # no polling: no later drawing would ask
            st.rerun()

    drawing()


def _poll_seconds(watching: Watching) -> float | None:
    if watching.run.busy:
        return POLL_RUNNING if watching.run.result else POLL_WAITING / 3
    return POLL_WAITING if watching.costing.busy else None


def _draw(watching: Watching, notice: str | None) -> None:
    notices([watching.message], "error")
    notices([watching.run.message if watching.run.state == "lost" else None], "info")
    shown, not_run = watching.shown, watching.refused or bool(watching.message)
    if shown is None:
        st.info(plain(notice or "Change a setting, or press Run again, to see the first run."))
        return
    running = watching.run.busy and not watching.shows_previous_run
    data = stage_data(
        shown.trace,
        run_id=shown.run_id,
        source=shown.source,
        running=running,
        notice=notice or ("Previous run shown: the new settings could not be run" if not_run else None),
        link=_link(watching),
        playhead=watching.step,
        gamma=st.session_state.gamma,
        replay=watching.replay(),
    )
    with st.container(key="run"):
        step = stage(data, on_draft_length=ask_draft_length)
    watching.step = watching.step if step is None else step
    with st.container(key="outcome"):
        show_outcome(watching, shown, running=running, stale=not_run or watching.shows_previous_run)
        show_files(shown.trace, _open_file)
        for change in changed_weights(shown.trace):
            st.caption(plain(change))


def _link(watching: Watching) -> dict[str, str]:
    """What reproduces the run; before the first live one, the recorded run's settings, which the controls show."""
    request, preset = (watching.request, watching.preset) if watching.request else watching.form.current
    return link_of(request, preset=preset)


def _open_file() -> None:
    """Show the trace file the visitor picked; one that cannot be read changes nothing but a message."""
    watching, file = session().watch, st.session_state.trace_file
    if file is None:
        return
    try:
        trace = parse_trace(file.getvalue())
    except InputError as error:
        watching.message = f"That file cannot be shown. {error}"
        return
    watching.open_trace(trace, f"file-{file.file_id}")
    if asked := fill_in_trace(trace):
        watching.request, watching.preset = asked
