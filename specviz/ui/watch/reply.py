"""A conversation goes on: the visitor's next message after the answer of the run on screen."""

from dataclasses import replace

import streamlit as st

from specviz.core.conversation import read_messages, write_messages
from specviz.core.request import MAX_PROMPT_CHARACTERS, RunRequest
from specviz.core.trace import Trace
from specviz.data.texts import page_texts
from specviz.ui.shared.parts import Options
from specviz.ui.watch.controls import FORM, change, request_of
from specviz.ui.watch.watch_state import WatchState

SAYS = page_texts("watch")


def reply_field(watching: WatchState) -> None:
    """A field for it, below a finished run of a chat that can be run here."""
    shown = watching.shown
    if shown is None or not is_answer(shown.trace) or watching.run.busy:
        return
    request = shown.asked or request_of(shown.trace)
    if request is None:
        return
    key = f"reply-{shown.run_id}"
    send: Options = {"on_submit": _send, "args": (watching, request, shown.trace, key)}
    with st.container(key="reply"):  # so that it stands here, not at the bottom of the window
        st.chat_input(SAYS["reply"], key=key, max_chars=MAX_PROMPT_CHARACTERS, **send)


def is_answer(trace: Trace) -> bool:
    return trace.settings.prompt_format == "chat" and trace.output.stopped_by is not None


def _send(watching: WatchState, request: RunRequest, trace: Trace, key: str) -> None:
    said = (("assistant", trace.output.text), ("user", st.session_state[key]))
    change(watching.form, replace(request, prompt=write_messages([*read_messages(request.prompt), *said])))
    FORM.came.acted = True
