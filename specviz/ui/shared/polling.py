"""A page's timer: while a job is under way, a small part of the page draws how far it is, and nothing else.

Every visitor of a class polls, so a poll must cost the server almost nothing. What does not depend on it stays outside:
controls, figures, tables, also the Cancel button. What grows meanwhile is a `part`, drawn again when there is more of
it. When the job is over, the page is drawn again, once.
"""

from collections.abc import Callable

import streamlit as st
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

from specviz.ui.shared.persistent_widgets import seconds_since_set

POLL_SECONDS = 1.0
SHORT_SECONDS = 1.5  # most jobs that a visitor waits for are over by then: their script waits, and draws once
RECEIVED_SECONDS = 2.5  # after which a browser on a slow phone has received what the widgets were set to


def while_busy(
    busy: Callable[[], bool],
    draw: Callable[[], None],
    look: Callable[[], bool],
    *,
    part: str | None = None,
    every: float = POLL_SECONDS,
) -> None:
    """Draw how far a job is, again and again until it is over. Without a job, only the place is there.

    Where the script has just set its widgets (an undo, a preset), a slow browser would never receive them if the script
    ran again at once. So the page is drawn again only a while after that.

    Args:
        busy: whether the job is under way, as it was last seen.
        draw: draws one line or a few.
        look: asks the engine; whether there is more to draw in the part.
        part: the key of the fragment that shows what the job has found so far.
        every: seconds between two looks.
    """
    first = [True]  # the script has just looked

    @st.fragment(run_every=every)
    def poll() -> None:
        received = seconds_since_set() > RECEIVED_SECONDS
        more = not first and look()
        first.clear()
        if not busy() and received:
            st.rerun()
        draw()
        if more and part:
            _draw_again(part)

    with st.container():  # always there, so that what stands below stays as it is
        if busy():
            poll()


def _draw_again(part: str) -> None:
    """Run that fragment after this one. Streamlit's own `st.rerun(part)` does so from a widget's callback only."""
    context = get_script_run_ctx()
    if context and context.script_requests:
        context.script_requests.request_rerun(
            RerunData(
                query_string=context.query_string,
                page_script_hash=context.page_script_hash,
                fragment_id_queue=context.fragment_storage.resolve_target([part]),
                cached_message_hashes=context.cached_message_hashes,
                context_info=context.context_info,
            )
        )
