"""What a link takes away of the page: `hide` in the address, read once; a moment of a lesson sets it too."""

import streamlit as st

from specviz.core.assets import ASSETS
from specviz.data.hidden import PARAMETER, hidden_in, unknown_line, written
from specviz.ui.session import session


def hidden() -> frozenset[str]:
    """The names of the controls that this visitor does not see."""
    visitor = session()
    if visitor.hidden is None:
        visitor.hidden = hidden_in(st.query_params.get_all(PARAMETER))[0]
    return visitor.hidden


def is_hidden(name: str) -> bool:
    """Whether this control is taken away."""
    return name in hidden()


def unknown_hidden() -> str | None:
    """One line where the address names controls that there are not."""
    unknown = hidden_in(st.query_params.get_all(PARAMETER))[1]
    return unknown_line(unknown) if unknown else None


def hidden_in_link() -> dict[str, str]:
    """What the page's address says of it, so that a reload hides the same."""
    return {PARAMETER: written(hidden())} if hidden() else {}


def show_hidden() -> None:
    """Bring everything back, for this visit."""
    session().hidden = frozenset()
    st.query_params.pop(PARAMETER, None)


def hide_menu() -> None:
    """Take the menu of pages away where the link says so."""
    if is_hidden("menu"):
        st.html(ASSETS / "no_menu.css")
