"""A callback runs to its end, so that no click and no file is lost.

Once something else of the same visitor comes (a second click, what a component reports, a poll), Streamlit ends a
script where it next reads the session's state or draws. It does so in a callback too: what the visitor did counts as
seen, and nobody has acted on it. Here what comes meanwhile waits until the callbacks are over.
"""

from functools import cache, wraps
from typing import Any

from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState


@cache
def keep_callbacks_whole() -> None:
    """Begin, once for the server."""
    call = SessionState._call_callbacks

    @wraps(call)
    def call_whole(state: SessionState, **replayed: Any) -> None:
        context = get_script_run_ctx()
        requests: Any = context.script_requests if context else None
        if requests is None:
            return call(state, **replayed)
        requests.on_scriptrunner_yield = lambda: None
        try:
            call(state, **replayed)
        finally:
            del requests.on_scriptrunner_yield

    SessionState._call_callbacks = call_whole  # type: ignore[method-assign, assignment]
