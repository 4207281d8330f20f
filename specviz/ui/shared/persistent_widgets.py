"""Widgets whose value the session's state sets.

Streamlit tells a browser such a value once, in the run of the script that set it. Where the script runs again before
the widget is there (its code is loaded when it is first needed: on a phone, seconds later) the browser never hears of
it, shows the widget's default, and sends that back as if chosen. So the default is the state's value, in every run.
"""

from collections.abc import Iterable
from time import monotonic
from typing import Any

import streamlit as st


def set_kept(**values: object) -> None:
    """Set the Watch page's widgets, and note when: before the script runs again a browser needs time to hear of it."""
    st.session_state.update(values)
    st.session_state.filled_at = monotonic()


def kept(key: str) -> dict[str, Any]:
    """Arguments of a widget that holds a value: a slider, a text, a number, a switch."""
    return {"key": key, "value": st.session_state[key]}


def kept_choice(key: str, options: Iterable[object]) -> dict[str, Any]:
    """Arguments of a widget that holds one of these options."""
    return {"key": key, "index": list(options).index(st.session_state[key])}
