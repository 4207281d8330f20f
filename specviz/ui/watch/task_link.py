"""A link that shows students only what their task needs, made by clicking."""

from urllib.parse import urlencode, urlsplit

import streamlit as st

from specviz.data.hidden import HIDEABLE, PARAMETER, written
from specviz.player.payload import View
from specviz.ui.session import session
from specviz.ui.shared.hiding import is_hidden
from specviz.ui.watch.payload import link_on_stage

SHOWN: dict[View, str] = {
    "full": "Everything",
    "simple": "Tokens and result",
    "projector": "Projector",
    "stage": "Player alone",
}


def task_link() -> None:
    """A button that opens the choice of what to hide; nothing of it is drawn while it is closed."""
    shown = session().watch.shown
    alone = shown is not None and not shown.linked
    popover = st.popover(
        "Make a task link",
        icon=":material/link:",
        key="task",
        on_change="rerun",
        disabled=alone,
        help="The run of your file has no link: nothing here can run it again." if alone else None,
    )
    if popover.open:
        with popover:
            _draw_choice()


def _draw_choice() -> None:
    st.markdown("**A link that shows students only what their task needs**")
    st.caption("It opens the run on screen, at the step where you stopped. Choose what the page does not show.")
    view = st.radio("View", list(SHOWN), key="task_view", format_func=SHOWN.__getitem__, horizontal=True)
    columns = st.columns(2)
    names = [
        name
        for number, (name, what) in enumerate(HIDEABLE.items())
        if columns[number % 2].checkbox(f"Hide {what}", key=f"task_{name}", value=is_hidden(name))
    ]
    query = _query(names, view)
    st.code(f"{_app()}?{query}", language=None, wrap_lines=True)
    st.link_button("Look at it in a new tab", f"./?{query}", icon=":material/open_in_new:")


def _query(names: list[str], view: View) -> str:
    """The run on screen and its step, the view, and what is hidden."""
    watching = session().watch
    link = link_on_stage(watching, watching.shown) if watching.shown else {}
    link |= {"step": str(watching.step or 0), "view": view} | ({PARAMETER: written(names)} if names else {})
    return urlencode(link, safe=",")


def _app() -> str:
    """The app's own address; relative where it is not known."""
    here = urlsplit(st.context.url or "")
    return f"{here.scheme}://{here.netloc}{here.path}" if here.scheme else "./"
