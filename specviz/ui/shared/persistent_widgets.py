"""Widgets that outlive a page switch (`persist_state`) and reach a slow browser.

Streamlit sends a browser a value that the program set once, in the run of the script that set it. Where the script runs
again before the widget is there (its code is loaded when it is first needed: on a phone, seconds later) the browser
never receives it, shows the widget's default, and sends that back as if chosen. So the default is the state's value, in
every run.

A long text is no default: it would go back to the browser that sent it in every run. It is sent once, when it is set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import streamlit as st

LONGEST_DEFAULT = 20_000  # characters
ONE_OF_MENU, SEVERAL_OF_MENU = ("selectbox", "radio"), ("multiselect", "pills")


@dataclass(frozen=True, slots=True)
class Widget:
    """How a field of a page's model is drawn: by this function of Streamlit. See `Form.draw`."""

    kind: str
    label: str = ""  # the name of its text; by default the field's
    fresh: bool = False  # see `fresh_key`


def set_widgets(values: Mapping[str, object]) -> None:
    """Set widgets, and note when: before the script runs again a browser needs time to receive it."""
    st.session_state.update(values)
    st.session_state.widgets_set_at = monotonic()
    times = st.session_state.setdefault("times_set", {})
    times.update({key: times.get(key, 0) + 1 for key in values})


def restore_widgets(values: Mapping[str, object]) -> None:
    """Set those widgets that have no value."""
    if missing := {key: value for key, value in values.items() if key not in st.session_state}:
        set_widgets(missing)


def seconds_since_set() -> float:
    return monotonic() - float(st.session_state.get("widgets_set_at", 0.0))


def draw(kind: str, label: str, key: str, *shown: Any, fresh: bool = False, **look: Any) -> Any:
    """Draw this widget of Streamlit: it holds what is held under the key. A menu's options are its first argument."""
    value, used = st.session_state[key], fresh_key(key) if fresh else key
    bound: dict[str, Any] = {"value": value}
    if kind in ONE_OF_MENU:
        bound = {"index": list(shown[0]).index(value)}
    elif kind in SEVERAL_OF_MENU:
        bound = {"default": value}
    elif isinstance(value, str) and len(value) > LONGEST_DEFAULT:
        bound = {"value": ""}
        if fresh and used not in st.session_state:
            st.session_state[used] = value
    lasts = None if fresh else "session"  # of a new key each time, each value would stay for the whole visit
    found = getattr(st, kind)(label, *shown, key=used, persist_state=lasts, **bound, **look)
    if fresh:
        st.session_state[key] = found
    return found


def fresh_key(key: str) -> str:
    """A key that is new whenever the program sets this widget. Under `key` is what the widget returned.

    For widgets inside a popover: they exist in the browser only while it is open, and a value that was set meanwhile
    would not reach a widget that the browser remembers. And for those that a callback of another widget sets: a browser
    that has not had the answer yet sends the old value once more, which under the same key would be a choice.
    """
    return f"{key}-{st.session_state.get('times_set', {}).get(key, 0)}"
